#include "stepd/cpu_clocks.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/text.h"
#include "model/errors.h"
#include "os/error.h"
#include "os/files.h"
#include "os/process.h"

namespace sluice {

namespace {

Result<std::uint32_t> read_frequency(const std::string& path) {
    const std::string text = TRY(read_file(path));
    const std::optional<std::uint64_t> number = to_number(trim(text));
    if (!number) return Error{ErrorCode::NotSupported, fmt::format("{}: no number", path)};
    return static_cast<std::uint32_t>(*number);
}

}  // namespace

std::string CpuFrequencies::set(const wire::StepOrder& order) {
    const std::string& asked = order.tasks().spec().cpu_freq();
    const std::string& text = asked.empty() ? order.cpu_freq_def() : asked;
    if (!order.has_tasks() || text.empty() || order.tasks().spec().interactive()) return {};
    const auto complain = [&](const std::string& why) {
        return asked.empty()
                   ? std::string()
                   : supervisor_line(fmt::format("--cpu-freq={} has no effect on node {}: {}", text,
                                                 order.node(), why));
    };
    const Result<CpuFreq> demand = parse_cpu_freq(text);
    if (!demand) return complain(demand.error().detail);
    const bool is_confined = order.binding().affinity() || !order.confinement().step_cpus().empty();
    if (!is_confined || order.binding().cpus().empty())
        return complain("tasks are not confined to CPUs there");
    for (std::uint32_t cpu : order.binding().cpus()) {
        if (Result<void> done = set_cpu(cpu, *demand); !done) return complain(done.error().detail);
    }
    return {};
}

// Where a driver lists no frequencies, all between two are possible: these two count.
Result<std::vector<std::uint32_t>> CpuFrequencies::frequencies_of(
    const std::string& directory) const {
    std::vector<std::uint32_t> found;
    if (const Result<std::string> list = read_file(directory + "/scaling_available_frequencies")) {
        for (std::string_view word : split(*list, ' ')) {
            if (const auto number = to_number(trim(word)))
                found.push_back(static_cast<std::uint32_t>(*number));
        }
    }
    if (!found.empty()) return found;
    found.push_back(TRY(read_frequency(directory + "/cpuinfo_min_freq")));
    found.push_back(TRY(read_frequency(directory + "/cpuinfo_max_freq")));
    return found;
}

Result<void> CpuFrequencies::write(const std::string& path, const std::string& value) {
    const std::string before = TRY(read_file(path));
    if (!write_to(path, value)) return os_error(path);
    before_.emplace_back(path, std::string(trim(before)));
    return {};
}

Result<void> CpuFrequencies::set_cpu(std::uint32_t cpu, const CpuFreq& demand) {
    const std::string directory = fmt::format("{}/cpu{}/cpufreq", root_, cpu);
    const std::vector<std::uint32_t> possible = TRY(frequencies_of(directory));
    const auto chosen = [&](const CpuClock& clock) {
        return fmt::format("{}", nearest_frequency(clock, possible));
    };
    if (demand.least) {
        // The kernel refuses a minimum above the maximum, and the other way round.
        const std::string lowest = chosen({CpuClock::Kind::Low});
        TRY(write(directory + "/scaling_min_freq", lowest));
        TRY(write(directory + "/scaling_max_freq", chosen(*demand.most)));
        TRY(write(directory + "/scaling_min_freq", chosen(*demand.least)));
    }
    if (!demand.governor.empty())
        TRY(write(directory + "/scaling_governor", to_lower(demand.governor)));
    if (demand.speed) TRY(write(directory + "/scaling_setspeed", chosen(*demand.speed)));
    return {};
}

void CpuFrequencies::reset() {
    for (auto each = before_.rbegin(); each != before_.rend(); ++each) {
        // scaling_setspeed says "<unsupported>" while another governor is in force.
        if (each->second.starts_with('<')) continue;
        if (!write_to(each->first, each->second)) log_error("{}", os_error(each->first).detail);
    }
    before_.clear();
}

}  // namespace sluice
