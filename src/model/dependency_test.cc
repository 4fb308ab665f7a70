// model/dependency_test.cc: --dependency, read and printed.
#include "model/dependency.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/errors.h"
#include "model/license.h"
#include "model/sizes.h"

namespace sluice {
namespace {

std::string shown(std::string_view text) {
    Result<Dependency> dependency = parse_dependency(text);
    return dependency ? print_dependency(*dependency) : to_string(dependency.error());
}

TEST(Dependencies, AreShownAsSqueueShowsThem) {
    EXPECT_EQ(shown("afterok:1:3"), "afterok:1(unfulfilled),afterok:3(unfulfilled)");
    EXPECT_EQ(shown("after:3+5:1"), "after:3+5(unfulfilled),after:1+5(unfulfilled)");
    EXPECT_EQ(shown("afterany:3?afterok:1"), "afterany:3(unfulfilled)?afterok:1(unfulfilled)");
    EXPECT_EQ(shown("AFTERCORR:2_*"), "aftercorr:2_*(unfulfilled)");
    EXPECT_EQ(shown("afterok:2_7"), "afterok:2_7(unfulfilled)");
    EXPECT_EQ(shown("singleton,afternotok:3"), "singleton(unfulfilled),afternotok:3(unfulfilled)");
    EXPECT_EQ(shown("12"), "afterany:12(unfulfilled)");
    EXPECT_EQ(shown("afterok:3:3,afterok:3"), "afterok:3(unfulfilled)");
    EXPECT_EQ(shown(""), "");
    EXPECT_EQ(shown("none"), "");
}

TEST(Dependencies, WhatMakesNoSenseIsRefusedWithItsText) {
    for (const char* text : {"foo:12",
                             "afterok:",
                             "afterok",
                             "afterok:x",
                             "afterok:3,",
                             ",",
                             "?",
                             "afterok:0",
                             "afterok:3?",
                             "afterok:1,afterok:2?afterok:3",
                             "afterok:3+5",
                             "after:3+",
                             "after:3+99999999999",
                             "singleton:3",
                             "afterok:3_",
                             "afterok:3_x",
                             "afterok:-3",
                             "afterok:99999999999",
                             "afterok:3 ,afterok:4",
                             "afterok:12(unfulfilled)"}) {
        EXPECT_EQ(shown(text), std::string("Job dependency problem: --dependency=") + text);
    }
    EXPECT_EQ(shown("expand:3"), "expand:3(unfulfilled)");
}

TEST(Dependencies, AnyOfSeveralIsLostWithTheLastAllOfThemWithTheFirst) {
    for (const char* text : {"afterok:1?afterok:2", "afterok:1,afterok:2"}) {
        Dependency dependency = parse_dependency(text).value();
        EXPECT_FALSE(dependency.never());
        dependency.left[0].failed = true;
        EXPECT_EQ(dependency.never(), !dependency.any);
        dependency.left[1].failed = true;
        EXPECT_TRUE(dependency.never());
    }
}

TEST(Dependencies, ReadWhatTheyPrint) {
    EXPECT_TRUE(rc::check([] {
        Dependency dependency;
        dependency.any = *rc::gen::arbitrary<bool>();
        const auto count = *rc::gen::inRange<std::size_t>(2, 6);
        for (std::uint32_t i = 1; i <= count; ++i) {
            Condition condition{.kind = static_cast<DependencyKind>(*rc::gen::inRange(0, 6)),
                                .job = JobId{i}};
            if (*rc::gen::arbitrary<bool>())
                condition.task = *rc::gen::inRange(0u, kArrayTaskMax);
            else
                condition.all_tasks = *rc::gen::arbitrary<bool>();
            if (condition.kind == DependencyKind::After)
                condition.delay = Minutes{*rc::gen::inRange(0, 1000)};
            dependency.left.push_back(condition);
        }
        std::string text = print_dependency(dependency);
        for (std::size_t at; (at = text.find("(unfulfilled)")) != std::string::npos;)
            text.erase(at, 13);
        RC_ASSERT(parse_dependency(text).value() == dependency);
    }));
}

TEST(Licenses, AreNamesWithCounts) {
    LicenseDemand all = parse_licenses("matlab:2,ansys,matlab=3,none:0").value();
    EXPECT_EQ(print_licenses(all.wanted), "matlab:5,ansys:1");
    EXPECT_FALSE(all.any);
    LicenseDemand one = parse_licenses("a|b:2").value();
    EXPECT_EQ(print_licenses(one.wanted), "a:1,b:2");
    EXPECT_TRUE(one.any);
    for (const char* text : {"a;b", "a:", "a:x", ":1", "a,,b", "a|b,c", "a:-1", "a:99999999999"}) {
        EXPECT_EQ(parse_licenses(text).error().code, ErrorCode::InvalidLicense) << text;
    }
}

// As many conditions as a request may have take milliseconds; one more is refused.
TEST(Dependencies, HaveAsManyConditionsAsTheLimitAllows) {
    std::string text = "afterok";
    for (std::size_t job = 1; job <= sizes::kConditionCount; ++job)
        text += ":" + std::to_string(job);
    EXPECT_EQ(parse_dependency(text)->left.size(), sizes::kConditionCount);
    const Result<Dependency> refused = parse_dependency(text + ":99999");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("more than 2048 conditions"), std::string::npos);
    EXPECT_EQ(parse_dependency("afterok:1:2:1,afterok:2")->left.size(), 2u) << "each once";
}

TEST(Licenses, HaveAsManyNamesAsTheLimitAllows) {
    std::string text = "a";
    for (std::size_t name = 1; name < sizes::kLicenseCount; ++name)
        text += ",a" + std::to_string(name);
    EXPECT_EQ(parse_licenses(text)->wanted.size(), sizes::kLicenseCount);
    EXPECT_FALSE(parse_licenses(text + ",b"));
}

}  // namespace
}  // namespace sluice
