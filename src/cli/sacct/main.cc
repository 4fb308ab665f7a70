#include "cli/sacct/sacct.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sacct", argc, argv, sluice::run_sacct);
}
