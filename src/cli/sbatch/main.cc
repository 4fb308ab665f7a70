#include "cli/sbatch/sbatch.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sbatch", argc, argv, sluice::run_sbatch);
}
