// model/reservation_test.cc: flags of reservations and their times.
#include "model/reservation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "model/errors.h"
#include "model/times.h"

namespace sluice {
namespace {

TEST(Reservations, PrintTheirFlagsInSlurmsOrder) {
    ReservationChange change;
    ASSERT_TRUE(parse_reservation_flags("magnetic,PURGE_COMP=10,maint,ignore_jobs", 0, change));
    Reservation reservation{.flags = change.flags_set | kResvSpecNodes,
                            .purge_after = change.purge_after};
    EXPECT_EQ(print_reservation_flags(reservation),
              "MAINT,IGNORE_JOBS,SPEC_NODES,PURGE_COMP=00:10:00,MAGNETIC");
}

TEST(Reservations, RefuseFlagsByName) {
    for (const char* bad : {"foo", "SPEC_NODES", "MAINT=1", "PURGE_COMP=x", "", "MAINT,,FLEX"}) {
        ReservationChange change;
        EXPECT_FALSE(parse_reservation_flags(bad, 0, change)) << bad;
    }
    ReservationChange change;
    change.verb = ReservationChange::Verb::Update;
    EXPECT_EQ(parse_reservation_flags("FIRST_CORES", '-', change).error().detail, "-FIRST_CORES");
    EXPECT_FALSE(parse_reservation_flags("OVERLAP", '-', change));
    EXPECT_TRUE(parse_reservation_flags("DAILY", '-', change));
    EXPECT_EQ(change.flags_cleared, kResvDaily);
}

TEST(Reservations, RepeatAtTheSameTimeOfDay) {
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    const Time now = from_unix(1'800'000'000);
    const Time friday = parse_moment("2026-10-23T08:00:00", now).value();
    auto next = [&](std::uint32_t flags) { return print_moment(next_occurrence(friday, flags)); };
    EXPECT_EQ(next(kResvHourly), "2026-10-23T09:00:00");
    EXPECT_EQ(next(kResvDaily), "2026-10-24T08:00:00");
    EXPECT_EQ(next(kResvWeekend), "2026-10-24T08:00:00");
    EXPECT_EQ(next(kResvWeekday), "2026-10-26T08:00:00");  // summer time has ended
    EXPECT_EQ(next(kResvWeekly), "2026-10-30T08:00:00");
    setenv("TZ", "UTC", 1);
    tzset();
}

}  // namespace
}  // namespace sluice
