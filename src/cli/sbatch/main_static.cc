// cli/sbatch/main_static.cc
//
// bin/sbatch: the static program, which leaves some calls to the dynamic one of main.cc
// (docs/adr/0012-dynamic-programs.md).
#include "cli/sbatch/sbatch.h"

int main(int argc, char** argv) {
    return sluice::run_static_tool("sbatch", argc, argv, sluice::run_sbatch, {"--u"});  // --uid
}
