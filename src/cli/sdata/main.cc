#include "cli/sdata/sdata.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sdata", argc, argv, sluice::run_sdata);
}
