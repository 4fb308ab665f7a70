#include "cli/scancel/scancel.h"

int main(int argc, char** argv) {
    return sluice::run_tool("scancel", argc, argv, sluice::run_scancel);
}
