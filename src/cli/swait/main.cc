#include "cli/swait/swait.h"

int main(int argc, char** argv) {
    return sluice::run_tool("swait", argc, argv, sluice::run_swait);
}
