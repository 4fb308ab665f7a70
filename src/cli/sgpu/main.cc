#include "cli/sgpu/sgpu.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sgpu", argc, argv, sluice::run_sgpu);
}
