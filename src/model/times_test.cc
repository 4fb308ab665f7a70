// model/times_test.cc: time limits, durations and moments.
#include "model/times.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <ctime>

#include "model/errors.h"

namespace sluice {
namespace {

// Sunday 2026-11-15, 20:35:32 in UTC.
constexpr Time kNow = from_unix(1794774932);

class Moments : public testing::Test {
protected:
    void SetUp() override { use("UTC"); }
    static void use(const char* zone) {
        setenv("TZ", zone, 1);
        tzset();
    }
    static std::string read(std::string_view text, PassedTime passed = PassedTime::MeansNext) {
        Result<Time> time = parse_moment(text, kNow, passed);
        return time ? print_moment(*time) : "error";
    }
};

std::string limit(std::string_view text) {
    Result<TimeLimit> result = parse_time_limit(text);
    return result ? print_time_limit(*result) : "error";
}

struct Pair {
    std::string_view given, expected;
};

TEST(TimeLimits, AreReadInEveryDocumentedForm) {
    constexpr Pair kPairs[] = {
        {"0", "00:00:00"},         {"5", "00:05:00"},          {"1440", "1-00:00:00"},
        {"1:30", "00:01:30"},      {"90:00", "01:30:00"},      {"1:90", "00:02:30"},
        {"1:00:00", "01:00:00"},   {"25:00:00", "1-01:00:00"}, {"1-0", "1-00:00:00"},
        {"1-", "1-00:00:00"},      {"1-25", "2-01:00:00"},     {"1-1:30", "1-01:30:00"},
        {"1-1:1:1", "1-01:01:01"}, {"UNLIMITED", "UNLIMITED"}, {"infinite", "UNLIMITED"},
        {"-1", "UNLIMITED"},
    };
    for (const Pair& pair : kPairs) EXPECT_EQ(limit(pair.given), pair.expected) << pair.given;
}

TEST(TimeLimits, OfJobsAreWholeMinutes) {
    EXPECT_EQ(parse_job_time_limit("1:30")->length(), Seconds{120});
    EXPECT_EQ(parse_job_time_limit("0:05")->length(), Seconds{60});
    EXPECT_EQ(parse_job_time_limit("2")->length(), Seconds{120});
    EXPECT_EQ(parse_job_time_limit("0")->length(), Seconds{0});
    EXPECT_TRUE(parse_job_time_limit("UNLIMITED")->unlimited());
    EXPECT_FALSE(parse_job_time_limit("x"));
}

TEST(TimeLimits, RefuseTheRestAndNameIt) {
    for (std::string_view bad :
         {"", "a", "1a", "1:", ":1", "1::", "1.5", " 5", "5 ", "1-:30", "1-2-3", "1-1:", "1:2:3:4",
          "+5", "-2", "99999999999", "18446744073709551616"}) {
        Result<TimeLimit> result = parse_time_limit(bad);
        ASSERT_FALSE(result) << bad;
        EXPECT_EQ(result.error().detail, "time limit \"" + std::string(bad) + "\"");
    }
}

TEST(TimeLimits, AreShorterInSqueue) {
    EXPECT_EQ(print_duration_short(Seconds(0)), "0:00");
    EXPECT_EQ(print_duration_short(Seconds(60)), "1:00");
    EXPECT_EQ(print_duration_short(Seconds(3599)), "59:59");
    EXPECT_EQ(print_duration_short(Seconds(3600)), "1:00:00");
    EXPECT_EQ(print_duration_short(Seconds(172800)), "2-00:00:00");
    EXPECT_EQ(print_duration_short(Seconds(-1)), "INVALID");
}

TEST(TimeLimits, ReadBackWhatTheyPrint) {
    EXPECT_TRUE(rc::check("parse(print(x)) == x", [] {
        TimeLimit limit(Seconds(*rc::gen::inRange<std::int64_t>(0, 400'000'000)));
        RC_ASSERT(*parse_time_limit(print_time_limit(limit)) == limit);
    }));
}

TEST_F(Moments, AreReadAsSbatchReadsThem) {
    constexpr Pair kPairs[] = {
        {"now", "2026-11-15T20:35:32"},
        {"now+60", "2026-11-15T20:36:32"},
        {"now+1hour", "2026-11-15T21:35:32"},
        {"now + 2 hours", "2026-11-15T22:35:32"},
        {"now+1week", "2026-11-22T20:35:32"},
        {"now-60", "2026-11-15T20:34:32"},
        {"tomorrow", "2026-11-16T00:00:00"},
        {"midnight", "2026-11-16T00:00:00"},
        {"NOON", "2026-11-16T12:00:00"},
        {"elevenses", "2026-11-16T11:00:00"},
        {"fika", "2026-11-16T15:00:00"},
        {"teatime", "2026-11-16T16:00:00"},
        {"16:00", "2026-11-16T16:00:00"},
        {"23:59:30", "2026-11-15T23:59:30"},
        {"5:30pm", "2026-11-16T17:30:00"},
        {"5pm", "2026-11-16T17:00:00"},
        {"12am", "2026-11-16T00:00:00"},
        {"12pm", "2026-11-16T12:00:00"},
        {"010127", "2027-01-01T00:00:00"},
        {"01/26", "2027-01-26T00:00:00"},
        {"12/31", "2026-12-31T00:00:00"},
        {"1/2/27", "2027-01-02T00:00:00"},
        {"01.26.27", "2027-01-26T00:00:00"},
        {"2027-01-31", "2027-01-31T00:00:00"},
        {"2027-01-31T12:00", "2027-01-31T12:00:00"},
        {"2027-01-31T12:00:30", "2027-01-31T12:00:30"},
        {"2027-01-31 12:00", "2027-01-31T12:00:00"},
        {"12:00 2027-01-31", "2027-01-31T12:00:00"},
        {"2027-01-31-10:00", "2027-01-31T10:00:00"},
        {"16:00 tomorrow", "2026-11-16T16:00:00"},
        {"tomorrowTnoon", "2026-11-16T12:00:00"},
        {"tomorrow teatime", "2026-11-16T16:00:00"},
        {"uts1900000000", "2030-03-17T17:46:40"},
    };
    for (const Pair& pair : kPairs) EXPECT_EQ(read(pair.given), pair.expected) << pair.given;
}

TEST_F(Moments, RefuseTheRestAndSayWhereItWentWrong) {
    struct Wrong {
        std::string_view text;
        int position;
    };
    constexpr Wrong kWrong[] = {
        {"", 0},
        {"x", 0},
        {"nowx", 3},
        {"now+", 3},
        {"now+1h", 4},
        {"now+10min", 5},
        {"now+1month", 4},
        {"now+1hourx", 9},
        {"24:00", 0},
        {"12:61", 3},
        {"12:00:99", 6},
        {"16:", 3},
        {"16:0", 4},
        {"13pm", 0},
        {"5 pm", 1},
        {"tomorrowx", 8},
        {"midnight foo", 9},
        {"2027-1-5", 0},
        {"2027-13-01", 5},
        {"2027-02-32", 8},
        {"2027-02-30", 10},
        {"2027-01-31x", 10},
        {"2027-01-31T25:00", 11},
        {"2027-01-31T12", 13},
        {"tomorrow+1hour", 8},
        {"1234", 0},
        {"123", 0},
        {"1/32", 2},
        {"13/01", 0},
        {"013227", 2},
        {"12/31/2026", 8},
        {"2026-12", 0},
        {"noon noon", 9},
        {"uts", 0},
        {"uts99999999999999999999", 0},
        {"now+99999999999999", 3},
    };
    for (const Wrong& wrong : kWrong) {
        Result<Time> time = parse_moment(wrong.text, kNow);
        ASSERT_FALSE(time) << wrong.text;
        EXPECT_EQ(time.error().detail, fmt::format("Invalid time specification (pos={}): {}",
                                                   wrong.position, wrong.text));
    }
}

TEST_F(Moments, LookBackForSacct) {
    EXPECT_EQ(read("16:00", PassedTime::IsMeant), "2026-11-15T16:00:00");
    EXPECT_EQ(read("01/26", PassedTime::IsMeant), "2026-01-26T00:00:00");
    EXPECT_EQ(read("today", PassedTime::IsMeant), "2026-11-15T00:00:00");
}

TEST_F(Moments, AreLocal) {
    use("America/New_York");
    EXPECT_EQ(to_unix(*parse_moment("2026-07-01T12:00", kNow)), 1782921600);
    EXPECT_EQ(print_moment(kNow), "2026-11-15T15:35:32");
}

TEST_F(Moments, ObeySlurmTimeFormat) {
    auto shown = [](Seconds later, std::string_view format) {
        return print_moment(kNow + later, format, kNow);
    };
    constexpr Seconds kDay{86400};
    EXPECT_EQ(shown(Seconds(3600), "relative"), "21:35:32");
    EXPECT_EQ(shown(kDay, "relative"), "Tomorr 20:35");
    EXPECT_EQ(shown(-kDay, "relative"), "Ystday 20:35");
    EXPECT_EQ(shown(6 * kDay, "relative"), "Sat 20:35");
    EXPECT_EQ(shown(7 * kDay, "relative"), "22 Nov 20:35");
    EXPECT_EQ(shown(100 * kDay, "relative"), "23 Feb 2027");
    EXPECT_EQ(shown(Seconds(0), "%a %T"), "Sun 20:35:32");
    EXPECT_EQ(shown(Seconds(0), "standard"), "2026-11-15T20:35:32");
    EXPECT_EQ(shown(Seconds(0), ""), "2026-11-15T20:35:32");
}

TEST_F(Moments, ReadBackWhatTheyPrint) {
    EXPECT_TRUE(rc::check("parse(print(x)) == x", [] {
        Time time = from_unix(*rc::gen::inRange<std::int64_t>(0, 4'000'000'000));
        RC_ASSERT(*parse_moment(print_moment(time), kNow) == time);
    }));
}

}  // namespace
}  // namespace sluice
