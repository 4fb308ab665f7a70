// sim/traces/read.cc: which format a file has, and what is common to all of them.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "model/errors.h"
#include "sim/traces/trace.h"

namespace sluice {

Result<TraceFormat> parse_trace_format(std::string_view word) {
    if (word == "swf") return TraceFormat::Swf;
    if (word == "csv") return TraceFormat::Csv;
    if (word == "sacct") return TraceFormat::Sacct;
    return Error{ErrorCode::BadArgument,
                 fmt::format("--format={}: swf, csv or sacct is expected", word)};
}

TraceFormat guess_trace_format(std::string_view text) {
    for (std::string_view line : split(text.substr(0, 4096), '\n')) {
        if (trim(line).empty() || line.starts_with(';')) continue;
        if (line.find('|') != line.npos) return TraceFormat::Sacct;
        if (line.find(',') != line.npos) return TraceFormat::Csv;
        break;
    }
    return TraceFormat::Swf;
}

Result<Trace> parse_trace(const std::string& path, std::string_view text, TraceFormat format) {
    Trace trace = TRY(format == TraceFormat::Swf   ? parse_swf(path, text)
                      : format == TraceFormat::Csv ? parse_gpu_csv(path, text)
                                                   : parse_sacct(path, text));
    if (trace.jobs.empty()) {
        return Error{ErrorCode::BadArgument, fmt::format("{}: there is no job in it", path)};
    }
    std::stable_sort(trace.jobs.begin(), trace.jobs.end(),
                     [](const TraceJob& a, const TraceJob& b) { return a.submit < b.submit; });
    return trace;
}

Result<std::string> read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    if (!file || !(bytes << file.rdbuf())) {
        return Error{ErrorCode::NotFound, fmt::format("{}: cannot be read", path)};
    }
    return std::move(bytes).str();
}

Result<Trace> read_trace(const std::string& path, std::optional<TraceFormat> format) {
    const std::string text = TRY(read_text(path));
    return parse_trace(path, text, format.value_or(guess_trace_format(text)));
}

}  // namespace sluice
