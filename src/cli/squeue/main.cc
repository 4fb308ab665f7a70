#include "cli/squeue/squeue.h"

int main(int argc, char** argv) {
    return sluice::run_tool("squeue", argc, argv, sluice::run_squeue);
}
