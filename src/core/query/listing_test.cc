// What listings say of what jobs and reservations hold.
#include "core/query/listing.h"

#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

// A text of every row.
template <typename Enum>
std::vector<std::string> texts_of(Scenario& world, TableKind kind, Enum column) {
    auto table = list_rows(*world.cluster().take_snapshot(world.now()), kind,
                           {static_cast<ColumnId>(column)}, {});
    if (!table) return {table.error().detail};
    std::vector<std::string> texts;
    for (std::size_t row = 0; row < table->rows(); ++row) {
        texts.emplace_back(table->text(row, column));
    }
    return texts;
}

TEST(Listing, AJobsCpusComeWithTheLayoutOfEachNode) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=8 cores=2 threads=2
        nodes     n2 cpus=4
        submit    j nodes=2 tasks=2 exclusive time=10
        pass
        expect    j running n[1-2]
    )"),
              "");
    EXPECT_EQ(texts_of(world, TableKind::Jobs, JobColumn::AllocLayout),
              std::vector<std::string>{"2:2:2\n4:1:1"});
}

TEST(Listing, NamedNodesComeInOrder) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n[1-5] cpus=4
        submit    j nodes=3 nodelist=n3,n1,n2,n1 exclude=n5,n4 hold
    )"),
              "");
    EXPECT_EQ(texts_of(world, TableKind::Jobs, JobColumn::ReqNodes),
              std::vector<std::string>{"n[1-3]"});
    world.run("submit k hold");
    EXPECT_EQ(texts_of(world, TableKind::Jobs, JobColumn::ExcNodes),
              (std::vector<std::string>{"n[4-5]", ""}));
}

TEST(Listing, WhoIsExpectedToStartIsExpectedToEnd) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=4
        submit    j begin=30 time=10
    )"),
              "");
    auto table = list_rows(*world.cluster().take_snapshot(world.now()), TableKind::Jobs,
                           {static_cast<ColumnId>(JobColumn::EndTime)}, {});
    ASSERT_TRUE(table);
    EXPECT_EQ(table->number(0, JobColumn::EndTime), to_unix(world.now()) + 40 * 60);
}

TEST(Listing, WhoWaitsInTheQueueWasLookedAtByTheLastPass) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n1 cpus=1
        submit    runs
        submit    held hold
        submit    later begin=30
        at        5
        submit    waits
        pass
        expect    runs running
        expect    waits pending Resources
        at        6
        submit    joins
        pass
    )"),
              "");
    auto table = list_rows(*world.cluster().take_snapshot(world.now()), TableKind::Jobs,
                           {static_cast<ColumnId>(JobColumn::LastSchedEval)}, {});
    ASSERT_TRUE(table);
    ASSERT_EQ(table->rows(), 5u);
    const std::int64_t now = to_unix(world.now());
    EXPECT_EQ(table->number(1, JobColumn::LastSchedEval), kAbsent);
    EXPECT_EQ(table->number(2, JobColumn::LastSchedEval), kAbsent);
    EXPECT_GE(table->number(3, JobColumn::LastSchedEval), now - 60);
    EXPECT_EQ(table->number(4, JobColumn::LastSchedEval), now);
}

TEST(Listing, ReservationsOfFirstCoresSayWhich) {
    Scenario world;
    ASSERT_EQ(world.run(R"(
        nodes     n[1-3] cpus=4
        reserve   first start=10 length=60 count=2 cores=1,3 users=1000 flags=FIRST_CORES
        reserve   any   start=100 length=60 nodes=n3 cores=2 users=1000
    )"),
              "");
    EXPECT_EQ(texts_of(world, TableKind::Reservations, ReservationColumn::CoreIds),
              (std::vector<std::string>{"NodeName=n1 CoreIDs=0\nNodeName=n2 CoreIDs=0-2", ""}));
}

}  // namespace
}  // namespace sluice
