// sim/faults/faults_test.cc: worlds among faults: nothing is lost, nothing runs twice.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/faults/fault_world.h"

namespace sluice {
namespace {

FaultResult world(std::uint64_t seed, std::uint32_t nodes, std::uint32_t jobs,
                  bool with_preemption = true, bool wide = true, bool by_qos = false,
                  std::uint32_t controllers = 1) {
    return FaultWorld({.seed = seed,
                       .nodes = nodes,
                       .jobs = jobs,
                       .controllers = controllers,
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
        // As ssim faults.
        FaultResult result = world(seed, 6, 60, true, true, seed % 3 == 0, seed % 2 == 0 ? 2 : 1);
        const std::string path = testing::TempDir() + fmt::format("faults-{}.trace", seed);
        const bool is_written = !result.failure || write_fault_trace(path, result);
        EXPECT_TRUE(is_written) << path;
        EXPECT_FALSE(result.failure)
            << *result.failure << "\nreplay: ssim faults --events " << path;
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
using Counts = std::map<std::string, std::size_t>;

// The ones of `wanted` that are not counted in `counts`.
std::string missing(const Counts& counts, std::initializer_list<const char*> wanted) {
    std::string all;
    for (const char* what : wanted) {
        if (!counts.contains(what)) all += fmt::format("{}; ", what);
    }
    return all;
}

std::string not_answered(const Counts& answers) {
    return missing(
        answers, {"submit", "wait", "give back", "step", "cancel step", "reservation create",
                  "reservation update", "reservation delete", "reboot", "node DRAIN", "node RESUME",
                  "node POWER_DOWN", "node POWER_UP", "partition State", "reconfigure",
                  "update TimeLimit", "update Partition", "update Dependency"});
}

std::string not_happened(const Counts& happened) {
    return missing(happened, {"prolog",
                              "prolog failed",
                              "epilog",
                              "epilog failed",
                              "step refused",
                              "spawn failed",
                              "supervisor killed",
                              "leftovers killed",
                              "unkillable",
                              "given up",
                              "slurmd ended between two effects",
                              "report repeated",
                              "order repeated",
                              "slow commit",
                              "crash before commit",
                              "crash after commit",
                              "crash between replies",
                              "crash between orders",
                              "taken over",
                              "stepped down",
                              "database lost",
                              "cut off from the database",
                              "cut off from the nodes",
                              "clocks an hour apart",
                              "switched off",
                              "switched on"});
}

// Rare faults take some worlds to happen.
TEST(Faults, EverythingHappens) {
    constexpr std::uint64_t kSeedsMost = 60;
    Counts answers, happened;
    for (std::uint64_t seed = 1; seed <= kSeedsMost; ++seed) {
        // So many jobs that they wait: commands that come when a job is over are refused.
        const FaultResult result =
            world(seed, 6, 200, true, true, seed == 3, seed % 2 == 0 ? 2 : 1);
        EXPECT_FALSE(result.failure) << "seed " << seed << ": " << *result.failure;
        for (const auto& [what, count] : result.answers) answers[what] += count;
        for (const auto& [what, count] : result.happened) happened[what] += count;
        if (kSanitized || (not_answered(answers).empty() && not_happened(happened).empty())) return;
    }
    EXPECT_EQ(not_answered(answers), "");
    EXPECT_EQ(not_happened(happened), "");
}

// A world that failed once is kept as a trace, named for what broke.
TEST(Faults, WhatOnceBrokeStaysWhole) {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(SLUICE_TRACES)) {
        if (file.path().extension() != ".trace") continue;
        ++count;
        const Result<FaultOptions> options = read_fault_trace(file.path());
        ASSERT_TRUE(options) << file.path() << options.error().detail;
        if (kSanitized && options->jobs > 100) continue;
        const FaultResult result = FaultWorld(*options).run();
        EXPECT_FALSE(result.failure)
            << *result.failure << "\nreplay: ssim faults --events " << file.path();
    }
    EXPECT_GT(count, 0u);
}

// A trace replays its world, whatever the seed would have given.
TEST(Faults, ATraceReplaysItsWorld) {
    const FaultResult first = world(11, 5, 40);
    auto trace =
        std::make_shared<FaultTrace>(parse_fault_trace(print_fault_trace(first.trace)).value());
    EXPECT_EQ(trace->rolls, first.trace.rolls);
    FaultOptions options{.seed = trace->seed,
                         .nodes = trace->nodes,
                         .jobs = trace->jobs,
                         .trace = trace,
                         .on_event = {}};
    const FaultResult second = FaultWorld(options).run();
    EXPECT_EQ(first.hash, second.hash);
    EXPECT_EQ(first.events, second.events);
    // One roll less, and only what depends on it is different.
    trace->rolls["settings"].clear();
    EXPECT_NE(FaultWorld(options).run().hash, first.hash);
}

TEST(Faults, ATraceThatIsNoneIsRefused) {
    for (const char* text :
         {"", "nodes 3", "nodes x\njobs 1", "nodes 3\njobs 1\ncolour 5", "nodes 3 4\njobs 1",
          "nodes 3\njobs 1\na: 1 b", "nodes 3\njobs 1\na: 1*99999999999999999999",
          "nodes 3\njobs 1\na: 1*18446744073709551615", "nodes 99999\njobs 1",
          "nodes 3\njobs 1\ncontrollers 0", "nodes 3\njobs 1\ncontrollers 3"}) {
        const Result<FaultTrace> trace = parse_fault_trace(text);
        const bool is_short = std::string_view(text) == "nodes 3";
        EXPECT_EQ(trace.has_value(), is_short) << text;
    }
}

}  // namespace
}  // namespace sluice
