#include "cli/swhy/swhy.h"

int main(int argc, char** argv) {
    return sluice::run_tool("swhy", argc, argv, sluice::run_swhy);
}
