#include "cli/salloc/salloc.h"

int main(int argc, char** argv) {
    return sluice::run_tool("salloc", argc, argv, sluice::run_salloc);
}
