// accounting/main.cc
//
// slurmdbd, as far as it exists: it says what it is, and refuses to start rather than pretend.
#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "-V" || argument == "--version") return std::puts("slurm 26.05.3") < 0;
    }
    std::fputs(
        "slurmdbd: fatal: accounting by slurmdbd is not available in this version of Sluice\n",
        stderr);
    return 1;
}
