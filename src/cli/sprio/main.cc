#include "cli/sprio/sprio.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sprio", argc, argv, sluice::run_sprio);
}
