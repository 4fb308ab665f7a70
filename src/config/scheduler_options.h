// config/scheduler_options.h
//
// The many settings inside SchedulerParameters and PreemptParameters: "bf_window=1440,defer".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace sluice {

struct SchedulerOptions {
    Seconds window{0};  // no limit: a plan costs little
    Seconds interval{30};
    std::uint32_t max_job_test = 0;  // 0: no limit
    std::uint32_t max_job_user = 0;
    std::uint32_t max_job_part = 0;
    bool disable_job_shrink = false;
    bool permit_job_expansion = false;
    bool kill_invalid_depend = false;
    bool nohold_on_prolog_fail = false;
    Seconds max_switch_wait{300};
    // Slurm waits for the credential of the last run to expire (two minutes); ours name the run
    // they are for, so a second is enough to slow a script down that always requeues itself.
    Seconds requeue_delay{1};
    bool preempt_youngest_first = false;
    bool preempt_send_user_signal = false;
    bool preempt_reclaim_limits = false;

    bool operator==(const SchedulerOptions&) const = default;
};

// `scheduler` and `preempt` are the values of the two keys. What is unknown, or known to Slurm and
// without effect here, leaves a warning; a value that is no number is an error.
Result<SchedulerOptions> parse_scheduler_options(std::string_view scheduler,
                                                 std::string_view preempt,
                                                 std::vector<std::string>* warnings = nullptr);

}  // namespace sluice
