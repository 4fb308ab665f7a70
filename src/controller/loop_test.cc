// The two threads around the core, with a store that can be made to refuse.
#include "controller/loop.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "config/settings.h"
#include "controller/committer.h"
#include "controller/listings.h"
#include "controller/replies.h"
#include "controller/requests.h"
#include "controller/testing.h"
#include "core/question.h"
#include "model/errors.h"
#include "protocol/convert.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

class FlakyStore : public Store {
public:
    std::atomic<bool> full{false};
    std::atomic<bool> crowded{false};

    Result<Epoch> take_epoch() override { return kept_->take_epoch(); }
    CommitOutcome commit(const Batch& batch) override {
        if (full) return {CommitOutcome::Kind::Full, "No space left on device"};
        return kept_->commit(batch);
    }
    Result<void> room_for(std::size_t) override {
        if (crowded) return Error{ErrorCode::StoreFailed, "the disk is full"};
        return {};
    }
    Result<StoredState> load() override { return kept_->load(); }
    Result<std::vector<NumberedFact>> facts(std::uint64_t after, std::size_t most) override {
        return kept_->facts(after, most);
    }
    Result<std::string> blob(std::string_view hash) override { return kept_->blob(hash); }
    Result<bool> has_blob(std::string_view hash) override { return kept_->has_blob(hash); }

private:
    std::unique_ptr<Store> kept_ = memory_store();
};

class Answers : public Asker {
public:
    void answered(RequestId, Answer answer) override {
        std::lock_guard lock(mutex_);
        answer_ = std::move(answer);
        arrived_.notify_all();
    }
    // As a session does on another thread.
    void to_be_answered(RequestId request, OpenQuestion question) override {
        cluster = question.cluster;
        answered(request, answer_to(*question.cluster, question.time, question.event));
    }
    Answer wait() {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [&] { return answer_.has_value(); });
        return *answer_;
    }
    bool there() {
        std::lock_guard lock(mutex_);
        return answer_.has_value();
    }
    std::shared_ptr<const Cluster> cluster;  // that the question was answered from

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::optional<Answer> answer_;
};

class NoFleet : public OrderTaker {
    void deliver(std::vector<NodeOrder>, std::vector<Ack>) override {}
};

class Threads : public testing::Test {
protected:
    Threads() {
        auto settings = std::make_shared<const Settings>(*settings_from(test_config(), UserId{64}));
        auto cluster = std::make_unique<Cluster>(settings, Time{Seconds{1000}});
        published_.snapshot.set(cluster->take_snapshot(Time{Seconds{1000}}));
        loop_ =
            std::make_unique<Loop>(std::move(cluster), inbox_, committer_, io_pulse_, statistics_);
    }
    ~Threads() override {
        committer_.give_up_soon();
        loop_->stop();
        committer_.stop();
    }

    std::shared_ptr<Answers> submit(RequestId id, const std::string& key = "") {
        wire::Request request = test_submission("#!/bin/sh\n");
        request.mutable_submit()->set_idempotency_key(key);
        JobRequest held{{}, {.name = "j"}};
        held.hold = true;
        request.mutable_submit()->set_request(encode(held));
        auto incoming = incoming_from(request, kTestUser, id, kTestLimits);
        auto answers = std::make_shared<Answers>();
        incoming->asker = answers;
        incoming->mark = undecided_.add("key");
        inbox_.push(std::move(*incoming));
        return answers;
    }

    std::shared_ptr<Answers> ask(RequestId id, Event question) {
        auto answers = std::make_shared<Answers>();
        Incoming incoming;
        incoming.event = std::move(question);
        incoming.request = id;
        incoming.asker = answers;
        inbox_.push(std::move(incoming));
        return answers;
    }

    Undecided undecided_;
    IoPulse io_pulse_;
    StatisticsBook statistics_{Time{Seconds{1000}}};
    FlakyStore store_;
    PublishedState published_;
    NoFleet fleet_;
    Inbox inbox_{16};
    Mailer mailer_{published_};
    JobPrograms programs_{published_, inbox_};
    PowerPrograms power_programs_{published_, inbox_};
    TriggerPrograms triggers_{published_};
    std::atomic<bool> is_fenced_{false};
    Committer committer_{store_,    published_,
                         fleet_,    mailer_,
                         programs_, power_programs_,
                         triggers_, {*store_.take_epoch(), [this] { is_fenced_ = true; }}};
    std::unique_ptr<Loop> loop_;
};

