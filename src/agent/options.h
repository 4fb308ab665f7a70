// agent/options.h
//
// slurmd's command line.
#pragma once

#include <string>

#include "base/result.h"

namespace sluice {

struct SlurmdOptions {
    bool foreground = false;      // -D
    std::string node_name;        // -N
    std::string config_path;      // -f
    std::string log_file;         // -L
    bool rebooted = false;        // -b: say that the machine was rebooted
    bool dynamic = false;         // -Z: no NodeName line has the node
    std::string dynamic_conf;     // --conf
    bool clean = false;           // -c: forget what ran before
    int verbose = 0;              // -v
    bool print_hardware = false;  // -C
    bool print_version = false;   // -V
    bool print_help = false;      // -h
};

Result<SlurmdOptions> parse_slurmd_options(int argc, char** argv);
std::string slurmd_usage();

}  // namespace sluice
