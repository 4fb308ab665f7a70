// controller/controller_test.cc
//
// The pure parts of the shell: what slurm.conf means to the core, what a request means as an event,
// what an answer looks like on the wire. And the two threads around the core, with a store that can
// be made to refuse.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "config/settings.h"
#include "controller/committer.h"
#include "controller/io_pulse.h"
#include "controller/known_users.h"
#include "controller/listings.h"
#include "controller/loop.h"
#include "controller/options.h"
#include "controller/replies.h"
#include "controller/requests.h"
#include "controller/tick_gate.h"
#include "core/question.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "protocol/convert.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

constexpr RequestId kRequest{7};
constexpr Caller kUser{UserId{1000}, GroupId{100}};
constexpr RequestLimits kLimits{.slurm_user = UserId{64}, .script_size_max = 100};

// ---- settings

Config small_config() {
    Config config;
    config.cluster_name = "lab";
    config.nodes.push_back({.name = "n1", .cpus = 4, .real_memory = 1000});
    config.nodes.push_back({.name = "n2", .cpus = 4, .real_memory = 1000});
    config.partitions.push_back({.name = "debug", .nodes = {"n1", "n2"}, .is_default = true});
    return config;
}

TEST(Settings, CarryOverWhatTheCoreDecidesBy) {
    const auto settings = settings_from(small_config(), UserId{64});
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->cluster_name, "lab");
    EXPECT_EQ(settings->nodes.size(), 2u);
    EXPECT_EQ(settings->slurm_user, UserId{64});
    EXPECT_TRUE(settings->memory_is_consumable);
    EXPECT_FALSE(settings->config_overrides);
    EXPECT_EQ(settings->requeue_delay, Seconds{1});
}

TEST(Settings, ReadSwitchesOutOfLists) {
    Config config = small_config();
    config.select_type_parameters = "CR_Core,CR_LLN";
    config.slurmd_parameters = "config_overrides";
    config.scheduler_parameters = "bf_max_job_test=5, requeue_delay=17";
    const auto settings = settings_from(config, UserId{0});
    ASSERT_TRUE(settings);
    EXPECT_FALSE(settings->memory_is_consumable);
    EXPECT_TRUE(settings->config_overrides);
    EXPECT_EQ(settings->requeue_delay, Seconds{17});
}

TEST(Settings, TakeUpHowJobsArePlacedAndPreempted) {
    Config config = small_config();
    config.select_type_parameters = "CR_Socket_Memory,CR_LLN,CR_Pack_Nodes";
    config.scheduler_type = "sched/builtin";
    config.scheduler_parameters = "bf_window=30,kill_invalid_depend,nohold_on_prolog_fail";
    config.preempt_type = "preempt/qos";
    config.preempt_mode = "SUSPEND,GANG,WITHIN";
    config.preempt_parameters = "youngest_first";
    config.licenses = "matlab:10,ansys";
    config.switches = {{.name = "s0", .nodes = {"n1", "n2"}}};
    const auto settings = settings_from(config, UserId{0});
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->unit, Unit::Socket);
    EXPECT_TRUE(settings->least_loaded && settings->memory_is_consumable);
    EXPECT_FALSE(settings->backfill.enabled);
    EXPECT_EQ(settings->backfill.window, Seconds{1800});
    EXPECT_TRUE(settings->kill_invalid_depend);
    EXPECT_FALSE(settings->hold_on_prolog_failure);
    EXPECT_EQ(settings->preempt.by, PreemptSettings::By::Qos);
    EXPECT_TRUE(settings->enforce_qos);
    EXPECT_EQ(settings->preempt.mode, PreemptMode::Suspend);
    EXPECT_TRUE(settings->preempt.gang && settings->preempt.within);
    EXPECT_TRUE(settings->preempt.youngest_first);
    EXPECT_EQ(settings->licenses.at(1), (std::pair<std::string, std::uint32_t>{"ansys", 1}));
    EXPECT_EQ(settings->switches.at(0).nodes.size(), 2u);
    config.select_type = "select/linear";
    config.select_type_parameters = "CR_Core_Memory";
    EXPECT_EQ(settings_from(config, UserId{0})->unit, Unit::Node);
    EXPECT_FALSE(settings_from(config, UserId{0})->memory_is_consumable);
}

