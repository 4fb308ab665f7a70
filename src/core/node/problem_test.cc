// core/node/problem_test.cc: what slurmd finds wrong with its machine.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

void register_with_problem(Scenario& scenario, const std::string& problem) {
    NodeFacts facts = *scenario.cluster().node(NodeIndex{0}).facts;
    facts.problem = problem;
    Effects effects;
    apply(scenario.cluster(), scenario.now(), NodeRegistered{"n1", facts, {}}, effects);
}

std::string reason_of_n1(Scenario& scenario) {
    return scenario.cluster().node(NodeIndex{0}).reason;
}

TEST(NodeProblem, DrainsTheNodeUntilItIsRepaired) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2]\nnode n1 is idle"), "");
    register_with_problem(scenario, "no GPU");
    EXPECT_EQ(reason_of_n1(scenario), "slurmd: no GPU");
    EXPECT_EQ(scenario.run("node n1 is idle+drain\nnode n2 is idle\nsubmit a nodelist=n1\npass\n"
                           "expect a pending"),
              "");
    for (const char* state : {"RESUME", "UNDRAIN", "IDLE"}) {
        EXPECT_EQ(scenario.run(fmt::format("node n1 State={} refused", state)), "") << state;
    }
    EXPECT_EQ(scenario.run("restart"), "");
    register_with_problem(scenario, "no GPU, no memory");
    EXPECT_EQ(reason_of_n1(scenario), "slurmd: no GPU, no memory");
    register_with_problem(scenario, "");
    EXPECT_EQ(reason_of_n1(scenario), "");
    EXPECT_EQ(scenario.run("node n1 is idle\npass\nexpect a running n1"), "");
}

TEST(NodeProblem, LeavesADrainOfTheAdministratorAlone) {
    Scenario scenario;
    ASSERT_EQ(scenario.run("nodes n[1-2]\nnode n1 State=DRAIN Reason=disk"), "");
    register_with_problem(scenario, "no GPU");
    EXPECT_EQ(reason_of_n1(scenario), "disk");
    register_with_problem(scenario, "");
    EXPECT_EQ(scenario.run("node n1 is idle+drain"), "");
    EXPECT_EQ(reason_of_n1(scenario), "disk");
    EXPECT_EQ(scenario.run("node n1 State=RESUME\nnode n1 is idle"), "");
}

}  // namespace
}  // namespace sluice
