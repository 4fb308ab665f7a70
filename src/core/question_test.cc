// core/question_test.cc: what a copy for questions is, and what a question leaves as it was.
#include "core/question.h"

#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

constexpr const char* kBusyNode = R"(
    nodes   n1 cpus=4
    submit  first  cpus=4 time=60
    submit  second cpus=4 time=60
    pass
)";

Event test_of(std::uint32_t cpus) {
    auto demand = std::make_shared<JobRequest>();
    demand->shape.cpus_per_task = cpus;
    return SubmitJob{RequestId{1}, {UserId{1000}, GroupId{100}}, demand, {}, true};
}

Event why_waits(const Scenario& world, const std::string& name) {
    const JobRef ref{.job = world.job(name), .tasks = {}, .het_component = {}, .step = {}};
    return ExplainJob{RequestId{1}, {UserId{0}, GroupId{0}}, ref};
}

TEST(Question, ATestSubmissionUsesUpNoJobId) {
    Scenario world;
    ASSERT_EQ(world.run(kBusyNode), "");
    const JobId next = world.cluster().next_job_id();
    Effects effects;
    apply(world.cluster(), world.now(), test_of(4), effects);
    const auto tested = std::get<Submitted>(std::get<Reply>(effects.back()).answer);
    EXPECT_EQ(tested.job, next);
    EXPECT_EQ(tested.start_estimate, world.now() + Minutes{120});
    EXPECT_EQ(world.cluster().next_job_id(), next);
}

TEST(Question, ACopyIsMadeOncePerChange) {
    Scenario world;
    ASSERT_EQ(world.run(kBusyNode), "");
    world.cluster().take_snapshot(world.now());
    const auto copy = world.cluster().copy_for_questions();
    EXPECT_EQ(copy, world.cluster().copy_for_questions());
    ASSERT_EQ(world.run("submit third cpus=1\npass\n"), "");
    world.cluster().take_snapshot(world.now());
    EXPECT_NE(copy, world.cluster().copy_for_questions());
}

TEST(Question, ACopyStaysAsItWas) {
    Scenario world;
    ASSERT_EQ(world.run(kBusyNode), "");
    const auto copy = world.cluster().copy_for_questions();
    const Time then = world.now();
    const Event why = why_waits(world, "second");
    const Answer before = answer_to(*copy, then, why);
    ASSERT_EQ(world.run("end first\npass\nexpect second running n1\n"), "");
    EXPECT_EQ(std::get<std::vector<Explanation>>(answer_to(*copy, then, why)),
              std::get<std::vector<Explanation>>(before));
    EXPECT_EQ(std::get<std::vector<Explanation>>(before).at(0).ahead, 0u);
    EXPECT_EQ(std::get<std::vector<Explanation>>(before).at(0).start, then + Minutes{60});
}

}  // namespace
}  // namespace sluice
