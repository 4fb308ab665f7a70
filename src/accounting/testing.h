// accounting/testing.h
//
// Shared by the tests of accounting: jobs, facts, and a database in a private directory.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "accounting/sql_accounting.h"
#include "model/errors.h"

namespace sluice::testing_accounting {

constexpr Time kMidnight = from_unix(1'767'225'600);  // 2026-01-01T00:00:00 UTC
constexpr Time at(int hour, int minute = 0) {
    return kMidnight + Minutes(hour * 60 + minute);
}

// A name that breaks a statement in which it is neither quoted nor bound.
inline const std::string kOddName = "o'b\"r;--%_\\ \xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80`$1?";

class TemporaryDirectory {
public:
    TemporaryDirectory() {
        char path[] = "/tmp/sluice-accounting-XXXXXX";
        path_ = mkdtemp(path);
    }
    ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

// Sets the time zone for one test.
class TimeZone {
public:
    explicit TimeZone(const char* zone) {
        setenv("TZ", zone, 1);
        tzset();
    }
    ~TimeZone() {
        unsetenv("TZ");
        tzset();
    }
};

inline AccountedJob job(std::uint32_t id, std::uint32_t restarts = 0) {
    AccountedJob job;
    job.job = JobId{id};
    job.restarts = restarts;
    job.name = "name";
    job.user = UserId{1000};
    job.group = GroupId{100};
    job.account = "physics";
    job.association = 7;
    job.qos = "normal";
    job.partition = "short";
    job.submit = job.eligible = at(0);
    job.tres_requested = job.tres_allocated = {{"cpu", 2}, {"mem", 100}};
    return job;
}

inline AccountedJob ran(std::uint32_t id, Time start, Time end) {
    AccountedJob made = job(id);
    made.start = start;
    made.end = end;
    made.submit = made.eligible = start;
    made.state = ShownState::Completed;
    made.node_count = 1;
    made.node_names = "n1";
    return made;
}

inline AccountedStep step(std::uint32_t job, StepId id, std::uint32_t restarts = 0) {
    AccountedStep step;
    step.job = JobId{job};
    step.restarts = restarts;
    step.step = id;
    step.start = at(1);
    return step;
}

// A cluster's facts, numbered as the controller does.
class Sender {
public:
    Sender(Accounting& accounting, std::string cluster)
        : accounting_(accounting), cluster_(std::move(cluster)) {}
    void send(Fact fact) {
        const auto applied = accounting_.apply(cluster_, {{++sequence_, std::move(fact)}});
        ASSERT_TRUE(applied) << applied.error().detail;
        ASSERT_EQ(*applied, sequence_);
    }
    template <typename... Facts>
    void send_all(Facts... facts) {
        (send(std::move(facts)), ...);
    }

private:
    Accounting& accounting_;
    std::string cluster_;
    std::uint64_t sequence_ = 0;
};

inline std::vector<AccountedRun> runs(Accounting& accounting, const JobSelection& selection,
                                      Time now = at(24)) {
    std::vector<AccountedRun> found;
    const auto done = accounting.jobs(selection, now, [&](AccountedRun run) -> Result<void> {
        found.push_back(std::move(run));
        return {};
    });
    EXPECT_TRUE(done) << done.error().detail;
    return found;
}

// "3 5/1": jobs, and the number of the run if it is not the first.
inline std::string ids(Accounting& accounting, const JobSelection& selection, Time now = at(24)) {
    std::string text;
    for (const AccountedRun& run : runs(accounting, selection, now)) {
        if (!text.empty()) text += ' ';
        text += std::to_string(run.job.job.value);
        if (run.job.restarts > 0) text += '/' + std::to_string(run.job.restarts);
    }
    return text;
}

}  // namespace sluice::testing_accounting
