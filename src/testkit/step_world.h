// testkit/step_world.h
//
// For tests of steps: a scenario with a running job "a", whose steps are asked for and end.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "model/errors.h"
#include "testkit/scenario.h"

namespace sluice {

inline constexpr NodeIndex kNode{0};

struct StepWorld {
    Scenario scenario;
    Effects effects = {};
    std::uint64_t next_request = 1000;

    explicit StepWorld(std::string_view text) { EXPECT_EQ(scenario.run(text), ""); }
    void apply_event(const Event& event) {
        apply(scenario.cluster(), scenario.now(), event, effects);
    }
    JobId job() const { return scenario.job("a"); }
    const Job& record() { return scenario.cluster().job(job()); }

    RequestId ask(std::string key, const std::function<void(StepDemand&)>& change = {}) {
        RequestId request{next_request++};
        StepDemand demand;
        demand.job = job();
        demand.name = "s";
        demand.key = std::move(key);
        if (change) change(demand);
        apply_event(CreateStep{request, {UserId{0}, GroupId{0}}, demand});
        return request;
    }
    const Answer* answer_to(RequestId request) const {
        for (const Effect& effect : effects) {
            const auto* reply = std::get_if<Reply>(&effect);
            if (reply && reply->request == request) return &reply->answer;
        }
        return nullptr;
    }
    const Step* granted(RequestId request) const {
        const Answer* answer = answer_to(request);
        const auto* granted = answer ? std::get_if<StepGranted>(answer) : nullptr;
        return granted ? granted->step.get() : nullptr;
    }
    bool is_refused(RequestId request, ErrorCode code) const {
        const Answer* answer = answer_to(request);
        const auto* error = answer ? std::get_if<Error>(answer) : nullptr;
        return error && error->code == code;
    }
    std::optional<StepId> step_of(RequestId request) const {
        const Step* step = granted(request);
        return step ? std::optional(step->id) : std::nullopt;
    }
    std::size_t orders_to_end(StepId step) const {
        return static_cast<std::size_t>(
            std::count_if(effects.begin(), effects.end(), [&](const Effect& effect) {
                const auto* order = std::get_if<TerminateJob>(&effect);
                return order && order->only_step && order->run.step == step;
            }));
    }
    void register_node(std::vector<RunId> running, std::string boot = "") {
        NodeFacts facts = *scenario.cluster().node(kNode).facts;
        if (!boot.empty()) facts.boot_id = boot;
        apply_event(NodeRegistered{"n1", facts, std::move(running)});
    }
    RunId run(StepId step) { return {job(), record().run.restarts, step}; }
};

}  // namespace sluice
