// model/job_id_test.cc: job ids, array specifications and step ids.
#include "model/job_id.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "model/errors.h"

namespace sluice {
namespace {

std::string array(std::string_view text) {
    Result<ArraySpec> spec = parse_array(text);
    return spec ? print_array(*spec) : "error";
}
std::string ref(std::string_view text) {
    Result<JobRef> result = parse_job_ref(text);
    return result ? to_string(*result) : "error";
}

struct Pair {
    std::string_view given, expected;
};

TEST(Arrays, AreShownAsSqueueShowsThem) {
    constexpr Pair kPairs[] = {
        {"0", "0"},
        {"0-3%2", "0-3%2"},
        {"1,2", "1-2"},
        {"1,3,5", "1,3,5"},
        {"0-15:4", "0,4,8,12"},
        {"0-15:4,20,30-31", "0,4,8,12,20,30-31"},
        {"0-10:2", "0,2,4,6,8,10"},
        {"0-12:2", "0-12:2"},
        {"0-50:10", "0-50:10"},
        {"100-500:100", "100,200,300,400,500"},
        {"1-100:10", "1-91:10"},
        {"1,3,5,7,9,11,13", "1-13:2"},
        {"0-1:5", "0"},
        {"3,1,2", "1-3"},
        {"1,1,1", "1"},
        {"0-10:2,1", "0-2,4,6,8,10"},
        {"1-3,5,7,9", "1-3,5,7,9"},
        {"1,,2", "1-2"},
        {"1, 2", "1-2"},
        {"[1-3%2]", "1-3%2"},
        {"1-5%0", "1-5"},
    };
    for (const Pair& pair : kPairs) EXPECT_EQ(array(pair.given), pair.expected) << pair.given;
}

TEST(Arrays, RefuseTheRestAndNameIt) {
    for (std::string_view bad :
         {"", "0-3:0", "5-3", "1-", "-1", "a", "0x1", "1-5%x", "1-5%-1", "1-5%3%2", "1:2",
          "0-4000001", "[1-3", "0-4000000,0-4000000", "99999999999999999999"}) {
        Result<ArraySpec> spec = parse_array(bad);
        ASSERT_FALSE(spec) << bad;
        EXPECT_EQ(to_string(spec.error()),
                  "Invalid job array specification: \"" + std::string(bad) + "\"");
    }
}

TEST(TaskSets, OfAMillionTasksAreOneRange) {
    TaskSet set = *TaskSet::parse("0-999999");
    EXPECT_EQ(set.size(), 1'000'000u);
    EXPECT_EQ(set.ranges().size(), 1u);
    for (int i = 0; i < 1000; ++i) set.erase(set.first());
    EXPECT_EQ(set.ranges(), (std::vector<TaskSet::Range>{{1000, 999'999, 1}}));
    set.erase(5000);
    set.insert(5000);
    EXPECT_EQ(set.ranges().size(), 1u);
}

// Ranges that overlap cost what they say, not how far they reach.
TEST(TaskSets, OverlappingRangesAreJoined) {
    EXPECT_EQ(TaskSet::parse("0-3999999,1")->ranges(),
              (std::vector<TaskSet::Range>{{0, 3'999'999, 1}}));
    EXPECT_EQ(TaskSet::parse("5-9,0-6,20")->to_string(), "0-9,20");
    EXPECT_EQ(TaskSet::parse("0-8:2,1,3")->to_string(), "0-4,6,8");
    EXPECT_EQ(TaskSet::parse("0-3999998,1-3:2")->size(), 3'999'999u);
}

TEST(TaskSets, OfOneRequestHaveABudgetForRangesWithAStep) {
    SteppedTasks budget{100};
    EXPECT_TRUE(parse_job_ref("1_[0-3999999]", budget)) << "a range without a step costs nothing";
    EXPECT_TRUE(parse_job_ref("1_[0-98:2]", budget));
    EXPECT_EQ(budget.left, 50u);
    EXPECT_FALSE(parse_job_ref("1_[0-102:2]", budget));
    EXPECT_TRUE(parse_job_ref("1_[0-98:2]", budget));
    EXPECT_FALSE(parse_job_ref("1_[0-2:2]", budget));
}

TEST(TaskSets, ComeFromRangesThatAreInOrder) {
    using Ranges = std::vector<TaskSet::Range>;
    EXPECT_EQ(*TaskSet::from_ranges({{0, 8, 2}, {9, 9, 1}}), *TaskSet::parse("0-8:2,9"));
    EXPECT_TRUE(TaskSet::from_ranges({})->empty());
    for (const Ranges& wrong : {Ranges{{5, 9, 1}, {9, 9, 1}}, Ranges{{3, 1, 1}}, Ranges{{0, 1, 0}},
                                Ranges{{0, 5, 2}}, Ranges{{0, kArrayTaskMax + 1, 1}}}) {
        EXPECT_FALSE(TaskSet::from_ranges(wrong));
    }
}

TEST(TaskSets, KnowWhetherTheyHaveATaskInCommon) {
    const TaskSet even = *TaskSet::parse("0-3999998:2");
    EXPECT_TRUE(even.intersects(*TaskSet::parse("7,8")));
    EXPECT_TRUE(TaskSet::parse("7,8")->intersects(even));
    EXPECT_FALSE(even.intersects(*TaskSet::parse("1-9:2")));
    EXPECT_FALSE(even.intersects(TaskSet{}));
}

TEST(TaskSets, KnowTheirEnds) {
    TaskSet set = *TaskSet::parse("7,3-5");
    EXPECT_EQ(set.first(), 3u);
    EXPECT_EQ(set.last(), 7u);
    EXPECT_TRUE(set.contains(4));
    EXPECT_FALSE(set.contains(6));
    EXPECT_FALSE(set.contains(2));
}

std::set<std::uint32_t> tasks_of(const TaskSet& set) {
    std::set<std::uint32_t> tasks;
    set.for_each([&](std::uint32_t task) { tasks.insert(task); });
    return tasks;
}

TEST(TaskSets, AreEqualHoweverTheyWereMade) {
    EXPECT_TRUE(rc::check("inserting, erasing and parsing agree", [] {
        TaskSet set;
        std::set<std::uint32_t> model;
        for (int i = *rc::gen::inRange(0, 60); i > 0; --i) {
            auto task = *rc::gen::inRange<std::uint32_t>(0, 30);
            if (*rc::gen::inRange(0, 3) > 0) {
                set.insert(task);
                model.insert(task);
            } else {
                set.erase(task);
                model.erase(task);
            }
            RC_ASSERT(tasks_of(set) == model);
            RC_ASSERT(set.size() == model.size());
            RC_ASSERT(set.contains(task) == (model.count(task) == 1));
            if (!model.empty()) RC_ASSERT(*TaskSet::parse(set.to_string()) == set);
        }
        RC_ASSERT(set.empty() == model.empty());
    }));
}

TEST(JobRefs, AreReadInEveryForm) {
    for (std::string_view same : {"12", "12_3", "12_[1-5]", "12.0", "12.batch", "12.extern",
                                  "12.interactive", "12_3.0", "12+1", "12+1.0"}) {
        EXPECT_EQ(ref(same), same);
    }
    EXPECT_EQ(ref("12_[1-5%2]"), "12_[1-5]");
    EXPECT_EQ(ref("12_[3]"), "12_3");
}

TEST(JobRefs, RefuseTheRestAndNameIt) {
    for (std::string_view bad : {"", "0", "-1", "a", "1_", "1_[1", "1_1_1", "1.x", "1.", "1.+",
                                 "1+", "1_a", "4294967295", "4294967296", "1_1-3", "1_2+1", " 1"}) {
        Result<JobRef> result = parse_job_ref(bad);
        ASSERT_FALSE(result) << bad;
        EXPECT_EQ(to_string(result.error()),
                  "Invalid job id specified: \"" + std::string(bad) + "\"");
    }
}

TEST(JobRefs, ReadBackWhatTheyPrint) {
    EXPECT_TRUE(rc::check("parse(print(x)) == x", [] {
        JobRef ref{.job = JobId(*rc::gen::inRange<std::uint32_t>(1, 100'000'000))};
        if (*rc::gen::arbitrary<bool>()) {
            ref.tasks.emplace();
            for (int i = *rc::gen::inRange(1, 5); i > 0; --i) {
                ref.tasks->insert(*rc::gen::inRange<std::uint32_t>(0, 1000));
            }
        } else if (*rc::gen::arbitrary<bool>()) {
            ref.het_component = *rc::gen::inRange<std::uint32_t>(0, 100);
        }
        if (*rc::gen::arbitrary<bool>()) {
            ref.step = *rc::gen::element(kBatchStep, kExternStep, kInteractiveStep, StepId(7));
        }
        RC_ASSERT(*parse_job_ref(to_string(ref)) == ref);
    }));
}

}  // namespace
}  // namespace sluice
