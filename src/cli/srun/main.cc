#include "cli/srun/srun.h"

int main(int argc, char** argv) {
    return sluice::run_tool("srun", argc, argv, sluice::run_srun);
}
