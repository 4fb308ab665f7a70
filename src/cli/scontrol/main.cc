#include "cli/scontrol/scontrol.h"

int main(int argc, char** argv) {
    return sluice::run_tool("scontrol", argc, argv, sluice::run_scontrol);
}
