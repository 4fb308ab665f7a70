#include "cli/sdiag/sdiag.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sdiag", argc, argv, sluice::run_sdiag);
}
