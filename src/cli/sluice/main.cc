#include "cli/sluice/sluice.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sluice", argc, argv, sluice::run_sluice);
}
