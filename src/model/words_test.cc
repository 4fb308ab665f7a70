// Signals, file names, states, errors and the job's own words: the small tables of the model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>

#include "model/errors.h"
#include "model/filename.h"
#include "model/job.h"
#include "model/signals.h"
#include "model/states.h"

namespace sluice {
namespace {

TEST(Signals, AreReadByNameAndNumber) {
    for (std::string_view text : {"USR1", "SIGUSR1", "usr1", "10"}) {
        EXPECT_EQ(*parse_signal(text), SIGUSR1) << text;
    }
    EXPECT_EQ(signal_name(SIGUSR1), "USR1");
    EXPECT_EQ(signal_name(63), "");
    for (std::string_view bad : {"", "0", "65", "-1", "foo", "RTMIN", "SIG", "CHLD"}) {
        EXPECT_FALSE(parse_signal(bad)) << bad;
    }
}

TEST(Signals, WarnTheJobBeforeItsEnd) {
    EXPECT_EQ(*parse_warn_signal("USR1"), (WarnSignal{.signal = SIGUSR1}));
    EXPECT_EQ(*parse_warn_signal("B:USR2@30"),
              (WarnSignal{.signal = SIGUSR2, .before = Seconds(30), .batch_shell_only = true}));
    EXPECT_EQ(*parse_warn_signal("rb:10@5"), (WarnSignal{.signal = SIGUSR1,
                                                         .before = Seconds(5),
                                                         .batch_shell_only = true,
                                                         .allow_reservation = true}));
    for (std::string_view bad :
         {"", "@30", "X:USR1", "B:R:USR1", "USR1@-1", "USR1@65536", "USR1@1x"}) {
        Result<WarnSignal> warn = parse_warn_signal(bad);
        ASSERT_FALSE(warn) << bad;
        EXPECT_EQ(to_string(warn.error()), fmt::format("Invalid signal specified: \"{}\"", bad));
    }
}

TEST(Signals, HaveNamesThatAreReadBack) {
    for (int signal = 1; signal <= 64; ++signal) {
        std::string_view name = signal_name(signal);
        if (name.empty()) continue;
        EXPECT_EQ(*parse_signal(name), signal);
    }
}

class Filenames : public testing::Test {
protected:
    FilenameContext batch{.job = JobId(294),
                          .step = kBatchStep,
                          .node_name = "cpu1.site",
                          .user = "root",
                          .job_name = "nm",
                          .sluid = "s54XM7GCBJVF00"};
};

TEST_F(Filenames, AreExpandedAsInBatchScripts) {
    EXPECT_EQ(expand_filename("A-%a-%A-%J-%4j-%N-%n-%s-%t-%u-%x.o", batch),
              "A-4294967294-294-294-0294-cpu1-0-batch-0-root-nm.o");
    EXPECT_EQ(expand_filename("B-%q-%%-%5x-%5u-%12j-%0j-%4s", batch),
              "B-%q-%-nm-root-0000000294-294-batch");
    EXPECT_EQ(expand_filename("F-%4J-%r-%S", batch), "F-0294-0-s54XM7GCBJVF00");
    EXPECT_EQ(expand_filename("D%%j-%", batch), "D%j-%");
    EXPECT_EQ(expand_filename("%999999999999999999999j", batch), "0000000294");
}

TEST_F(Filenames, AreExpandedInStepsOfArrayTasks) {
    FilenameContext step = batch;
    step.array_job = JobId(300);
    step.array_task = 13;
    step.step = StepId(0);
    EXPECT_EQ(expand_filename("%J-%4J-%s-%3t-%3n-%3N-%4a-%b-%4A", step),
              "294.0-0294.0-0-000-000-cpu1-0013-3-0300");
}

TEST_F(Filenames, WithABackslashAreTakenAsTheyAre) {
    EXPECT_EQ(expand_filename("C\\%j", batch), "C%j");
    EXPECT_EQ(expand_filename("E\\\\%j-%5", batch), "E\\%j-%5");
    EXPECT_FALSE(is_per_task("\\%t"));
}

TEST_F(Filenames, SayWhoGetsAFile) {
    EXPECT_TRUE(is_per_task("out-%3t"));
    EXPECT_FALSE(is_per_task("out-%%t"));
    EXPECT_TRUE(is_per_node("%N"));
    EXPECT_TRUE(is_per_node("%2n"));
    EXPECT_FALSE(is_per_node("%j"));
}

TEST(States, AreFoundByNameAndLetters) {
    for (int i = 0; i < kShownStateCount; ++i) {
        auto state = static_cast<ShownState>(i);
        EXPECT_EQ(find_state(state_name(state)), state);
        EXPECT_EQ(find_state(state_letters(state)), state);
    }
    EXPECT_EQ(find_state("out_of_memory"), ShownState::OutOfMemory);
    EXPECT_EQ(find_state("cg"), ShownState::Completing);
    EXPECT_EQ(find_state("foo"), std::nullopt);
    EXPECT_EQ(state_letters(JobState::OutOfMemory), "OOM");
    EXPECT_EQ(reason_name(Reason::QosUsageThreshold), "QOSUsageThreshold");
}

TEST(States, OfNodesAreWordsWithASuffix) {
    struct Row {
        NodeBase base;
        std::uint32_t flags;
        std::string_view word, compact, complete;
    };
    using enum NodeBase;
    const Row kRows[] = {
        {Idle, 0, "idle", "idle", "IDLE"},
        {Mixed, 0, "mixed", "mix", "MIXED"},
        {Allocated, 0, "allocated", "alloc", "ALLOCATED"},
        {Idle, kNodeDrain, "drained", "drain", "IDLE+DRAIN"},
        {Mixed, kNodeDrain, "draining", "drng", "MIXED+DRAIN"},
        {Idle, kNodeDrain | kNodeCompleting, "draining", "drng", "IDLE+COMPLETING+DRAIN"},
        {Down, kNodeDrain | kNodeNoRespond, "drained*", "drain*", "DOWN+DRAIN+NOT_RESPONDING"},
        {Down, kNodeNoRespond, "down*", "down*", "DOWN+NOT_RESPONDING"},
        {Idle, kNodeCompleting, "completing", "comp", "IDLE+COMPLETING"},
        {Allocated, kNodeCompleting, "allocated+", "alloc+", "ALLOCATED+COMPLETING"},
        {Mixed, kNodePlanned, "mixed-", "mix-", "MIXED+PLANNED"},
        {Idle, kNodePlanned, "planned", "plnd", "IDLE+PLANNED"},
        {Idle, kNodeReserved, "reserved", "resv", "IDLE+RESERVED"},
        {Idle, kNodeMaint, "maint", "maint", "IDLE+MAINTENANCE"},
        {Idle, kNodeCloud | kNodePoweredDown, "idle~", "idle~", "IDLE+CLOUD+POWERED_DOWN"},
        {Mixed, kNodeFail, "failing", "failg", "MIXED+FAIL"},
        {Down, kNodeInvalidReg, "inval", "inval", "DOWN+INVALID_REG"},
    };
    for (const Row& row : kRows) {
        EXPECT_EQ(print_node_state(row.base, row.flags), row.word);
        EXPECT_EQ(print_node_state_compact(row.base, row.flags), row.compact);
        EXPECT_EQ(print_node_state_complete(row.base, row.flags), row.complete);
    }
}

TEST(Errors, SayWhatAndWhich) {
    EXPECT_EQ(to_string(Error{ErrorCode::InvalidQos, ""}), "Invalid qos specification");
    EXPECT_EQ(to_string(Error{ErrorCode::InvalidQos, "high"}), "Invalid qos specification: high");
    EXPECT_EQ(text_of(static_cast<ErrorCode>(60000)), "Unspecified error");
}

TEST(Jobs, PrintTheirIds) {
    Job job{.id = JobId(14)};
    EXPECT_EQ(print_job_id(job), "14");
    job.array_job = JobId(12);
    job.array_tasks = *TaskSet::parse("1-5");
    job.array_limit = 2;
    EXPECT_EQ(print_job_id(job), "12_[1-5%2]");
    job.array_task = 3;
    EXPECT_EQ(print_job_id(job), "12_3");
}

TEST(Jobs, ShowCompletingUntilTheirNodesAreClean) {
    Job job{.state = JobState::Cancelled, .run = {.completing_nodes = {NodeIndex(1)}}};
    EXPECT_EQ(shown_state(job), ShownState::Completing);
    job.run.completing_nodes.clear();
    EXPECT_EQ(shown_state(job), ShownState::Cancelled);
}

TEST(Jobs, HaveAFixedLengthId) {
    EXPECT_EQ(print_sluid(0), "s0000000000000");
    EXPECT_EQ(print_sluid(~0ull), "sFZZZZZZZZZZZZ");
    EXPECT_LT(print_sluid(31), print_sluid(32));
}

TEST(Allocations, CountTheirCpus) {
    Allocation allocation;
    allocation.nodes.resize(2);
    allocation.nodes[0].cpus = {0, 1, 2};
    allocation.nodes[1].cpus = {5};
    EXPECT_EQ(allocation.cpus(), 4u);
}

}  // namespace
}  // namespace sluice
