#include "cli/gpu_usage/gpu_usage.h"

int main(int argc, char** argv) {
    return sluice::run_tool("gpu_usage", argc, argv, sluice::run_gpu_usage);
}
