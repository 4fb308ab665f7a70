// config/values_test.cc: values of keys, by kind.
#include "config/values.h"

#include <gtest/gtest.h>

#include <set>

#include "config/cgroup_conf.h"
#include "config/keys.h"

namespace sluice {
namespace {

std::string printed(Kind kind, std::string_view text, std::string_view choices = "") {
    Result<Value> value = parse_value(kind, choices, text);
    return value ? print_value(kind, choices, text) : "error: " + value.error().detail;
}

TEST(Values, PrintAsShowConfigDoes) {
    EXPECT_EQ(printed(Kind::Seconds, "5"), "5 sec");
    EXPECT_EQ(printed(Kind::SecondsOrNever, "-1"), "INFINITE");
    EXPECT_EQ(printed(Kind::Minutes, "7"), "7 min");
    EXPECT_EQ(printed(Kind::Minutes, "unlimited"), "UNLIMITED");
    EXPECT_EQ(printed(Kind::YesNo, "TRUE"), "yes");
    EXPECT_EQ(printed(Kind::Switch, "yes"), "1");
    EXPECT_EQ(printed(Kind::Duration, "7-0"), "7-00:00:00");
    EXPECT_EQ(printed(Kind::Level, "3"), "info");
    EXPECT_EQ(printed(Kind::Level, "Debug2"), "debug2");
    EXPECT_EQ(printed(Kind::Memory, "4G"), "4096");
    EXPECT_EQ(printed(Kind::Percentage, "101.5"), "101.5%");
    EXPECT_EQ(printed(Kind::Words, "Jobs,USERS", "jobs|users"), "jobs,users");
    EXPECT_EQ(printed(Kind::NodesPerMinute, "300"), "300 nodes/min");
}

TEST(Values, BadOnesSayWhatWouldBeRight) {
    EXPECT_EQ(printed(Kind::Seconds, "5x"), "error: expected a number of seconds");
    EXPECT_EQ(printed(Kind::Seconds, "-3"), "error: expected a number of seconds");
    EXPECT_EQ(printed(Kind::YesNo, "maybe"), "error: expected yes or no");
    EXPECT_EQ(printed(Kind::Word, "c", "a|b"), "error: expected one of a, b");
    EXPECT_EQ(printed(Kind::Words, "a,c", "a|b"), "error: 'c' is unknown, expected one of a, b");
    for (std::string_view text : {"", "0", "65536", "x", "1-2", "-1"}) {
        EXPECT_FALSE(parse_value(Kind::Port, "", text)) << text;
    }
    EXPECT_FALSE(parse_value(Kind::Ports, "", "7-5"));
    EXPECT_FALSE(parse_value(Kind::Number, "", "4294967296"));
    EXPECT_FALSE(parse_value(Kind::Memory, "", "4K"));
    EXPECT_FALSE(parse_value(Kind::Percentage, "", "nan"));
    EXPECT_FALSE(parse_value(Kind::OverSubscribe, "", "FORCE:0"));
    EXPECT_FALSE(parse_value(Kind::Count, "", "99999999999P"));
}

TEST(Values, NumberLists) {
    EXPECT_EQ(parse_numbers("[7-9,3]", 10), (std::vector<std::uint32_t>{7, 8, 9, 3}));
    EXPECT_EQ(parse_numbers("1-4000000000", 100), std::nullopt);
    EXPECT_EQ(parse_numbers("3-1", 100), std::nullopt);
    EXPECT_EQ(parse_numbers("", 100), std::nullopt);
}

TEST(Values, ANearMissIsSuggested) {
    std::vector<std::string_view> names{"KillWait", "MinJobAge"};
    EXPECT_EQ(suggestion("KilWait", names), " (did you mean 'KillWait'?)");
    EXPECT_EQ(suggestion("minjobage", names), " (did you mean 'MinJobAge'?)");
    EXPECT_EQ(suggestion("Foo", names), "");
}

// A row whose own default does not parse, or two rows of one name, would be a slip in the table.
template <typename Target>
void check_table(std::span<const Key<Target>> keys) {
    std::set<std::string> names;
    for (const Key<Target>& key : keys) {
        EXPECT_TRUE(names.insert(to_lower(key.name)).second) << key.name;
        if (key.kind != Kind::Word) continue;
        EXPECT_FALSE(key.choices.empty()) << key.name;
        EXPECT_TRUE(key.unset.empty() || key.unset == "(null)" ||
                    parse_value(key.kind, key.choices, key.unset))
            << key.name;
    }
}

TEST(Values, TablesAreConsistent) {
    check_table(slurm_conf_keys());
    check_table(cgroup_conf_keys());
}

}  // namespace
}  // namespace sluice
