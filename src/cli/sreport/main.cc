#include "cli/sreport/sreport.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sreport", argc, argv, sluice::run_sreport);
}