TEST(Settings, NameTheParameterThatIsWrong) {
    Config config = small_config();
    config.scheduler_parameters = "requeue_delay=soon";
    const auto settings = settings_from(config, UserId{0});
    ASSERT_FALSE(settings);
    EXPECT_NE(settings.error().detail.find("requeue_delay=soon"), std::string::npos);
}

// ---- requests

wire::Request submission(std::string script) {
    wire::Request request;
    request.mutable_submit()->set_request(encode(JobRequest{{}, {.name = "j"}}));
    request.mutable_submit()->set_script(std::move(script));
    request.mutable_submit()->set_environment(std::string("A=1\0", 4));
    return request;
}

TEST(Requests, ASubmissionKeepsScriptAndEnvironmentByTheirHash) {
    wire::Request request = submission("#!/bin/sh\n");
    const auto incoming = incoming_from(request, kUser, kRequest, kLimits);
    ASSERT_TRUE(incoming);
    const auto& event = std::get<SubmitJob>(incoming->event);
    EXPECT_EQ(event.caller.user, kUser.user);
    ASSERT_EQ(incoming->blobs.size(), 2u);
    EXPECT_EQ(incoming->blobs[0].bytes, "#!/bin/sh\n");
    EXPECT_EQ(event.wish->script_hash, blob_hash("#!/bin/sh\n"));
    EXPECT_EQ(event.wish->environment_hash, incoming->blobs[1].hash);
}

TEST(Requests, AScriptMustBeThereAndNotTooLarge) {
    wire::Request empty = submission("");
    EXPECT_EQ(incoming_from(empty, kUser, kRequest, kLimits).error().code,
              ErrorCode::ScriptMissing);
    wire::Request large = submission(std::string(101, 'x'));
    const auto refused = incoming_from(large, kUser, kRequest, kLimits);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::ScriptTooLarge);
    EXPECT_NE(refused.error().detail.find("100"), std::string::npos);
}

TEST(Requests, OnlyThePrivilegedSpeakForOthers) {
    for (const auto& [caller, allowed] : {std::pair{kUser, false}, std::pair{kRoot, true},
                                          std::pair{Caller{UserId{64}, {}}, true}}) {
        wire::Request request = submission("#!/bin/sh\n");
        request.mutable_submit()->set_as_user(5);
        const auto incoming = incoming_from(request, caller, kRequest, kLimits);
        ASSERT_EQ(incoming.has_value(), allowed);
        if (allowed) {
            EXPECT_EQ(std::get<SubmitJob>(incoming->event).caller.user, UserId{5});
        } else {
            EXPECT_EQ(incoming.error().code, ErrorCode::AccessDenied);
        }
    }
}

TEST(Requests, WordsThatDoNotParseAreRefused) {
    wire::Request control;
    control.mutable_control()->add_jobs("twelve");
    EXPECT_FALSE(incoming_from(control, kUser, kRequest, kLimits));
    wire::Request update;
    update.mutable_update()->set_entity(wire::Update::NODE);
    update.mutable_update()->set_name("n[1-");
    EXPECT_FALSE(incoming_from(update, kUser, kRequest, kLimits));
    wire::Request cancel;
    cancel.mutable_cancel()->set_signal(1000);
    EXPECT_FALSE(incoming_from(cancel, kUser, kRequest, kLimits));
}

// Limits: a request one step beyond is refused, a request at the limit is not.
std::string refusal_of(wire::Request request) {
    const auto incoming = incoming_from(request, kUser, kRequest, kLimits);
    return incoming ? "" : incoming.error().detail;
}

TEST(Requests, ListsAreBounded) {
    wire::Request control, cancel, update;
    for (std::size_t i = 0; i < sizes::kChangedJobCount; ++i) {
        control.mutable_control()->add_jobs("12");
        cancel.mutable_cancel()->mutable_filter()->add_jobs("12");
    }
    EXPECT_EQ(refusal_of(control), "");
    EXPECT_EQ(refusal_of(cancel), "");
    control.mutable_control()->add_jobs("12");
    cancel.mutable_cancel()->mutable_filter()->add_jobs("12");
    EXPECT_EQ(refusal_of(control), "jobs: 1025 entries, the limit is 1024");
    EXPECT_EQ(refusal_of(cancel), "jobs: 1025 entries, the limit is 1024");
    update.mutable_update()->set_name("12");
    for (std::size_t i = 0; i < sizes::kChangeCount; ++i)
        update.mutable_update()->add_changes()->set_key("Comment");
    EXPECT_EQ(refusal_of(update), "");
    update.mutable_update()->mutable_changes(0)->set_value(std::string(sizes::kChangeBytes, 'x'));
    EXPECT_EQ(refusal_of(update), "");
    update.mutable_update()->mutable_changes(1)->set_value("x");
    EXPECT_NE(refusal_of(update), "");
    update.mutable_update()->mutable_changes(0)->clear_value();
    update.mutable_update()->add_changes()->set_key("Comment");
    EXPECT_EQ(refusal_of(update), "changes: 65 entries, the limit is 64");
}

