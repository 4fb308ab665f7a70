#include "cli/sattach/sattach.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sattach", argc, argv, sluice::run_sattach);
}
