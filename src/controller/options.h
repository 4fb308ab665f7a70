// controller/options.h
//
// slurmctld's command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice {

struct Options {
    std::string config;                  // -f
    std::string log_file;                // -L
    bool foreground = false;             // -D
    bool clear_state = false;            // -c
    bool ignore_state_errors = false;    // -i
    bool change_directory = false;       // -s
    int verbose = 0;                     // -v, each
    bool quiet = false;                  // -q
    std::optional<int> nice;             // -n
    bool help = false;                   // -h
    bool version = false;                // -V
    std::vector<std::string> arguments;  // all of them, to start this program again
};

Result<Options> parse_options(int argc, char** argv);
std::string usage();

}  // namespace sluice
