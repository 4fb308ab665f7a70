// sim/faults/faults_test.cc: worlds among faults: nothing is lost, nothing runs twice.
#include <gtest/gtest.h>

#include "sim/faults/fault_world.h"

namespace sluice {
namespace {

FaultResult world(std::uint64_t seed, std::uint32_t nodes, std::uint32_t jobs,
                  bool with_preemption = true, bool wide = true, bool by_qos = false) {
    return FaultWorld({.seed = seed,
                       .nodes = nodes,
                       .jobs = jobs,
                       .with_preemption = with_preemption,
                       .by_qos = by_qos,
                       .wide = wide,
                       .on_event = {}})
        .run();
}

// Sanitized, everything takes fifty times as long: fewer and smaller worlds.
#ifdef SLUICE_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

TEST(Faults, NothingIsLostAndNothingRunsTwice) {
    constexpr std::uint64_t kSeeds = kSanitized ? 5 : 30;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        FaultResult result = world(seed, 6, 60, true, true, seed % 3 == 0);  // as ssim faults
        EXPECT_FALSE(result.failure) << *result.failure << "\nreplay: ssim faults --seeds " << seed
                                     << " --nodes 6 --jobs 60 --events";
        EXPECT_EQ(result.accepted, result.ended);
        if (result.failure) continue;
        EXPECT_GT(result.strangers_refused, 100u);
    }
}

TEST(Faults, TheSameSeedGivesTheSameWorld) {
    FaultResult first = world(11, 5, 40), second = world(11, 5, 40), other = world(12, 5, 40);
    EXPECT_EQ(first.hash, second.hash);
    EXPECT_EQ(first.events, second.events);
    EXPECT_NE(first.hash, other.hash);
}

// Every kind of command is heard, and most are obeyed: a world in which all is refused shows
// nothing.
TEST(Faults, EverythingHappens) {
    std::map<std::string, std::size_t> answers;
    // So many jobs that they wait: commands that come when a job is over are refused.
    constexpr std::uint64_t kSeeds = kSanitized ? 1 : 5;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        for (const auto& [what, count] : world(seed, 6, 200, true, true, seed == 3).answers)
            answers[what] += count;
    }
    if (kSanitized) return;  // not everything happens in one world
    for (const char* what :
         {"submit", "wait", "give back", "step", "cancel step", "reservation create",
          "reservation update", "reservation delete", "reboot", "node DRAIN", "node RESUME",
          "partition State", "reconfigure", "update TimeLimit", "update Partition",
          "update Dependency"}) {
        EXPECT_GT(answers[what], 0u) << what;
    }
}

// A seed that failed once is kept, named for what broke. The first are from before worlds had
// preemption, and before they were wide.
struct KeptSeed {
    std::string_view what_broke;
    std::uint64_t seed;
    std::uint32_t nodes, jobs;
    bool with_preemption = false, wide = false;
};
constexpr KeptSeed kKept[] = {
    {"a node whose connection hung stayed down for ever", 4, 8, 80},
    {"a lost node that came back went on to run a job that was requeued", 3, 8, 80},
    {"the same, on the same node", 9, 8, 80},
    {"a node stayed somebody's alone after he had left", 16, 6, 60, true},
    {"the lines of late nodes were made anew ever more often", 7, 16, 300, true},
    {"jobs shared CPUs that were reserved for others", 14, 6, 60, true, true},
    {"a singleton that was held did not start alone", 39, 6, 60, true, true},
    {"a step that nobody had heard of kept its CPUs", 9, 6, 60, true, true},
    {"a step came to a node after its job was over", 97, 6, 60, true, true},
    {"a task forgot one of two arrays that it waited for", 288, 6, 60, true, true},
    {"a job waited for a reservation that was gone", 8, 16, 300, true, true},
    {"a node left slurm.conf with its jobs", 331, 6, 60, true, true},
    {"a node that was set down and resumed had not ended its jobs", 366, 6, 60, true, true},
    {"a step came to a node after its job was given up there", 43, 6, 60, true, true},
    {"the same", 52, 16, 300, true, true},
    {"the same", 118, 16, 300, true, true},
    {"a refused --immediate submission took the launch of another job", 102, 16, 300, true, true},
    {"a task had a limit of its own for how many of its array run", 749, 6, 60, true, true},
    {"a step had run on a node that left slurm.conf", 398, 4, 60, true, true},
    {"a job waited for a singleton that waited for it", 126, 32, 150, true, true},
    {"a step was never brought to its nodes", 246, 32, 150, true, true},
    {"an order to launch came to a node after the job was given up there", 898, 32, 150, true,
     true},
    {"a script ended, and its node lost its disk before it could say so", 855, 32, 150, true, true},
    {"tasks joined others on CPUs that were being freed for urgent jobs", 45, 2, 40, true, true},
};

TEST(Faults, WhatOnceBrokeStaysWhole) {
    for (const KeptSeed& kept : kKept) {
        if (kSanitized && kept.jobs > 100) continue;
        FaultResult result =
            world(kept.seed, kept.nodes, kept.jobs, kept.with_preemption, kept.wide);
        EXPECT_FALSE(result.failure) << kept.what_broke << ": " << *result.failure;
    }
}

}  // namespace
}  // namespace sluice
