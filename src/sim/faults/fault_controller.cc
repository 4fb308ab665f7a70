// sim/faults/fault_controller.cc
//
// The controller's loop as in src/controller: decide a batch, write it down, do it, while the next
// one is decided already. A crash loses all that is not written, and the effects that are not done.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "model/field_text.h"
#include "model/job_change_fields.h"
#include "model/node_fields.h"
#include "model/partition_fields.h"
#include "sim/faults/fault_world.h"

namespace sluice {
namespace {

constexpr Seconds kWaitMost{10};  // the clock may be set meanwhile
constexpr Seconds kCatchUp{2};    // as in the controller
constexpr Seconds kAnswers{40};   // a node that was heard so lately is there
constexpr Seconds kLate{10};      // small steps of the clock are followed

std::string described(const RunId& run) {
    return to_string(key_of(run));
}

// What the event log says of an event; others are told apart by their number.
struct Describe {
    std::string operator()(const SubmitJob& e) const {
        return fmt::format("submit {} {}", e.idempotency_key, e.demand->dependency);
    }
    std::string operator()(const JobEnded& e) const { return "ended " + described(e.run); }
    std::string operator()(const StepEnded& e) const { return "step ended " + described(e.run); }
    std::string operator()(const CreateStep& e) const {
        return fmt::format("step for {}", e.demand.job.value);
    }
    std::string operator()(const WaitJob& e) const {
        return fmt::format("wait for {}", e.job.value);
    }
    std::string operator()(const CompleteJob& e) const {
        return fmt::format("give back {}", e.job.value);
    }
    std::string operator()(const UpdateJob& e) const {
        return fmt::format("update {}{}", to_string(e.job), print_fields(e.change));
    }
    std::string operator()(const UpdateNode& e) const {
        return fmt::format("node {}{}", e.nodes.front(), print_fields(e.change));
    }
    std::string operator()(const UpdatePartition& e) const {
        return fmt::format("partition {}{}", e.partition, print_fields(e.change));
    }
    std::string operator()(const PolicyChanged& e) const {
        return fmt::format("policy of {} associations", e.policy->associations.size());
    }
    std::string operator()(const RebootNodes& e) const { return "reboot " + e.nodes.front(); }
    std::string operator()(const Reconfigure&) const { return "reconfigure"; }
    std::string operator()(const ChangeReservation& e) const {
        return fmt::format("reservation {} {} flags {:x}", static_cast<int>(e.change.verb),
                           e.change.name, e.change.flags_set);
    }
    std::string operator()(const NodeCleaned& e) const { return "cleaned " + described(e.run); }
    std::string operator()(const KillFailed& e) const { return "kill failed " + described(e.run); }
    std::string operator()(const LaunchReported& e) const { return "launched " + described(e.run); }
    std::string operator()(const NodeHeartbeat& e) const {
        return fmt::format("heartbeat {}", e.node.value);
    }
    std::string operator()(const NodeDisconnected& e) const {
        return fmt::format("disconnected {}", e.node.value);
    }
    std::string operator()(const Tick&) const { return "tick"; }
    std::string operator()(const ClockStepped& e) const {
        return fmt::format("clock stepped by {}", e.by.count());
    }
    std::string operator()(const NodeRegistered& e) const {
        std::string text = "registered " + e.node;
        for (const RunId& run : e.running) text += " " + described(run);
        return text;
    }
    std::string operator()(const CancelJobs& e) const {
        return fmt::format("cancel {}", to_string(e.filter.jobs.front()));
    }
    std::string operator()(const ControlJobs& e) const {
        return fmt::format("control {} {}", static_cast<int>(e.verb), to_string(e.jobs.front()));
    }
    template <typename Other>
    std::string operator()(const Other&) const {
        return "other";
    }
};

}  // namespace

void FaultWorld::start_controller() {
    ++incarnation_;
    clock_ = LoopClock(kWaitMost);
    clock_.turn(controller_now(), now_.time_since_epoch());
    seen_offset_ = clock_offset_;
    stalled_until_ = now_;
    timers_from_ = Time{};
    decision_planned_ = false;
    log("the controller starts");
    cluster_ = std::make_unique<Cluster>(settings_, controller_now());
    if (auto broken = rules_.broken_rows(rows_)) fail(*broken);
    cluster_->restore(rows_.load(), controller_now());
    check_invariants("restart");
    wake_for_timers();
    if (options_.by_qos) publish_policy();  // it may have missed changes
}

void FaultWorld::push(Incoming incoming) {
    if (!cluster_) return;
    inbox_.push_back(std::move(incoming));
    if (decision_planned_) return;
    decision_planned_ = true;
    in_turn(Seconds{random_.between(0, 1)}, [this] { decide(); });
}

// What the controller does then; after a stall, if there is one.
void FaultWorld::in_turn(Seconds delay, std::function<void()> what) {
    later(delay, [this, me = incarnation_, what = std::move(what)] {
        if (me != incarnation_ || !cluster_) return;
        if (now_ < stalled_until_) return in_turn(stalled_until_ - now_, what);
        what();
    });
}

void FaultWorld::wake_for_timers() {
    Seconds wait = kWaitMost;
    if (auto due = cluster_->next_timer())
        wait = std::clamp(std::max(*due, timers_from_) - controller_now(), Seconds{0}, kWaitMost);
    in_turn(wait, [this] {
        decide();
        if (cluster_) wake_for_timers();
    });
}

// A node is marked down only after it was silent for long while the controller was running.
void FaultWorld::check_lost_nodes(const std::vector<bool>& were_down) {
    for (NodeIndex index{0}; index.value < were_down.size(); ++index.value) {
        const Node& node = cluster_->node(index);
        if (!node.down || were_down[index.value]) continue;
        if (now_ - said_[machine_of(index)] < kAnswers)
            fail(fmt::format("node {} is given up, but it answers", node.config.name));
    }
}

// Time limits are counted in true time, whatever the clock says.
void FaultWorld::check_time_limits(const Decided& decided) {
    cluster_->jobs().for_each([&](const Job& job) {
        if (is_live(job))
            starts_.try_emplace(JobKey{job.id.value, job.run.restarts},
                                RunStart{now_, steps_unseen_});
    });
    for (const Effect& effect : decided.effects) {
        const auto* order = std::get_if<TerminateJob>(&effect);
        if (!order || order->reason_line.find("TIME LIMIT") == std::string::npos) continue;
        const Job& job = cluster_->job(order->run.job);
        auto start = starts_.find(JobKey{job.id.value, order->run.restarts});
        if (start == starts_.end() || start->second.steps_unseen != steps_unseen_) continue;
        if (!job.run.reservation.empty() || job.time_limit.unlimited()) continue;  // that has ended
        if (now_ + kLate < start->second.time + job.time_limit.length())
            fail(fmt::format("job {} is ended before its time limit", job.id.value));
    }
}

void FaultWorld::check_invariants(std::string_view after) {
    if (auto broken = broken_invariant(*cluster_)) fail(fmt::format("{}: {}", after, *broken));
    if (!options_.wide) return;
    rules_.note(*cluster_);
    if (auto broken = rules_.broken_step(*cluster_)) fail(fmt::format("{}: {}", after, *broken));
    check_machines();
}

void FaultWorld::decide() {
    decision_planned_ = false;
    const LoopClock::Turn turn = clock_.turn(controller_now(), now_.time_since_epoch());
    const Time time = turn.now;
    timers_from_ = turn.blocked == Seconds{0} ? timers_from_ + turn.step : time + kCatchUp;
    Decided decided{.step = turn.step};
    seen_offset_ = clock_offset_;
    auto apply_one = [&](const Event& event) {
        std::string what = std::visit(Describe{}, event);
        log(what);
        apply(*cluster_, time, event, decided.effects);
        check_invariants(what);
    };
    if (turn.step != Seconds{0}) apply_one(ClockStepped{turn.step});
    if (turn.blocked != Seconds{0}) apply_one(StoodStill{turn.blocked});
    std::vector<Incoming> batch = std::move(inbox_);
    inbox_.clear();
    for (Incoming& incoming : batch) {
        note_heard(incoming.event);
        if (!address(incoming.event)) continue;
        if (auto* node = std::get_if<NodeRegistered>(&incoming.event))
            node->clock_ahead = -clock_offset_;
        apply_one(incoming.event);
        if (incoming.sequence != 0)
            decided.acks.push_back({Tick{}, incoming.wire, incoming.sequence});
    }
    std::vector<bool> were_down(cluster_->node_count());
    for (std::uint32_t i = 0; i < were_down.size(); ++i)
        were_down[i] = cluster_->node(NodeIndex{i}).down || cluster_->node(NodeIndex{i}).reboot;
    auto due = cluster_->next_timer();
    if (due && std::max(*due, timers_from_) <= time) apply_one(Tick{});
    check_lost_nodes(were_down);
    if (auto broken = stranger_.ask(*cluster_, time)) fail(*broken);
    if (options_.wide) rules_.note_queue(*cluster_);
    schedule(*cluster_, time, decided.effects);
    check_invariants("pass");
    if (options_.wide) {
        if (auto broken = rules_.broken_by_start(*cluster_, time)) fail(*broken);
        const bool timers_wait = time < timers_from_;  // those of begin times among them
        if (auto broken = rules_.broken_queue(*cluster_, time); broken && !timers_wait)
            fail(*broken);
    }
    check_time_limits(decided);
    decided.changes = cluster_->take_changes();
    writing_.push_back(std::move(decided));
    in_turn(Seconds{random_.between(0, calm_ ? 1 : commit_most_)}, [this] { commit(); });
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
        std::size_t node = machine_named(answered->node);
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

void FaultWorld::answer(const Reply& reply) {
    auto asked = asked_.find(reply.request.value);
    if (asked == asked_.end()) return;
    if (!calm_ && random_.chance(0.05)) {
        asked->second.lost = true;
        return;
    }
    Question question = std::move(asked->second);
    asked_.erase(asked);
    bool refused = std::holds_alternative<Error>(reply.answer);
    if (const auto* results = std::get_if<std::vector<JobResult>>(&reply.answer))
        refused = !results->empty() && results->front().error;
    ++result_.answers[question.what + (refused ? " refused" : "")];
    if (!question.on_answer) return;
    later(delay(), [question, answer = reply.answer] { question.on_answer(answer); });
}

void FaultWorld::carry_out(const Effect& effect) {
    if (const auto* reply = std::get_if<Reply>(&effect)) {
        answer(*reply);
    } else if (const auto* launch = std::get_if<LaunchBatch>(&effect)) {
        JobKey job{launch->job->id.value, launch->job->run.restarts};
        int copies = !calm_ && random_.chance(0.05) ? 2 : 1;
        std::size_t node = machine_of(launch->node);
        for (int i = 0; i < copies; ++i)
            down(node, [this, node, job] { machines_[node]->on_launch(job); });
    } else if (const auto* signal = std::get_if<SignalJob>(&effect)) {
        std::size_t node = machine_of(signal->node);
        down(node, [this, node, order = *signal] {
            if (order.signal == SIGSTOP) machines_[node]->on_stop(key_of(order.run).job);
            if (order.signal == SIGCONT) machines_[node]->on_continue(key_of(order.run).job);
        });
    } else if (const auto* terminate = std::get_if<TerminateJob>(&effect)) {
        Seconds kill_delay{random_.between(0, terminate->grace.count())};
        std::size_t node = machine_of(terminate->node);
        down(node, [this, node, order = *terminate, kill_delay] {
            RunKey run = key_of(order.run);
            if (order.only_step)
                machines_[node]->on_terminate_step(run, kill_delay);
            else
                machines_[node]->on_terminate(run.job, kill_delay);
        });
    } else if (const auto* reboot = std::get_if<RebootNode>(&effect)) {
        std::size_t node = machine_of(reboot->node);
        down(node, [this, node, issued = reboot->issued] { machines_[node]->on_reboot(issued); });
    }
}

std::size_t FaultWorld::machine_named(const std::string& name) const {
    const auto& nodes = first_settings_->nodes;
    auto same = [&](const NodeConfig& node) { return node.name == name; };
    return static_cast<std::size_t>(std::find_if(nodes.begin(), nodes.end(), same) - nodes.begin());
}

std::size_t FaultWorld::machine_of(NodeIndex node) const {
    return machine_named(cluster_->node(node).config.name);
}

bool FaultWorld::address(Event& event) const {
    return std::visit(
        [this](auto& it) {
            if constexpr (requires { it.node.value; }) {
                auto node = cluster_->find_node(first_settings_->nodes[it.node.value].name);
                if (node) it.node = *node;
                return node.has_value();
            }
            return true;
        },
        event);
}

}  // namespace sluice
