#include "cli/sstat/sstat.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sstat", argc, argv, sluice::run_sstat);
}
