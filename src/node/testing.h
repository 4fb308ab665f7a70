// node/testing.h
//
// A node for tests: each event answers with all effects, one per line, and the invariants hold
// after it.
#pragma once

#include <gtest/gtest.h>

#include "node/apply.h"
#include "node/describe.h"

namespace sluice {

class NodeTest : public testing::Test {
protected:
    std::string on(const NodeEvent& event) {
        NodeEffects effects;
        apply(state_, now_, event, effects);
        EXPECT_EQ(broken_invariant(state_).value_or(""), "") << describe(event);
        std::string lines;
        for (const NodeEffect& effect : effects) lines += describe(effect) + "\n";
        return lines;
    }
    void pass(Seconds time) {
        now_.steady += time;
        now_.wall += time;
    }
    // What a registration would say.
    std::string known() const {
        std::string text;
        for (const RunKey& run : known_runs(state_)) text += print_run(run) + " ";
        return text;
    }

    static RunKey run(std::uint32_t job, StepId step = kBatchStep, std::uint32_t restarts = 0) {
        return {{JobId{job}, restarts}, step};
    }
    static HookJob hook(std::uint32_t job, std::uint32_t user = 1000) {
        return {.key = {JobId{job}}, .user = user, .group = 100};
    }
    std::string launch_batch(std::uint32_t job, std::uint32_t user = 1000) {
        return on(BatchOrdered{hook(job, user)});
    }
    // As an srun with a credential of now.
    std::string launch_step(std::uint32_t job, std::uint32_t step, std::uint32_t user = 1000) {
        const RunKey key = run(job, StepId{step});
        const Result<void> may = may_launch(state_, key, now_.wall);
        return may ? on(StepBrought{key, hook(job, user)}) : may.error().detail;
    }
    std::string started(const RunKey& key, bool has_asked = true) {
        return on(SupervisorStarted{key, has_asked});
    }
    std::string ended(const RunKey& key, std::uint8_t code = 0) {
        return on(SupervisorEnded{key, {.exit = {.code = code}}});
    }
    std::string end_job(std::uint32_t job, Seconds grace = Seconds{30}) {
        return on(EndOrdered{.run = run(job), .grace = grace});
    }
    std::string end_step(std::uint32_t job, std::uint32_t step) {
        return on(
            EndOrdered{.run = run(job, StepId{step}), .grace = Seconds{30}, .only_step = true});
    }
    std::string job_end_stored(std::uint32_t job, std::uint32_t restarts = 0) {
        return on(ReportStored{ReportStored::Kind::JobEnd, run(job, kBatchStep, restarts)});
    }
    std::string step_end_stored(std::uint32_t job, std::uint32_t step) {
        return on(ReportStored{ReportStored::Kind::StepEnd, run(job, StepId{step})});
    }

    NodeState state_;
    NodeTime now_{Seconds{1000}, from_unix(1'800'000'000)};
};

}  // namespace sluice
