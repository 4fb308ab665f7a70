#include "cli/sshare/sshare.h"

int main(int argc, char** argv) {
    return sluice::run_tool("sshare", argc, argv, sluice::run_sshare);
}
