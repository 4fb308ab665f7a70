// Setters of options about the steps of a job and their ends.
#include <signal.h>

#include <algorithm>

#include "model/signals.h"
#include "surface/job_options_setters.h"

namespace sluice::job_option {

// Compat: steps that are queued need a job that manages its own steps, which there is none of.
Result<void> set_async(JobOptions&, const OptionUse&) {
    return Error{ErrorCode::NotSupported,
                 "--async is only valid for steps submitted within an existing job allocation."};
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

}  // namespace sluice::job_option
