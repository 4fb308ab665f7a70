// slurmd: one per node.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "agent/agent.h"
#include "agent/options.h"
#include "model/errors.h"
#include "model/version.h"

namespace sluice {
namespace {

int print_hardware() {
    Result<Hardware> hardware = read_hardware();
    if (!hardware) {
        fmt::print(stderr, "slurmd: error: {}\n", hardware.error().detail);
        return 1;
    }
    fmt::print("{}", hardware_lines(*hardware));
    return 0;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    using namespace sluice;
    std::signal(SIGPIPE, SIG_IGN);
    Result<SlurmdOptions> options = parse_slurmd_options(argc, argv);
    if (!options) {
        fmt::print(stderr, "slurmd: error: {}\n{}", options.error().detail, slurmd_usage());
        return 1;
    }
    if (options->print_help) {
        fmt::print("{}", slurmd_usage());
        return 0;
    }
    if (options->print_version) {
        fmt::print("{}\n", kVersionLine);
        return 0;
    }
    if (options->print_hardware) return print_hardware();
    Result<void> ended = run_agent(*options);
    if (!ended) {
        fmt::print(stderr, "slurmd: fatal: {}\n", to_string(ended.error()));
        return 1;
    }
    return 0;
}
