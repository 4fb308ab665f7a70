#include "surface/accounted_table.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace sluice {
namespace {

TEST(AccountedTable, EveryFieldOfTheListsIsFound) {
    for (const AccountedField& field : accounted_fields()) {
        EXPECT_EQ(find_accounted_field(to_lower(field.name)), &field) << field.name;
        EXPECT_NE(field.width, 0u) << field.name;
        EXPECT_EQ(field.append == nullptr, field.usage.has_value()) << field.name;
    }
    for (std::string_view format :
         {kAccountedDefaultFormat, kAccountedBriefFormat, kAccountedLongFormat}) {
        for (std::string_view name : split(format, ',')) {
            const AccountedField* field = find_accounted_field(name);
            ASSERT_TRUE(field) << name;
            EXPECT_EQ(field->name, name);
        }
    }
    EXPECT_EQ(find_accounted_field("tresusageinmaxn")->name, "TRESUsageInMaxNode");
    EXPECT_EQ(find_accounted_field("reserved"), nullptr);
    EXPECT_EQ(find_accounted_field(""), nullptr);
}

struct Shown {
    AccountedRun run;
    AccountedLooks looks;
    AccountedLine line{.run = &run, .step = nullptr, .looks = &looks};
};

TEST(AccountedTable, SuspendedTimeIsNotElapsed) {
    Shown shown;
    AccountedJob& job = shown.run.job;
    job.state = ShownState::Suspended;
    job.start = from_unix(1000);
    job.suspended = Seconds{5};
    job.suspend_time = from_unix(1040);
    shown.looks.now = from_unix(1100);
    EXPECT_EQ(times_of(shown.line).elapsed, Seconds{35});
    EXPECT_EQ(times_of(shown.line).suspended, Seconds{65});
    job.state = ShownState::Running;
    EXPECT_EQ(times_of(shown.line).elapsed, Seconds{95});
    EXPECT_EQ(times_of(shown.line).suspended, Seconds{5});
}

TEST(AccountedTable, TruncatedTimesStayInTheWindow) {
    Shown shown;
    AccountedJob& job = shown.run.job;
    job.start = from_unix(1000);
    job.end = from_unix(2000);
    shown.looks.from = from_unix(1000);
    shown.looks.until = from_unix(2000);
    EXPECT_EQ(times_of(shown.line).elapsed, Seconds{1000});
    shown.looks.from = from_unix(1001);
    shown.looks.until = from_unix(1999);
    EXPECT_EQ(times_of(shown.line).start, from_unix(1001));
    EXPECT_EQ(times_of(shown.line).end, from_unix(1999));
    EXPECT_EQ(times_of(shown.line).elapsed, Seconds{998});
}

TEST(AccountedTable, PlannedTimeBeginsWhenTheJobIsEligible) {
    Shown shown;
    AccountedJob& job = shown.run.job;
    shown.looks.now = from_unix(100);
    EXPECT_EQ(planned_time(shown.line), Seconds{0});
    job.eligible = from_unix(101);
    EXPECT_EQ(planned_time(shown.line), std::nullopt);
    job.eligible = from_unix(100);
    EXPECT_EQ(planned_time(shown.line), Seconds{0});
    job.eligible = from_unix(60);
    EXPECT_EQ(planned_time(shown.line), Seconds{40});
    job.start = from_unix(90);
    EXPECT_EQ(planned_time(shown.line), Seconds{30});
}

TEST(AccountedTable, TresAreInTheOrderOfTheAlphabet) {
    const Tres tres = {{"cpu", 1},     {"mem", 1536},   {"node", 1},
                       {"billing", 1}, {"gres/gpu", 2}, {"gres/gpu:a40", 2}};
    EXPECT_EQ(accounted_tres_text(tres, {}),
              "billing=1,cpu=1,gres/gpu:a40=2,gres/gpu=2,mem=1.50G,node=1");
    EXPECT_EQ(accounted_memory_text(100, {.unit = 'G'}), "0.10G");
    EXPECT_EQ(accounted_memory_text(100, {.unit = 'K'}), "102400K");
    EXPECT_EQ(accounted_memory_text(2048, {.convert = false}), "2048M");
    EXPECT_EQ(accounted_memory_text(2048, {}), "2G");
    EXPECT_EQ(exit_text({.oom_killed = true}), "0:125");
}

}  // namespace
}  // namespace sluice
