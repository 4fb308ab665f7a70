#include "cli/strigger/strigger.h"

int main(int argc, char** argv) {
    return sluice::run_tool("strigger", argc, argv, sluice::run_strigger);
}
