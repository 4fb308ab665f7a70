// sim/traces/trace.h
//
// Who asked for what, when, and how long it ran: what all trace formats boil down to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/quantity.h"

namespace sluice {

struct TraceJob {
    std::string name;  // as the trace calls it
    Time submit;
    Seconds duration{0};
    std::optional<Seconds> limit;  // absent: the partition's default
    std::uint32_t cpus = 1;
    std::uint32_t nodes = 0;  // at least; 0: as it comes
    std::uint32_t gpus = 0;
    std::optional<Megabytes> mem_per_cpu;
    std::optional<Megabytes> mem_per_node;
    std::string account;
    std::string user;
    std::string partition;  // empty: the default one
    std::string qos;
};

struct Trace {
    std::vector<TraceJob> jobs;  // by submit time
    std::size_t skipped = 0;     // records of jobs that never ran, or that do not say with what
};

enum class TraceFormat : std::uint8_t { Swf, Csv, Sacct };

// "swf", "csv", "sacct".
Result<TraceFormat> parse_trace_format(std::string_view word);
// What the first line that says something looks like: a `|` means sacct, a comma CSV, else SWF.
TraceFormat guess_trace_format(std::string_view text);

Result<std::string> read_text(const std::string& path);
// `path` is for the errors: they name file, line, column and value.
Result<Trace> parse_trace(const std::string& path, std::string_view text, TraceFormat format);
Result<Trace> read_trace(const std::string& path, std::optional<TraceFormat> format);

// One per format; parse_trace() chooses.
Result<Trace> parse_swf(const std::string& path, std::string_view text);
Result<Trace> parse_gpu_csv(const std::string& path, std::string_view text);
Result<Trace> parse_sacct(const std::string& path, std::string_view text);

}  // namespace sluice
