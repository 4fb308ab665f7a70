// sim/faults/fault_controller.cc
//
// The controller's loop as in src/controller: decide a batch, write it down, do it, while the next
// one is decided already. A crash loses all that is not written, and the effects that are not done.
#include <fmt/format.h>

#include <csignal>

#include "sim/faults/fault_world.h"

namespace sluice {
namespace {

constexpr Seconds kWaitMost{10};  // the clock may be set meanwhile

std::string described(const RunId& run) {
    return fmt::format("{}/{}", run.job.value, run.restarts);
}

// What the event log says of an event; others are told apart by their number.
struct Describe {
    std::string operator()(const SubmitJob& e) const { return "submit " + e.idempotency_key; }
    std::string operator()(const JobEnded& e) const { return "ended " + described(e.run); }
    std::string operator()(const NodeCleaned& e) const { return "cleaned " + described(e.run); }
    std::string operator()(const LaunchReported& e) const { return "launched " + described(e.run); }
    std::string operator()(const NodeHeartbeat& e) const {
        return fmt::format("heartbeat {}", e.node.value);
    }
    std::string operator()(const NodeDisconnected& e) const {
        return fmt::format("disconnected {}", e.node.value);
    }
    std::string operator()(const Tick&) const { return "tick"; }
    std::string operator()(const NodeRegistered& e) const {
        std::string text = "registered " + e.node;
        for (const RunId& run : e.running) text += " " + described(run);
        return text;
    }
    std::string operator()(const CancelJobs& e) const {
        return fmt::format("cancel {}", e.filter.jobs.front().job.value);
    }
    std::string operator()(const ControlJobs& e) const {
        return fmt::format("control {} {}", static_cast<int>(e.verb), e.jobs.front().job.value);
    }
    template <typename Other>
    std::string operator()(const Other&) const {
        return "other";
    }
};

}  // namespace

// A clock that is set back stands still until it has caught up; only a restart sees it jump.
Time FaultWorld::controller_now() {
    last_time_ = std::max(last_time_, now_ + clock_offset_);
    return last_time_;
}

void FaultWorld::start_controller() {
    ++incarnation_;
    last_time_ = Time{};
    decision_planned_ = false;
    log("the controller starts");
    cluster_ = std::make_unique<Cluster>(settings_, controller_now());
    cluster_->restore(rows_.load(), controller_now());
    check_invariants("restart");
    wake_for_timers();
}

void FaultWorld::push(Incoming incoming) {
    if (!cluster_) return;
    inbox_.push_back(std::move(incoming));
    if (decision_planned_) return;
    decision_planned_ = true;
    later(Seconds{random_.between(0, 1)}, [this, me = incarnation_] {
        if (me == incarnation_ && cluster_) decide();
    });
}

void FaultWorld::wake_for_timers() {
    Seconds wait = kWaitMost;
    if (auto due = cluster_->next_timer())
        wait = std::clamp(*due - controller_now(), Seconds{0}, kWaitMost);
    later(wait, [this, me = incarnation_] {
        if (me != incarnation_ || !cluster_) return;
        auto due = cluster_->next_timer();
        if (due && *due <= controller_now()) decide();
        if (cluster_) wake_for_timers();
    });
}

void FaultWorld::check_invariants(std::string_view after) {
    if (auto broken = broken_invariant(*cluster_)) fail(fmt::format("{}: {}", after, *broken));
}

void FaultWorld::decide() {
    decision_planned_ = false;
    Time time = controller_now();
    Decided decided;
    auto apply_one = [&](const Event& event) {
        std::string what = std::visit(Describe{}, event);
        log(what);
        apply(*cluster_, time, event, decided.effects);
        check_invariants(what);
    };
    if (auto due = cluster_->next_timer(); due && *due <= time) apply_one(Tick{});
    std::vector<Incoming> batch = std::move(inbox_);
    inbox_.clear();
    for (Incoming& incoming : batch) {
        apply_one(incoming.event);
        if (incoming.sequence != 0)
            decided.acks.push_back({Tick{}, incoming.wire, incoming.sequence});
    }
    schedule(*cluster_, time, decided.effects);
    check_invariants("pass");
    decided.changes = cluster_->take_changes();
    writing_.push_back(std::move(decided));
    later(Seconds{random_.between(0, calm_ ? 1 : commit_most_)}, [this, me = incarnation_] {
        if (me == incarnation_ && cluster_) commit();
    });
    maybe_crash(crash_chance_);
}

void FaultWorld::commit() {
    Decided decided = std::move(writing_.front());
    writing_.pop_front();
    rows_.commit(decided.changes, *cluster_);
    maybe_crash(crash_chance_);
    if (cluster_) release(std::move(decided));
}

void FaultWorld::release(Decided decided) {
    for (const Effect& effect : decided.effects) {
        const auto* answered = std::get_if<NodeAnswered>(&effect);
        if (!answered) continue;
        std::uint32_t node = cluster_->find_node(answered->node)->value;
        if (!controller_ends_[node]) continue;
        controller_ends_[node]->welcome = true;
        down(node, [this, node, refused = answered->error.has_value()] {
            if (refused)
                hang_up(node);
            else
                machines_[node]->on_welcome();
        });
        if (answered->error) controller_ends_[node]->welcome = false;
    }
    for (const Effect& effect : decided.effects) {
        maybe_crash(crash_chance_ / 4);
        if (!cluster_) return;  // the rest is not done
        carry_out(effect);
    }
    for (const Incoming& ack : decided.acks) {
        for (std::size_t node = 0; node < machines_.size(); ++node) {
            if (controller_ends_[node] != ack.wire) continue;
            down(node, [this, node, ack] { machines_[node]->on_ack(ack.sequence); });
        }
    }
}

void FaultWorld::carry_out(const Effect& effect) {
    if (const auto* reply = std::get_if<Reply>(&effect)) {
        auto asked = asked_.find(reply->request.value);
        if (asked == asked_.end() || (!calm_ && random_.chance(0.05))) return;
        later(delay(), [this, client = asked->second, answer = reply->answer] {
            on_answer(client, answer);
        });
    } else if (const auto* launch = std::get_if<LaunchBatch>(&effect)) {
        RunKey run{launch->job->id.value, launch->job->restarts};
        int copies = !calm_ && random_.chance(0.05) ? 2 : 1;
        for (int i = 0; i < copies; ++i) {
            down(launch->node.value,
                 [this, node = launch->node.value, run] { machines_[node]->on_launch(run); });
        }
    } else if (const auto* signal = std::get_if<SignalJob>(&effect)) {
        down(signal->node.value, [this, order = *signal] {
            Machine& machine = *machines_[order.node.value];
            if (order.signal == SIGSTOP) machine.on_stop(key_of(order.run));
            if (order.signal == SIGCONT) machine.on_continue(key_of(order.run));
        });
    } else if (const auto* terminate = std::get_if<TerminateJob>(&effect)) {
        Seconds kill_delay{random_.between(0, terminate->grace.count())};
        down(terminate->node.value,
             [this, node = terminate->node.value, run = key_of(terminate->run), kill_delay] {
                 machines_[node]->on_terminate(run, kill_delay);
             });
    }
}

}  // namespace sluice
