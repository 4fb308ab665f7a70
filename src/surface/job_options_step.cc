// Setters of options about the steps of a job and their ends.
#include <signal.h>

#include <algorithm>

#include "model/cpu_freq.h"
#include "model/signals.h"
#include "model/sizes.h"
#include "surface/job_options_setters.h"

namespace sluice::job_option {

namespace {
constexpr std::uint64_t kPortCount = 65535;
}

Result<void> set_bcast(JobOptions& options, const OptionUse& use) {
    options.bcast = std::string(use.value);
    return {};
}

Result<void> set_compress(JobOptions& options, const OptionUse& use) {
    options.compress = use.value.empty() ? "lz4" : to_lower(use.value);
    if (options.compress != "lz4" && options.compress != "none") return invalid(use, "lz4 or none");
    return {};
}

Result<void> set_cpu_freq(JobOptions& options, const OptionUse& use) {
    const Result<CpuFreq> freq = parse_cpu_freq(use.value);
    if (!freq) return invalid(use, freq.error().detail);
    options.cpu_freq = std::string(use.value);
    return {};
}

Result<void> set_ignore_signals(JobOptions& options, const OptionUse& use) {
    constexpr int kSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};
    options.ignored_signals.clear();
    for (std::string_view word : split(use.value, ',')) {
        Result<int> signal = parse_signal(word);
        const bool is_known = signal && std::find(std::begin(kSignals), std::end(kSignals),
                                                  *signal) != std::end(kSignals);
        if (!is_known) return invalid(use, "a list of INT, QUIT, TERM, HUP, USR1, USR2 and ALRM");
        options.ignored_signals.push_back(*signal);
    }
    return {};
}

Result<void> set_oom_kill_step(JobOptions& options, const OptionUse& use) {
    if (use.has_value && use.value != "0" && use.value != "1") return invalid_number(use);
    options.request.oom_kill_step = use.value != "0";
    return {};
}

// Of a job: only where steps are managed by the job itself, which there is none of.
Result<void> set_resv_ports(JobOptions& options, const OptionUse& use) {
    if (use.tool != kSrun) return unsupported(use);
    if (!use.has_value || use.value.empty()) {
        options.resv_ports = 0;
        return {};
    }
    const std::optional<std::uint64_t> count = to_number(use.value);
    if (!count || *count > kPortCount) return invalid_number(use);
    options.resv_ports.reset();
    if (*count > 0) options.resv_ports = static_cast<std::uint32_t>(*count);
    return {};
}

// Numbers begin with errors; names are those of SlurmdDebug.
Result<void> set_slurmd_debug(JobOptions& options, const OptionUse& use) {
    constexpr std::string_view kLevels[] = {"quiet", "fatal",  "error",  "info",   "verbose",
                                            "debug", "debug2", "debug3", "debug4", "debug5"};
    constexpr std::uint32_t kError = 2, kNumberMost = 4;
    if (const auto number = to_number(use.value); number && *number <= kNumberMost) {
        options.slurmd_debug = kError + static_cast<std::uint32_t>(*number);
        return {};
    }
    const auto* level = std::find(std::begin(kLevels), std::end(kLevels), to_lower(use.value));
    if (level == std::end(kLevels)) return invalid(use, "0 to 4, or a level of SlurmdDebug");
    options.slurmd_debug = static_cast<std::uint32_t>(level - std::begin(kLevels));
    return {};
}

Result<void> set_send_libs(JobOptions& options, const OptionUse& use) {
    const std::string word = to_lower(use.value);
    if (!word.empty() && word != "yes" && word != "no") return invalid(use, "yes or no");
    options.send_libs = word != "no";
    return {};
}

Result<void> set_tree_width(JobOptions& options, const OptionUse& use) {
    const std::optional<std::uint64_t> width = to_number(use.value);
    const bool is_off = equals_ignoring_case(use.value, "off");
    if (!is_off && (!width || *width == 0 || *width > sizes::kTreeWidth))
        return invalid(use, fmt::format("a number from 1 to {}, or off", sizes::kTreeWidth));
    options.tree_width = is_off ? 0 : static_cast<std::uint32_t>(*width);
    return {};
}

}  // namespace sluice::job_option
