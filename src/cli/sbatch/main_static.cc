#include "cli/sbatch/sbatch.h"

int main(int argc, char** argv) {
    return sluice::run_static_tool("sbatch", argc, argv, sluice::run_sbatch, {"--u"});  // --uid
}
