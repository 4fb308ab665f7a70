#include "cli/sinfo/sinfo.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sinfo", argc, argv, sluice::run_sinfo);
}