TEST_F(Threads, AnAnsweredSubmissionIsInTheStoreAndInTheSnapshot) {
    const Answer answer = submit(RequestId{1})->wait();
    ASSERT_TRUE(std::holds_alternative<Submitted>(answer));
    const JobId job = std::get<Submitted>(answer).job;
    const auto found = published_.snapshot.get()->jobs.find(job.value);
    ASSERT_TRUE(found);
    EXPECT_EQ(*store_.blob(found->details->script_hash()), "#!/bin/sh\n");
    EXPECT_EQ(store_.load()->jobs.size(), 1u);
}

TEST_F(Threads, AFullDiskIsToldAtTheDoorAndTheFirstAnswerComesWhenThereIsSpaceAgain) {
    store_.full = true;
    auto answers = submit(RequestId{1});
    while (!published_.store_trouble.get()) std::this_thread::yield();
    EXPECT_EQ(published_.store_trouble.get()->code, ErrorCode::StoreFailed);
    EXPECT_EQ(published_.store_trouble.get()->detail, "No space left on device");
    EXPECT_FALSE(answers->there());
    EXPECT_EQ(published_.snapshot.get()->jobs.size(), 0u);
    store_.full = false;
    EXPECT_TRUE(std::holds_alternative<Submitted>(answers->wait()));
    EXPECT_FALSE(published_.store_trouble.get());
}

TEST_F(Threads, ASubmissionThatDoesNotFitIsRefusedAtOnceAndLeavesNothing) {
    store_.crowded = true;
    const Answer refused = submit(RequestId{1})->wait();
    ASSERT_TRUE(std::holds_alternative<Error>(refused));
    EXPECT_EQ(std::get<Error>(refused).code, ErrorCode::StoreFailed);
    EXPECT_FALSE(published_.store_trouble.get());
    EXPECT_TRUE(store_.load()->jobs.empty());
    store_.crowded = false;
    EXPECT_TRUE(std::holds_alternative<Submitted>(submit(RequestId{2})->wait()));
    EXPECT_EQ(store_.load()->jobs.size(), 1u);
}

// Its sender has not heard that it is done.
TEST_F(Threads, ASubmissionThatIsThereAlreadyNeedsNoRoom) {
    const Answer first = submit(RequestId{1}, "once")->wait();
    store_.crowded = true;
    const Answer again = submit(RequestId{2}, "once")->wait();
    ASSERT_TRUE(std::holds_alternative<Submitted>(again));
    EXPECT_EQ(std::get<Submitted>(again).job, std::get<Submitted>(first).job);
}

// Also when its sender has gone, to ask again.
TEST_F(Threads, ARequestIsUndecidedUntilItIsInTheStore) {
    store_.full = true;
    auto first = submit(RequestId{1});
    while (!published_.store_trouble.get()) std::this_thread::yield();
    auto again = submit(RequestId{2});
    Incoming dropped;
    dropped.event = RequestDropped{RequestId{1}};
    inbox_.push(std::move(dropped));
    EXPECT_TRUE(undecided_.has("key"));
    EXPECT_FALSE(undecided_.has("other"));
    store_.full = false;
    again->wait();
    first->wait();
    while (undecided_.has("key")) std::this_thread::yield();
}

// As the shell's part of a reconfiguration.
TEST_F(Threads, WhatFollowsADecisionIsDoneOnceItIsInTheStoreAndBeforeTheAnswer) {
    store_.full = true;
    submit(RequestId{1});
    while (!published_.store_trouble.get()) std::this_thread::yield();
    std::atomic<bool> is_done = false;
    auto answers = std::make_shared<Answers>();
    Incoming incoming;
    incoming.event = Reconfigure{RequestId{2}, kRoot, published_.snapshot.get()->settings};
    incoming.request = RequestId{2};
    incoming.asker = answers;
    incoming.then = [&] { is_done = true; };
    inbox_.push(std::move(incoming));
    submit(RequestId{3});
    while (inbox_.size() > 0) std::this_thread::yield();
    EXPECT_FALSE(is_done);
    store_.full = false;
    EXPECT_TRUE(std::holds_alternative<Done>(answers->wait()));
    EXPECT_TRUE(is_done);
}

