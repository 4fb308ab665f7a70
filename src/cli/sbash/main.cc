#include "cli/sbash/sbash.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sbash", argc, argv, sluice::run_sbash);
}
