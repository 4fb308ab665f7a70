#include "cli/sacctmgr/sacctmgr.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sacctmgr", argc, argv, sluice::run_sacctmgr);
}