TEST_F(Threads, AQuestionIsAnsweredFromACopyThatIsMadeOnce) {
    const JobId job = std::get<Submitted>(submit(RequestId{1})->wait()).job;
    const auto committed = published_.snapshot.get();
    const JobRef ref{.job = job, .tasks = {}, .het_component = {}, .step = {}};
    auto first = ask(RequestId{2}, ExplainJob{RequestId{2}, kTestUser, ref});
    const Answer why = first->wait();
    EXPECT_EQ(std::get<std::vector<Explanation>>(why).at(0).hold, Reason::JobHeldUser);
    const SubmitJob test{RequestId{3}, kTestUser, std::make_shared<JobRequest>(), {}, true};
    auto second = ask(RequestId{3}, test);
    second->wait();
    EXPECT_EQ(first->cluster, second->cluster);
    EXPECT_EQ(published_.snapshot.get(), committed) << "and changes nothing";
}

TEST_F(Threads, AStoreThatNeverTakesItAgainDoesNotKeepUsFromStopping) {
    store_.full = true;
    for (std::uint64_t id = 1; id <= 10; ++id) submit(RequestId{id});
    while (!published_.store_trouble.get()) std::this_thread::yield();
}

TEST_F(Threads, NothingIsAnsweredAfterAnotherControllerHasTakenOver) {
    submit(RequestId{1})->wait();
    const auto committed = published_.snapshot.get();
    ASSERT_TRUE(store_.take_epoch());
    auto first = submit(RequestId{2}), second = submit(RequestId{3});
    while (!is_fenced_) std::this_thread::yield();
    EXPECT_TRUE(published_.store_trouble.get()) << "new requests are refused";
    auto third = submit(RequestId{4});
    while (inbox_.size() > 0) std::this_thread::yield();
    committer_.stop();
    for (const auto& answers : {first, second, third}) EXPECT_FALSE(answers->there());
    EXPECT_EQ(published_.snapshot.get(), committed);
    EXPECT_EQ(store_.load()->jobs.size(), 1u);
}

// The controller before this one had another clock: it is as if the clock was set.
TEST_F(Threads, TimesOfAnotherClockAreConverted) {
    constexpr Seconds kAhead{3600};
    submit(RequestId{1})->wait();
    loop_->stop();
    const StoredState stored = *store_.load();
    const Time submitted = stored.jobs.at(0).job.submit_time;
    auto settings = std::make_shared<const Settings>(*settings_from(test_config(), UserId{64}));
    auto cluster = std::make_unique<Cluster>(settings, submitted);
    cluster->restore(stored, submitted);
    Inbox inbox(16);
    Loop next(std::move(cluster), inbox, committer_, io_pulse_, statistics_, kAhead);
    inbox.push({.event = RequestDropped{RequestId{9}}});
    const auto shown = [&] {
        const auto job = published_.snapshot.get()->jobs.find(stored.jobs.at(0).job.id.value);
        return job ? job->submit_time : Time{};
    };
    while (shown() != submitted + kAhead) std::this_thread::yield();
    next.stop();
}

TEST_F(Threads, TheSameQuestionIsAnsweredFromTheSameBytes) {
    Listings listings;
    wire::ListTable question;
    question.set_kind(static_cast<std::uint32_t>(TableKind::Jobs));
    question.add_columns(0);
    const auto before = published_.snapshot.get();
    const Bytes first = listings.answer(*before, question, UserId{0});
    EXPECT_EQ(listings.answer(*before, question, UserId{0}).get(), first.get());
    submit(RequestId{1})->wait();
    EXPECT_NE(listings.answer(*published_.snapshot.get(), question, UserId{0}).get(), first.get());
    question.set_kind(99);
    EXPECT_NE(listings.answer(*before, question, UserId{0})->find("99"), std::string::npos);
}

}  // namespace
}  // namespace sluice
