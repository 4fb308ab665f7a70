#include "cli/sbcast/sbcast.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sbcast", argc, argv, sluice::run_sbcast);
}
