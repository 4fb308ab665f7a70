#include "cli/common/verbose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/times.h"

namespace sluice {

namespace {

std::string value_of(const JobOptions& options, std::size_t index) {
    const JobOption& option = job_options()[index];
    if (option.name == "verbose") return fmt::format("{}", options.verbose);
    if (option.name == "time" && options.request.time_limit) {
        return print_time_limit(*options.request.time_limit);
    }
    return options.values[index].empty() ? "set" : options.values[index];
}

}  // namespace

void print_defined_options(const JobOptions& options, const Invocation& invocation,
                           Streams& streams) {
    if (options.verbose == 0) return;
    std::map<std::string, std::string> lines;  // by the name without hyphens: job-name after jobid
    for (std::size_t i = 0; i < options.sources.size(); ++i) {
        if (options.sources[i] == Source::Nobody) continue;
        std::string key(job_options()[i].name);
        std::erase(key, '-');
        lines[key] = fmt::format("{:<20}: {}", job_options()[i].name, value_of(options, i));
    }
    const std::string rule = fmt::format("{0:-<20} {0:-<20}", "");
    print_info(streams, invocation, "defined options");
    print_info(streams, invocation, rule);
    for (const auto& [key, line] : lines) print_info(streams, invocation, line);
    print_info(streams, invocation, rule);
    print_info(streams, invocation, "end of defined options");
}

}  // namespace sluice
