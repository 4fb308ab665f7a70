#include "cli/sgather/sgather.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sgather", argc, argv, sluice::run_sgather);
}
