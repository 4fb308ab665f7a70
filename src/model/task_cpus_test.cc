#include "model/task_cpus.h"

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {
namespace {

// Sockets with their cores and threads as Linux numbers them: the second threads of all cores come
// after the first ones. NUMA domains divide the sockets.
std::vector<PlacedCpu> machine(std::uint32_t sockets, std::uint32_t cores, std::uint32_t threads,
                               std::uint32_t domains_per_socket = 1) {
    std::vector<PlacedCpu> cpus;
    for (std::uint32_t core = 0; core < sockets * cores; ++core) {
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
            const std::uint32_t socket = core / cores;
            const std::uint32_t domain = core % cores * domains_per_socket / cores;
            cpus.push_back({.number = core + thread * sockets * cores,
                            .socket = socket,
                            .core = core,
                            .domain = socket * domains_per_socket + domain});
        }
    }
    return cpus;
}

// The part of a 2x4x2 machine with these kernel numbers.
StepCpus part(const Numbers& numbers) {
    StepCpus step;
    const std::set<std::uint32_t> wanted(numbers.begin(), numbers.end());
    for (const PlacedCpu& cpu : machine(2, 4, 2)) {
        if (wanted.contains(cpu.number)) step.cpus.push_back(cpu);
    }
    return step;
}

StepCpus whole(std::vector<PlacedCpu> cpus) {
    return {.cpus = std::move(cpus), .whole_node = true};
}

std::string masks(const StepCpus& step, const BindDemand& demand) {
    const Result<BoundTasks> bound = bind_tasks(step, demand);
    constexpr std::string_view kImpossible = "Unable to satisfy cpu bind request: ";
    if (!bound) return bound.error().detail.substr(kImpossible.size());
    std::vector<std::string> texts;
    for (const Numbers& cpus : bound->cpus) texts.push_back(to_lower(print_mask(cpus)).substr(2));
    return join(texts, " ");
}

std::string masks(const StepCpus& step, std::string_view bind, std::size_t tasks,
                  std::uint32_t cpus = 1, std::string_view distribution = "") {
    return masks(step, {.bind = bind.empty() ? TaskBind{} : parse_cpu_bind(bind).value(),
                        .tasks = tasks,
                        .cpus_per_task = cpus,
                        .distribution = cpu_distribution_of(distribution)});
}

const StepCpus kNode = whole(machine(2, 4, 2));

TEST(TaskCpus, AutomaticBindingTakesTheLevelThatMatches) {
    EXPECT_EQ(masks(kNode, "", 2), "f0f f0f0");  // as many tasks as sockets
    EXPECT_EQ(masks(kNode, "", 8), "101 1010 202 2020 404 4040 808 8080");
    EXPECT_EQ(masks(kNode, "", 16), "1 10 100 1000 2 20 200 2000 4 40 400 4000 8 80 800 8000");
    EXPECT_EQ(masks(kNode, "", 2, 8), "f0f f0f0");
    EXPECT_EQ(masks(kNode, "", 4, 4), "303 3030 c0c c0c0");
    EXPECT_EQ(masks(kNode, "", 8, 2), masks(kNode, "", 8));
    EXPECT_EQ(masks(kNode, "", 1, 16), "ffff");
}

TEST(TaskCpus, WithoutAMatchATaskMayUseAllOfTheStep) {
    EXPECT_EQ(masks(kNode, "", 1), "ffff");
    EXPECT_EQ(masks(kNode, "", 3), "ffff ffff ffff");
    EXPECT_EQ(masks(part({0, 1, 8, 9}), "", 3), "303 303 303");
    EXPECT_EQ(masks(part({0, 1, 4, 5, 8, 9, 12, 13}), "", 2, 3), "3333 3333");
    EXPECT_EQ(bind_tasks(kNode, {.tasks = 3}).value().kind, BindKind::None);
}

TEST(TaskCpus, AFallbackIsForStepsWithoutAMatch) {
    auto with = [](std::size_t tasks) {
        return masks(kNode, {.fallback = BindKind::Cores, .tasks = tasks});
    };
    EXPECT_EQ(with(3), "101 1010 202");
    EXPECT_EQ(with(2), "f0f f0f0");
    EXPECT_EQ(with(16), masks(kNode, "threads", 16));
}

TEST(TaskCpus, APartOfANodeIsMatchedByItself) {
    EXPECT_EQ(masks(part({0, 8}), "", 1), "101");
    EXPECT_EQ(masks(part({0, 8}), "", 2), "1 100");
    EXPECT_EQ(masks(part({0, 1, 8, 9}), "", 4), "1 100 2 200");
    EXPECT_EQ(masks(part({0, 1, 4, 5, 8, 9, 12, 13}), "", 4, 2), "101 1010 202 2020");
    EXPECT_EQ(masks(part({0, 1, 4, 8, 9, 12}), "", 6), "1 10 100 1000 2 200");
    EXPECT_EQ(masks(part({0, 1, 4, 8, 9, 12}), "none", 2), "1313 1313");
}

TEST(TaskCpus, MasksAreMadeForEachLevel) {
    EXPECT_EQ(masks(kNode, "sockets", 3), "f0f f0f0 f0f");
    EXPECT_EQ(masks(kNode, "cores", 3), "101 1010 202");
    EXPECT_EQ(masks(kNode, "threads", 3), "1 10 100");
    EXPECT_EQ(masks(kNode, "threads", 2, 3), "103 1030");
    EXPECT_EQ(masks(kNode, "cores", 2, 3), "303 3030");
    EXPECT_EQ(masks(kNode, "ldoms", 2), "f0f f0f0");  // a domain for each socket
    // Only the step's CPUs of a socket.
    EXPECT_EQ(masks(part({0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13}), "sockets", 3, 4),
              "f0f 3030 f0f");
}

TEST(TaskCpus, MoreTasksThanCoresBeginAgain) {
    EXPECT_EQ(masks(kNode, "cores", 10), "101 1010 202 2020 404 4040 808 8080 101 1010");
    EXPECT_EQ(masks(part({0, 1}), "threads", 3), "1 2 1");
    EXPECT_EQ(masks(part({0, 1, 2}), "threads", 2, 2), "3 5");
    EXPECT_EQ(masks(part({0, 1}), "threads", 1, 5), "3");
}

TEST(TaskCpus, BlockFillsASocketFirst) {
    EXPECT_EQ(masks(kNode, "", 8, 1, "block:block"), "101 202 404 808 1010 2020 4040 8080");
    EXPECT_EQ(masks(kNode, "", 4, 4, "block:block"), "303 c0c 3030 c0c0");
    EXPECT_EQ(masks(kNode, "threads", 3, 1, "block:block"), "1 100 2");
    EXPECT_EQ(masks(kNode, "threads", 2, 6, "block:block"), "707 3838");
    EXPECT_EQ(masks(kNode, "sockets", 9, 1, "cyclic:block"),
              "f0f f0f f0f f0f f0f f0f f0f f0f f0f0");
}

TEST(TaskCpus, FcyclicSpreadsTheCpusOfATask) {
    EXPECT_EQ(masks(kNode, "", 4, 4, "block:fcyclic"), "1111 2222 4444 8888");
    EXPECT_EQ(masks(kNode, "threads", 4, 2, "block:fcyclic"), "11 1100 22 2200");
    EXPECT_EQ(masks(part({0, 4, 8, 12}), "cores", 2, 2, "block:fcyclic"), "1111 1111");
    EXPECT_EQ(masks(kNode, "cores", 4, 1, "block:fcyclic"), "101 1010 202 2020");
    EXPECT_EQ(masks(part({0, 1, 4, 5, 8, 9, 12, 13}), "sockets", 2, 4, "block:fcyclic"),
              "3333 3333");
}

TEST(TaskCpus, CyclicOverCoresUsesFirstThreadsFirst) {
    EXPECT_EQ(masks(kNode, "threads", 5, 1, "block:block:cyclic"), "1 2 4 8 100");
    EXPECT_EQ(masks(kNode, "threads", 2, 2, "block:cyclic:cyclic"), "3 30");
}

TEST(TaskCpus, ATaskKeepsItsCpusTogetherWhereItCan) {
    // 4 CPUs on one socket and 2 on the other: 3 of a task are on the first one.
    EXPECT_EQ(masks(part({0, 1, 2, 3, 4, 5}), "threads", 2, 3), "7 38");
    EXPECT_EQ(masks(part({0, 4, 5, 6, 7}), "threads", 2, 2), "30 c0");
}

TEST(TaskCpus, OneThreadOfEachCore) {
    auto one_thread = [](std::size_t tasks, std::uint32_t cpus, BindKind kind) {
        return masks(kNode, {.bind = {.kind = kind, .listed = {}},
                             .tasks = tasks,
                             .cpus_per_task = cpus,
                             .one_thread_per_core = true});
    };
    EXPECT_EQ(one_thread(8, 1, BindKind::Threads), "1 10 2 20 4 40 8 80");
    EXPECT_EQ(one_thread(4, 2, BindKind::Unset), "3 30 c c0");
    EXPECT_EQ(one_thread(3, 1, BindKind::Unset), "ff ff ff");
}

TEST(TaskCpus, ListsAreUsedInTurnAndRepeated) {
    EXPECT_EQ(masks(kNode, "map_cpu:0,3", 3), "1 8 1");
    EXPECT_EQ(masks(kNode, "map_cpu:1*2,5", 4), "2 2 20 2");
    EXPECT_EQ(masks(kNode, "mask_cpu:0x3,c", 3), "3 c 3");
    EXPECT_EQ(masks(kNode, "mask_cpu:0,1", 2), "ffff 1");
    EXPECT_EQ(masks(part({0, 1, 8}), "map_cpu:0,1", 2), "1 2");
}

TEST(TaskCpus, ListsOutsideTheStepAreRefused) {
    constexpr const char* kOutside =
        "CPU binding outside of job step allocation, allocated CPUs are: 0x103.";
    EXPECT_EQ(masks(part({0, 1, 8}), "map_cpu:0,7", 2), kOutside);
    EXPECT_EQ(masks(part({0, 1, 8}), "mask_cpu:ff", 1), kOutside);
    EXPECT_EQ(masks(part({0, 1, 8}), "map_cpu:0,7", 1), "1");  // not used
    EXPECT_EQ(bind_tasks(part({0}), {.bind = parse_cpu_bind("map_cpu:1").value()}).error().code,
              ErrorCode::LaunchFailed);
}

TEST(TaskCpus, DomainsNeedTheWholeNode) {
    const StepCpus node = whole(machine(2, 4, 1, 2));  // 4 domains of 2 cores
    EXPECT_EQ(masks(node, "rank_ldom", 5), "3 c 30 c0 3");
    EXPECT_EQ(masks(node, "map_ldom:3,0", 2), "c0 3");
    EXPECT_EQ(masks(node, "mask_ldom:5,a", 2), "33 cc");
    EXPECT_EQ(masks(node, "ldoms", 3), "3 c 30");
    EXPECT_EQ(masks(node, "map_ldom:4", 1),
              "NUMA node 4 does not exist; cannot bind local task 0 to it (--cpu-bind=map_ldom)");
    EXPECT_EQ(masks(part({0, 1}), "rank_ldom", 1), "Entire node must be allocated for rank_ldom");
    EXPECT_EQ(masks(part({0, 1}), "map_ldom:0", 1), "Entire node must be allocated for map_ldom:0");
}

TEST(TaskCpus, OneSocketWithoutThreads) {
    const StepCpus small = whole(machine(1, 2, 1));
    EXPECT_EQ(masks(small, "", 1), "3");
    EXPECT_EQ(masks(small, "", 2), "1 2");
    EXPECT_EQ(masks(small, "", 1, 2), "3");
    EXPECT_EQ(masks(small, "cores", 1), "1");
    EXPECT_EQ(masks(small, "", 3), "3 3 3");
}

TEST(TaskCpus, EveryTaskOfALargeNodeHasItsOwn) {
    const StepCpus large = whole(machine(2, 8, 2));
    for (const auto& [tasks, cpus] : {std::pair(32u, 1u), {16u, 2u}, {8u, 4u}, {4u, 8u}}) {
        const BoundTasks bound = bind_tasks(large, {.tasks = tasks, .cpus_per_task = cpus}).value();
        std::set<std::uint32_t> used;
        for (const Numbers& mine : bound.cpus) {
            EXPECT_EQ(mine.size(), cpus);
            used.insert(mine.begin(), mine.end());
        }
        EXPECT_EQ(used.size(), 32u) << tasks;
    }
}

TEST(TaskCpus, CpusCloseToTheDevicesOfATaskArePreferred) {
    const Numbers first = {0, 1, 2, 3, 8, 9, 10, 11}, second = {4, 5, 6, 7, 12, 13, 14, 15};
    auto near = [&](std::vector<Numbers> near) {
        return masks(kNode, {.tasks = 4, .cpus_per_task = 4, .near = std::move(near)});
    };
    EXPECT_EQ(near({first, first, second, second}), "303 c0c 3030 c0c0");
    EXPECT_EQ(near({second, second, first, first}), "3030 c0c0 303 c0c");
    EXPECT_EQ(near({first, first, first, second}), "303 c0c 3030 c0c0");  // no room is left there
    EXPECT_EQ(near({}), "303 3030 c0c c0c0");
}

TEST(TaskCpus, TheTextOfADistribution) {
    EXPECT_EQ(cpu_distribution_of(""), (CpuDistribution{}));
    EXPECT_EQ(cpu_distribution_of("cyclic"), (CpuDistribution{}));
    EXPECT_EQ(cpu_distribution_of("block:block,pack"), (CpuDistribution{.sockets = Spread::Block}));
    EXPECT_EQ(cpu_distribution_of("block:fcyclic:cyclic"),
              (CpuDistribution{.sockets = Spread::Fcyclic, .cores = Spread::Cyclic}));
    EXPECT_EQ(cpu_distribution_of("block:*:fcyclic"),
              (CpuDistribution{.sockets = Spread::Cyclic, .cores = Spread::Fcyclic}));
}

}  // namespace
}  // namespace sluice
