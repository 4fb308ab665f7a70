// controller/standby_test.cc: what a controller answers that is not the active one.
#include "controller/standby.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "controller/testing.h"
#include "model/errors.h"

namespace sluice {
namespace {

// Another controller, "a", holds it.
class HeldLease : public Lease {
public:
    explicit HeldLease(std::atomic<int>& takeovers) : takeovers_(takeovers) {}

    Result<LeaseState> observe() override {
        return LeaseState{.holder = "a", .epoch = 1, .left = std::chrono::minutes{1}};
    }
    Result<std::optional<Tenure>> try_acquire() override { return std::optional<Tenure>(); }
    Result<std::optional<Tenure>> renew(Epoch) override { return std::optional<Tenure>(); }
    Result<void> release(Epoch) override { return {}; }
    Result<void> request_takeover() override {
        ++takeovers_;
        return {};
    }

private:
    std::atomic<int>& takeovers_;
};

class StandbyTest : public testing::Test {
protected:
    StandbyTest() {
        published_.config.set(
            std::make_shared<LiveConfig>(LiveConfig{test_config(), kSlurmUser, ""}));
        while (keeper_.active() != "a") std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    // The word of the error that the answer is; empty: it is none.
    std::string refusal(const wire::Request& request, UserId caller) {
        const wire::Reply reply = standby_.answer(request, caller);
        return reply.has_error() ? to_string(from_wire(reply.error())) : "";
    }
    static std::string denied() { return to_string(Error{ErrorCode::AccessDenied, {}}); }

    static constexpr UserId kSlurmUser{64}, kUser{1000};
    std::atomic<int> takeovers_ = 0;
    PublishedState published_;
    LeaseKeeper keeper_{std::make_unique<HeldLease>(takeovers_), "b", {"a", "b"}, [] {}};
    Standby standby_{published_, keeper_};
};

TEST_F(StandbyTest, OnlyAdministratorsCommandIt) {
    wire::Request takeover, reconfigure, shutdown;
    takeover.set_take_over("");
    reconfigure.mutable_reconfigure();
    shutdown.mutable_shutdown();
    for (const wire::Request& each : {takeover, reconfigure, shutdown})
        EXPECT_TRUE(refusal(each, kUser).starts_with(denied())) << refusal(each, kUser);
    EXPECT_EQ(refusal(shutdown, kSlurmUser), "");
    EXPECT_EQ(takeovers_, 0);
    EXPECT_EQ(refusal(takeover, kSlurmUser), "");
    while (takeovers_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

TEST_F(StandbyTest, SaysWhichControllerIsActiveAndRefusesTheRest) {
    wire::Request ping;
    ping.mutable_ping();
    const wire::Reply answer = standby_.answer(ping, kUser);
    EXPECT_TRUE(answer.pong().standby());
    EXPECT_EQ(answer.pong().active(), "a");
    EXPECT_EQ(answer.pong().controller(), "b");
    const wire::Request submission = test_submission("#!/bin/sh\n");
    for (const UserId caller : {kUser, kSlurmUser, UserId{0}}) {
        const wire::Reply refused = standby_.answer(submission, caller);
        ASSERT_TRUE(refused.has_error());
        const Error error = from_wire(refused.error());
        EXPECT_EQ(error.code, ErrorCode::InStandby);
        EXPECT_EQ(error.detail, "a is the active controller");
    }
}

}  // namespace
}  // namespace sluice
