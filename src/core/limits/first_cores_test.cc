// FIRST_CORES: reservations of the lowest numbered cores.
#include "core/limits/first_cores.h"

#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

std::vector<std::uint32_t> cpus_of(Scenario& world, const std::string& name) {
    return world.cluster().job(world.job(name)).run.allocation->nodes.front().cpus;
}

TEST(FirstCores, ItsJobsHaveTheFirstCoresAndOthersTheRest) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=8
        reserve   r start=0 length=60 nodes=n1 cores=3 users=1000 flags=FIRST_CORES
        submit    outside cpus=2 time=10
        submit    inside  cpus=2 time=10 reservation=r
        submit    more    cpus=1 time=10 reservation=r
        submit    toomany cpus=1 time=10 reservation=r
        submit    rest    cpus=3 time=10
        submit    last    cpus=1 time=10
        pass
        expect    outside running n1
        expect    inside  running n1
        expect    more    running n1
        expect    toomany pending Resources
        expect    rest    running n1
        expect    last    pending Resources
    )"),
              "");
    EXPECT_EQ(cpus_of(world, "outside"), (std::vector<std::uint32_t>{3, 4}));
    EXPECT_EQ(cpus_of(world, "inside"), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(cpus_of(world, "more"), (std::vector<std::uint32_t>{2}));
    EXPECT_EQ(cpus_of(world, "rest"), (std::vector<std::uint32_t>{5, 6, 7}));
}

TEST(FirstCores, WhoIsGoneInTimeMayHaveThem) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4
        reserve   r start=30 length=60 nodes=n1 cores=2 users=1000 flags=FIRST_CORES
        submit    short cpus=2 time=20
        submit    long  cpus=2 time=60
        pass
        expect    short running n1
        expect    long  running n1
    )"),
              "");
    EXPECT_EQ(cpus_of(world, "short"), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(cpus_of(world, "long"), (std::vector<std::uint32_t>{2, 3}));
}

TEST(FirstCores, TheyMustBeFree) {
    Scenario world;
    EXPECT_EQ(world.run(R"(
        nodes     n[1-2] cpus=4
        submit    holds cpus=1 time=60 nodelist=n1
        pass
        reserve   busy start=10 length=60 nodes=n1 cores=1 users=1000 flags=FIRST_CORES refused=busy
        reserve   late start=70 length=60 nodes=n1 cores=1 users=1000 flags=FIRST_CORES
        reserve   same start=80 length=60 nodes=n1 cores=1 users=1000 flags=FIRST_CORES refused=busy
        reserve   other start=80 length=60 count=1 cores=1 users=1000 flags=FIRST_CORES
        unreserve late
        unreserve other
        reserve   now start=10 length=60 nodes=n1 cores=2 users=1000 flags=FIRST_CORES,IGNORE_JOBS
    )"),
              "");
}

TEST(FirstCores, CountsAreForEachNode) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n[1-4] cpus=4
        reserve   each start=10 length=60 count=2 cores=3 users=1000 flags=FIRST_CORES
        reserve   list start=100 length=60 count=2 cores=1,2,3 users=1000 flags=FIRST_CORES
        reserve   none start=200 length=60 cores=0 users=1000 flags=FIRST_CORES refused=busy
        reserve   much start=200 length=60 cores=5 users=1000 flags=FIRST_CORES refused=busy
    )"),
              "");
    const std::vector<Reservation>& made = world.cluster().reservations();
    EXPECT_EQ(made[0].cores, (std::vector<NodeCores>{{"n1", 3}, {"n2", 3}}));
    EXPECT_EQ(made[1].cores, (std::vector<NodeCores>{{"n1", 1}, {"n2", 2}, {"n3", 3}}));
}

}  // namespace
}  // namespace sluice
