// sim/generate.h
//
// Sample traces: sizes that are mostly powers of two, run times and user estimates over several
// orders of magnitude, arrivals that offer exactly the load asked for.
#pragma once

#include <string>

#include "sim/traces/trace.h"

namespace sluice {

struct GenerateOptions {
    std::uint32_t jobs = 1000;
    std::uint32_t processors = 128;  // CPUs, or GPUs for a csv trace
    double load = 0.8;               // of the processors, while jobs arrive
    std::uint64_t seed = 1;
    TraceFormat format = TraceFormat::Swf;
};

Trace generate(const GenerateOptions& options);
std::string print_swf(const Trace& trace, const GenerateOptions& options);
std::string print_gpu_csv(const Trace& trace);

}  // namespace sluice
