#include "core/limits/reservation_table.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

Reservation named(const std::string& name, std::uint32_t number) {
    Reservation reservation;
    reservation.name = name;
    reservation.number = number;
    return reservation;
}

TEST(ReservationTable, KeepsTheOrderOfCreation) {
    ReservationTable table;
    table.put(named("b", 1));
    table.put(named("a", 2));
    Reservation changed = named("b", 1);
    changed.licenses = "matlab";
    table.put(changed);
    ASSERT_EQ(table.all().size(), 2u);
    EXPECT_EQ(table.all()[0].name, "b");
    EXPECT_EQ(table.find("b")->licenses, "matlab");
    EXPECT_EQ(table.find("c"), nullptr);
}

TEST(ReservationTable, TellsOnceWhatHasChanged) {
    ReservationTable table;
    table.put(named("a", 1));
    table.put(named("b", 2));
    table.drop("a");
    EXPECT_EQ(table.take_changed(), (std::set<std::string>{"a", "b"}));
    EXPECT_TRUE(table.take_changed().empty());
}

TEST(ReservationTable, AReaderKeepsTheListItHas) {
    ReservationTable table;
    table.put(named("a", 1));
    std::shared_ptr<const ReservationTable::List> seen = table.shared();
    table.drop("a");
    EXPECT_EQ(seen->size(), 1u);
    EXPECT_TRUE(table.all().empty());
}

TEST(ReservationTable, NumbersAreUniqueAndNodesExist) {
    ReservationTable table;
    table.put(named("a", 1));
    Reservation second = named("b", 2);
    second.nodes = {NodeIndex{3}};
    table.put(second);
    EXPECT_EQ(table.broken(4), std::nullopt);
    EXPECT_EQ(table.broken(3), "reservation b has a node that does not exist");
    table.put(named("c", 2));
    EXPECT_EQ(table.broken(4), "reservation c is out of order");
}

}  // namespace
}  // namespace sluice
