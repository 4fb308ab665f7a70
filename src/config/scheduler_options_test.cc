// config/scheduler_options_test.cc: SchedulerParameters and PreemptParameters, word by word.
#include "config/scheduler_options.h"

#include <gtest/gtest.h>

#include "config/test_files.h"

namespace sluice {
namespace {

TEST(SchedulerOptions, NumbersAndFlagsReachTheirMembers) {
    Result<SchedulerOptions> options = parse_scheduler_options(
        "bf_window=60,bf_max_job_test=7, BF_Interval=5,kill_invalid_depend,max_switch_wait=10,"
        "bf_continue,defer,nohold_on_prolog_fail,disable_job_shrink,permit_job_expansion",
        "youngest_first,send_user_signal,reclaim_limits");
    ASSERT_TRUE(options);
    EXPECT_EQ(options->window, Seconds{3600});
    EXPECT_EQ(options->max_job_test, 7u);
    EXPECT_EQ(options->interval, Seconds{5});
    EXPECT_TRUE(options->kill_invalid_depend);
    EXPECT_TRUE(options->nohold_on_prolog_fail);
    EXPECT_TRUE(options->disable_job_shrink && options->permit_job_expansion);
    EXPECT_EQ(options->max_switch_wait, Seconds{10});
    EXPECT_TRUE(options->preempt_youngest_first);
    EXPECT_TRUE(options->preempt_send_user_signal && options->preempt_reclaim_limits);
}

TEST(SchedulerOptions, TheOldNamesOfPreemptionStillCount) {
    Result<SchedulerOptions> options = parse_scheduler_options("preempt_youngest_first", "");
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->preempt_youngest_first);
}

TEST(SchedulerOptions, WhatHasNoEffectIsSaid) {
    std::vector<std::string> warnings;
    ASSERT_TRUE(parse_scheduler_options("bf_busy_nodes,bf_contniue,defer", "", &warnings));
    EXPECT_EQ(warnings, (std::vector<std::string>{
                            "SchedulerParameters: bf_busy_nodes has no effect in Sluice",
                            "SchedulerParameters: 'bf_contniue' is unknown"}));
}

TEST(SchedulerOptions, WhatIsSuspendedNeedsGangToGoOn) {
    EXPECT_EQ(error_with("PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND"),
              "slurm.conf: PreemptMode=SUSPEND: needs GANG too (PreemptMode=SUSPEND,GANG)");
}

TEST(SchedulerOptions, WrongNumbersAreNamed) {
    EXPECT_EQ(error_with("SchedulerParameters=bf_window=soon"),
              "slurm.conf: SchedulerParameters: bf_window=soon: expected a number");
    EXPECT_EQ(error_with("SchedulerParameters=max_switch_wait"),
              "slurm.conf: SchedulerParameters: max_switch_wait=: expected a number");
}

}  // namespace
}  // namespace sluice
