// sim/options.h
//
// How ssim was called. An option that the command has no use for is refused.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/generate.h"

namespace sluice {

enum class SimCommand : std::uint8_t { None, Run, Compare, Generate, Faults };

struct SimOptions {
    SimCommand command = SimCommand::None;
    bool help = false, version = false;
    std::vector<std::string> confs;
    std::uint32_t nodes = 0, cpus = 0, gpus = 0, jobs = 0;  // 0: not given
    std::optional<TraceFormat> format;
    std::string csv_file, html_file, qos_file, policy_file;
    GenerateOptions generate;
    std::uint64_t seed_first = 1, seed_last = 20;  // --seeds
    bool print_events = false;
    std::string trace;
};

// `args` are those behind the program's name.
Result<SimOptions> parse_sim_options(const std::vector<std::string>& args);
std::string sim_help();

}  // namespace sluice
