#include "cli/seff/seff.h"

int main(int argc, char** argv) {
    return sluice::run_tool("seff", argc, argv, sluice::run_seff);
}
