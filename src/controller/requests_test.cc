// What a request means as an event, and what an answer looks like as a message.
#include "controller/requests.h"

#include <gtest/gtest.h>

#include "controller/replies.h"
#include "controller/testing.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "protocol/convert.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

TEST(Requests, ASubmissionKeepsScriptAndEnvironmentByTheirHash) {
    wire::Request request = test_submission("#!/bin/sh\n");
    const auto incoming = incoming_from(request, kTestUser, kTestRequest, kTestLimits);
    ASSERT_TRUE(incoming);
    const auto& event = std::get<SubmitJob>(incoming->event);
    EXPECT_EQ(event.caller.user, kTestUser.user);
    ASSERT_EQ(incoming->blobs.size(), 2u);
    EXPECT_EQ(incoming->blobs[0].bytes, "#!/bin/sh\n");
    EXPECT_EQ(event.demand->script_hash, blob_hash("#!/bin/sh\n"));
    EXPECT_EQ(event.demand->environment_hash, incoming->blobs[1].hash);
}

TEST(Requests, AScriptMustBeThereAndNotTooLarge) {
    wire::Request empty = test_submission("");
    EXPECT_EQ(incoming_from(empty, kTestUser, kTestRequest, kTestLimits).error().code,
              ErrorCode::ScriptMissing);
    wire::Request large = test_submission(std::string(101, 'x'));
    const auto refused = incoming_from(large, kTestUser, kTestRequest, kTestLimits);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::ScriptTooLarge);
    EXPECT_NE(refused.error().detail.find("100"), std::string::npos);
}

TEST(Requests, OnlyThePrivilegedSpeakForOthers) {
    for (const auto& [caller, allowed] : {std::pair{kTestUser, false}, std::pair{kRoot, true},
                                          std::pair{Caller{UserId{64}, {}}, true}}) {
        wire::Request request = test_submission("#!/bin/sh\n");
        request.mutable_submit()->set_as_user(5);
        const auto incoming = incoming_from(request, caller, kTestRequest, kTestLimits);
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
    EXPECT_FALSE(incoming_from(control, kTestUser, kTestRequest, kTestLimits));
    wire::Request update;
    update.mutable_update()->set_entity(wire::Update::NODE);
    update.mutable_update()->set_name("n[1-");
    EXPECT_FALSE(incoming_from(update, kTestUser, kTestRequest, kTestLimits));
    wire::Request cancel;
    cancel.mutable_cancel()->set_signal(1000);
    EXPECT_FALSE(incoming_from(cancel, kTestUser, kTestRequest, kTestLimits));
}

// Limits: a request one step beyond is refused, a request at the limit is not.
std::string refusal_of(wire::Request request) {
    const auto incoming = incoming_from(request, kTestUser, kTestRequest, kTestLimits);
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
    EXPECT_EQ(refusal_of(update), "");
    update.mutable_update()->set_change(std::string(sizes::kChangeBytes + 1, 'x'));
    EXPECT_NE(refusal_of(update).find("bytes of the change"), std::string::npos);
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
    wire::Request request = test_submission("#!/bin/sh\n");
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
    const auto incoming = incoming_from(request, kTestUser, kTestRequest, kTestLimits);
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
    const NodeChange change{.state = NodeCommand::Resume, .comment = "fan"};
    request.mutable_update()->set_change(encode(change));
    const auto incoming = incoming_from(request, kRoot, kTestRequest, kTestLimits);
    ASSERT_TRUE(incoming);
    const auto& event = std::get<UpdateNode>(incoming->event);
    EXPECT_EQ(event.nodes, (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(event.change, change);
}

TEST(Requests, ARegistrationTellsHowFarTheNodesClockIsAhead) {
    wire::Register message;
    message.set_node("n1");
    message.set_facts(encode(NodeFacts{}));
    for (const auto& [clock, ahead] : {std::pair{1000L, 100L}, std::pair{800L, -100L}}) {
        message.set_clock(clock);
        const auto event = registration_from(message, from_unix(900), Config{});
        ASSERT_TRUE(event);
        EXPECT_EQ(event->clock_ahead, Seconds{ahead});
    }
    for (std::int64_t clock : {INT64_MIN, INT64_MAX}) {  // any number may come
        message.set_clock(clock);
        EXPECT_NE(registration_from(message, from_unix(900), Config{})->clock_ahead, Seconds{0});
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

// They become a part of the reason of a job or a node.
TEST(Requests, LongTextsOfNodesAreCut) {
    wire::AgentReport report;
    wire::Error& error = *report.mutable_launch_result()->mutable_error();
    error.set_code(static_cast<std::uint32_t>(ErrorCode::LaunchFailed));
    for (const std::string& detail :
         {std::string(kReportedMost + 1, 'x'), std::string("a\0b", 3)}) {
        error.set_detail(detail);
        const Event event = event_from(report, NodeIndex{0}).value();
        const std::string& kept = std::get<LaunchReported>(event).error->detail;
        EXPECT_EQ(kept, detail[1] == 'x' ? std::string(kReportedMost, 'x') : "a");
    }
    wire::Register message;
    NodeFacts facts;
    facts.problem = std::string(kReportedMost + 1, 'x');
    message.set_facts(encode(facts));
    const NodeRegistered event = registration_from(message, Time{}, Config{}).value();
    EXPECT_EQ(event.facts.problem.size(), kReportedMost);
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

}  // namespace
}  // namespace sluice