// Ranges with a step cost what they count; refused before the first is looked at.
TEST(Requests, ArrayTasksOfAllJobsTogetherAreBounded) {
    wire::Request cancel;
    for (int i = 0; i < 1000; ++i)
        cancel.mutable_cancel()->mutable_filter()->add_jobs("12_[0-3999999,1]");
    EXPECT_EQ(refusal_of(cancel), "");
    cancel.mutable_cancel()->mutable_filter()->add_jobs("12_[0-262144:2,1]");
    EXPECT_EQ(refusal_of(cancel), "");
    cancel.mutable_cancel()->mutable_filter()->add_jobs("12_[0-524288:2,1]");
    EXPECT_NE(refusal_of(cancel), "");
}

TEST(Requests, OfStepsAreBounded) {
    wire::Request step;
    step.mutable_create_step()->set_name(std::string(sizes::kWord, 'x'));
    step.mutable_create_step()->set_ntasks(sizes::kCount);
    EXPECT_EQ(refusal_of(step), "");
    step.mutable_create_step()->set_ntasks(sizes::kCount + 1);
    EXPECT_NE(refusal_of(step).find("ntasks=1073741825"), std::string::npos);
    step.mutable_create_step()->set_ntasks(1);
    step.mutable_create_step()->set_name(std::string("a\0b", 3));
    EXPECT_NE(refusal_of(step).find("job-name=a"), std::string::npos);
}

TEST(Requests, EnvironmentsAreBounded) {
    wire::Request request = submission("#!/bin/sh\n");
    request.mutable_submit()->set_environment(std::string(sizes::kEnvironment, 'x'));
    EXPECT_EQ(refusal_of(request), "");
    request.mutable_submit()->mutable_environment()->push_back('x');
    EXPECT_NE(refusal_of(request).find("the limit is 8388608"), std::string::npos);
}

// Members are looked up later, on another thread, and only for administrators.
TEST(Requests, GroupsOfAReservationAreNotLookedUpHere) {
    wire::Request request;
    ReservationChange change;
    change.groups.emplace().items.push_back({"no such group", {}});
    request.set_change_reservation(encode(change));
    const auto incoming = incoming_from(request, kUser, kRequest, kLimits);
    ASSERT_TRUE(incoming);
    EXPECT_TRUE(std::get<ChangeReservation>(incoming->event).change.groups->items[0].users.empty());
}

// Larger than clients accept: they get an error instead.
TEST(Replies, ThatAreTooLargeAreRefusals) {
    wire::Reply reply;
    reply.mutable_text()->set_text(std::string(kReplySizeMax, 'x'));
    const auto bytes = framed_reply(reply);
    FrameReader reader(kReplySizeMax);
    reader.feed(*bytes);
    const auto message = reader.next();
    ASSERT_TRUE(message && *message);
    EXPECT_EQ(from_wire(decode<wire::Reply>(**message)->error()).code, ErrorCode::MessageTooLarge);
    reply.mutable_text()->set_text("short");
    EXPECT_LT(framed_reply(reply)->size(), 32u);
}

TEST(Requests, AnUpdateOfNodesNamesEachOfThem) {
    wire::Request request;
    request.mutable_update()->set_entity(wire::Update::NODE);
    request.mutable_update()->set_name("n[1-2]");
    auto& change = *request.mutable_update()->add_changes();
    change.set_key("state");
    change.set_value("drain");
    const auto incoming = incoming_from(request, kRoot, kRequest, kLimits);
    ASSERT_TRUE(incoming);
    const auto& event = std::get<UpdateNode>(incoming->event);
    EXPECT_EQ(event.nodes, (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(event.changes, (Changes{{"state", "drain"}}));
}

TEST(Requests, ARegistrationTellsHowFarTheNodesClockIsAhead) {
    wire::Register message;
    message.set_node("n1");
    message.set_facts(encode(NodeFacts{}));
    for (const auto& [clock, ahead] : {std::pair{1000L, 100L}, std::pair{800L, -100L}}) {
        message.set_clock(clock);
        const auto event = registration_from(message, from_unix(900));
        ASSERT_TRUE(event);
        EXPECT_EQ(event->clock_ahead, Seconds{ahead});
    }
    for (std::int64_t clock : {INT64_MIN, INT64_MAX}) {  // any number may come
        message.set_clock(clock);
        EXPECT_NE(registration_from(message, from_unix(900))->clock_ahead, Seconds{0});
    }
}

TEST(Requests, QuestionsAreNotForTheCore) {
    wire::Request request;
    EXPECT_FALSE(is_for_core(request));
    request.mutable_list();
    EXPECT_FALSE(is_for_core(request));
    request.mutable_wait_job();
    EXPECT_TRUE(is_for_core(request));
}

TEST(Requests, AReportKeepsTheRunAndTheError) {
    wire::AgentReport report;
    auto& ended = *report.mutable_job_ended();
    ended.mutable_run()->set_job(12);
    ended.mutable_run()->set_restarts(2);
    ended.mutable_exit()->set_code(3);
    ended.mutable_usage()->set_cpu_user_us(1500);
    ended.mutable_usage()->set_rss_max_kb(~std::uint64_t{0});
    const auto event = event_from(report, NodeIndex{4});
    ASSERT_TRUE(event);
    const auto& job_ended = std::get<JobEnded>(*event);
    EXPECT_EQ(job_ended.node, NodeIndex{4});
    EXPECT_EQ(job_ended.run.restarts, 2u);
    EXPECT_EQ(job_ended.exit.code, 3);
    EXPECT_FALSE(job_ended.launch_error);
    EXPECT_EQ(job_ended.usage.cpu_user, Microseconds{1500});
    EXPECT_EQ(job_ended.usage.rss_max_kb, ~std::uint64_t{0});
    EXPECT_FALSE(event_from(wire::AgentReport{}, NodeIndex{4}));
}

TEST(Requests, AReportOfAStepKeepsWhatItUsed) {
    wire::AgentReport report;
    wire::Usage& usage = *report.mutable_step_ended()->mutable_usage();
    usage.set_cpu_user_us(~std::uint64_t{0});
    usage.set_cpu_system_us(7);
    usage.set_rss_max_kb(1024);
    const auto event = event_from(report, NodeIndex{4});
    ASSERT_TRUE(event);
    const Usage expected{Microseconds{sizes::kCpuMicroseconds}, Microseconds{7}, 1024, {}};
    EXPECT_EQ(std::get<StepEnded>(*event).usage, expected);
}

TEST(Options, KnowTheirLettersAndNameTheWrongOnes) {
    const auto parse = [](std::vector<std::string> words) {
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        return parse_options(static_cast<int>(words.size()), argv.data());
    };
    const auto options = parse({"slurmctld", "-D", "-vv", "-f", "/x", "-c", "-n", "-5"});
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->foreground && options->clear_state);
    EXPECT_EQ(options->verbose, 2);
    EXPECT_EQ(options->config, "/x");
    EXPECT_EQ(options->nice, -5);
    EXPECT_NE(parse({"slurmctld", "-z"}).error().detail.find("-z"), std::string::npos);
    EXPECT_NE(parse({"slurmctld", "-n", "much"}).error().detail.find("much"), std::string::npos);
    EXPECT_FALSE(parse({"slurmctld", "-f"}));
}

// ---- the threads around the core

class FlakyStore : public Store {
public:
    std::atomic<bool> full{false};
    std::atomic<bool> crowded{false};

    Result<void> commit(const Batch& batch) override {
        if (full) return Error{ErrorCode::StoreFailed, "No space left on device"};
        return kept_->commit(batch);
    }
    Result<void> room_for(std::size_t) override {
        if (crowded) return Error{ErrorCode::StoreFailed, "the disk is full"};
        return {};
    }
    Result<StoredState> load() override { return kept_->load(); }
    Result<std::vector<StoredRun>> ended_runs(std::size_t most) override {
        return kept_->ended_runs(most);
    }
    Result<std::vector<StoredStep>> ended_steps(JobId job, std::uint32_t restarts) override {
        return kept_->ended_steps(job, restarts);
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
        auto settings =
            std::make_shared<const Settings>(*settings_from(small_config(), UserId{64}));
        auto cluster = std::make_unique<Cluster>(settings, Time{Seconds{1000}});
        published_.snapshot.set(cluster->take_snapshot(Time{Seconds{1000}}));
        loop_ = std::make_unique<Loop>(std::move(cluster), inbox_, committer_, io_pulse_);
    }
    ~Threads() override {
        committer_.give_up_soon();
        loop_->stop();
        committer_.stop();
    }

    std::shared_ptr<Answers> submit(RequestId id, const std::string& key = "") {
        wire::Request request = submission("#!/bin/sh\n");
        request.mutable_submit()->set_idempotency_key(key);
        JobRequest held{{}, {.name = "j"}};
        held.hold = true;
        request.mutable_submit()->set_request(encode(held));
        auto incoming = incoming_from(request, kUser, id, kLimits);
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
    FlakyStore store_;
    PublishedState published_;
    NoFleet fleet_;
    Inbox inbox_{16};
    Mailer mailer_{published_};
    Committer committer_{store_, published_, fleet_, mailer_};
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
    auto first = ask(RequestId{2}, ExplainJob{RequestId{2}, kUser, ref});
    const Answer why = first->wait();
    EXPECT_EQ(std::get<std::vector<Explanation>>(why).at(0).hold, Reason::JobHeldUser);
    const SubmitJob test{RequestId{3}, kUser, std::make_shared<JobRequest>(), {}, true};
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

// ---- what the sessions share

TEST(TickGate, LetsTimersThroughAfterWhatHadArrived) {
    TickGate gate;
    EXPECT_FALSE(gate.may_tick(false, 1, 10'000));
    EXPECT_TRUE(gate.may_tick(true, 1, 0));
    EXPECT_FALSE(gate.may_tick(true, 4096, 10'000)) << "these came before";
    EXPECT_FALSE(gate.may_tick(true, 4096, 16'000));
    EXPECT_FALSE(gate.may_tick(true, 4096, 16'000));
    EXPECT_TRUE(gate.may_tick(true, 4096, 16'000)) << "and these after";
    EXPECT_FALSE(gate.may_tick(true, 4096, 16'000)) << "the next one waits anew";
    EXPECT_FALSE(gate.may_tick(false, 4096, 16'000));
    EXPECT_TRUE(gate.may_tick(true, 0, 0));
}

TEST(IoPulse, IsThatOfTheThreadThatIsFurthestBehind) {
    const std::chrono::steady_clock::time_point start{};
    const auto second = [&](int number) { return start + std::chrono::seconds(number); };
    IoPulse pulse;
    EXPECT_EQ(pulse.read_until(), IoPulse::SteadyTime::max());
    for (std::size_t thread = 0; thread < kIoThreads; ++thread) {
        pulse.beat(thread, second(1));
        pulse.beat(thread, second(2));
    }
    EXPECT_EQ(pulse.read_until(), second(1)) << "what came since may not have been read yet";
    for (int number = 3; number < 100; ++number) pulse.beat(0, second(number));
    EXPECT_EQ(pulse.read_until(), second(1));
    pulse.beat(1, second(100));
    pulse.beat(1, second(101));
    EXPECT_EQ(pulse.read_until(), second(98));
}

TEST(KnownUsers, AreLookedUpOnceAndUnknownOnesSoonAgain) {
    constexpr UserId kGhost{3'000'000'123};
    const Time now = from_unix(1'800'000'000);
    const Seconds age{600};
    KnownUsers users;
    EXPECT_FALSE(users.remembered(UserId{0}, age, now).has_value());
    EXPECT_TRUE(users.look_up(UserId{0}, now));
    EXPECT_FALSE(users.look_up(kGhost, now));
    EXPECT_EQ(users.remembered(UserId{0}, age, now + Seconds{599}), true);
    EXPECT_EQ(users.remembered(kGhost, age, now + Seconds{1}), false);
    EXPECT_FALSE(users.remembered(kGhost, age, now + Seconds{10}).has_value());
    EXPECT_FALSE(users.remembered(UserId{0}, age, now + Seconds{600}).has_value());
    users.forget();
    EXPECT_FALSE(users.remembered(UserId{0}, age, now).has_value());
}

}  // namespace
}  // namespace sluice
