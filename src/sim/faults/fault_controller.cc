// sim/faults/fault_controller.cc
//
// The controller: decides batches with the code of slurmctld (turn/), commits them to the rows, and
// carries them out, while the next one is decided already. A crash loses all that is not written,
// and the effects that are not done.
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
constexpr Seconds kAnswers{40};   // a node that was heard so lately is there
constexpr Seconds kLate{10};      // small steps of the clock are followed

std::string described(const RunId& run) {
    return to_string(key_of(run));
}

// What the event log says of an event; others are told apart by their number.
struct DescribeEvent {
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
    std::string operator()(const UsageImported& e) const {
        return fmt::format("usage import {}", e.import->number);
    }
    std::string operator()(const RebootNodes& e) const { return "reboot " + e.nodes.front(); }
    std::string operator()(const Reconfigure&) const { return "reconfigure"; }
    std::string operator()(const ChangeReservation& e) const {
        return fmt::format("reservation {} {} flags {:x}", static_cast<int>(e.change.verb),
                           e.change.name, e.change.flags_set);
    }
    std::string operator()(const NodeCleaned& e) const { return "cleaned " + described(e.run); }
    std::string operator()(const GpusReported& e) const {
        return fmt::format("GPUs of {}", e.node.value);
    }
    std::string operator()(const KillFailed& e) const { return "kill failed " + described(e.run); }
    std::string operator()(const DataReported& e) const { return "data " + described(e.run); }
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
    epoch_ = rows_.store().take_epoch().value();
    renewed_ = now_;
    ++incarnation_;
    clock_ = LoopClock(kWaitMost);
    clock_.turn(controller_now(), now_.time_since_epoch());
    seen_offset_ = clock_offset_;
    stalled_until_ = now_;
    decision_planned_ = false;
    log("the controller starts");
    if (auto broken = rules_.broken_rows(rows_)) fail(*broken);
    auto cluster = std::make_unique<Cluster>(settings_, controller_now());
    cluster->restore(rows_.load(), controller_now());
    for (const NodeConfig& node : first_settings_->nodes) {
        if (!cluster->find_node(node.name)) unknown_nodes_.insert(node.name);
    }
    decider_ = std::make_unique<Decider>(std::move(cluster));
    cluster_ = &decider_->cluster();
    check_invariants("restart");
    wake_for_timers();
    if (options_.by_qos) publish_policy();  // it may have missed changes
}

void FaultWorld::push(Incoming incoming) {
    if (!cluster_) return;
    inbox_.push_back(std::move(incoming));
    if (decision_planned_) return;
    decision_planned_ = true;
    in_turn(Seconds{dice("controller").between(0, 1)}, [this] { decide(); });
}

// What the controller does then; after a stall, if there is one.
void FaultWorld::in_turn(Seconds delay, std::function<void()> what) {
    later(delay, [this, me = incarnation_, what = std::move(what)] {
        if (me != incarnation_ || !cluster_) return;
        if (now_ < stalled_until_) return in_turn(stalled_until_ - now_, what);
        if (!may_act(renewed_)) return step_down();
        what();
    });
}

void FaultWorld::wake_for_timers() {
    Seconds wait = kWaitMost;
    if (const auto due = decider_->next_tick())
        wait = std::clamp(*due - controller_now(), Seconds{0}, kWaitMost);
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
        if (node.power.state != PowerState::Up) continue;  // it was to be switched on
        if (now_ - said_[machine_of(index)] < kAnswers)
            fail(fmt::format("node {} is given up, but it answers", node.config.name));
    }
}

// Time limits are counted in true time, whatever the clock says.
void FaultWorld::check_time_limits(const Decided& decided) {
    cluster_->jobs().for_each([&](const Job& job) {
        if (is_live(job))
            starts_.try_emplace(JobKey{job.id, job.run.restarts}, RunStart{now_, steps_unseen_});
    });
    for (const NodeOrder& each : decided.decisions.orders) {
        const auto* order = std::get_if<TerminateJob>(&each.order);
        if (!order || order->reason_line.find("TIME LIMIT") == std::string::npos) continue;
        const Job& job = cluster_->job(order->run.job);
        auto start = starts_.find(JobKey{job.id, order->run.restarts});
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
    Decided decided{.step = turn.step};
    seen_offset_ = clock_offset_;
    decider_->begin(turn);
    check_invariants("clock");
    std::vector<Incoming> batch = std::move(inbox_);
    inbox_.clear();
    for (Incoming& incoming : batch) {
        note_heard(incoming.event);
        if (!address(incoming.event)) {  // not in slurm.conf: the controller hangs up
            if (incoming.wire && !incoming.wire->broken)
                lose_wire(incoming.wire->node, incoming.wire, true);
            continue;
        }
        if (auto* node = std::get_if<NodeRegistered>(&incoming.event))
            node->clock_ahead = -clock_offset_;
        const std::string what = std::visit(DescribeEvent{}, incoming.event);
        log(what);
        decider_->decide(incoming.event);
        check_invariants(what);
        if (incoming.sequence != 0)
            decided.acks.push_back({Tick{}, incoming.wire, incoming.sequence});
    }
    tick(batch.size());
    if (auto broken = stranger_.ask(*cluster_, turn.now)) fail(*broken);
    run_pass(turn.now);
    decided.decisions = decider_->finish();
    check_time_limits(decided);
    writing_.push_back(std::move(decided));
    const Seconds length{dice("disk").between(0, calm_ ? 1 : commit_most_)};
    if (length > Seconds{1}) happened("slow commit");
    in_turn(length, [this] { commit(); });
    maybe_crash(crash_chance_, "crash before commit");
}

void FaultWorld::tick(std::size_t decided) {
    std::vector<bool> were_down(cluster_->node_count());
    for (std::uint32_t i = 0; i < were_down.size(); ++i)
        were_down[i] = cluster_->node(NodeIndex{i}).down || cluster_->node(NodeIndex{i}).reboot;
    if (!decider_->tick(decided, inbox_.size())) return;
    log("tick");
    check_invariants("tick");
    check_lost_nodes(were_down);
}

void FaultWorld::run_pass(Time time) {
    if (options_.wide) rules_.note_queue(*cluster_);
    decider_->pass();
    check_invariants("pass");
    if (!options_.wide) return;
    if (auto broken = rules_.broken_by_start(*cluster_, time)) fail(*broken);
    const auto due = decider_->next_tick();
    const bool timers_wait =
        due && cluster_->next_timer() < due;  // those of begin times among them
    if (auto broken = rules_.broken_queue(*cluster_, time); broken && !timers_wait) fail(*broken);
}

void FaultWorld::commit() {
    if (!has_database(active_)) return in_turn(Seconds{1}, [this] { commit(); });
    Decided decided = std::move(writing_.front());
    writing_.pop_front();
    if (!rows_.commit(decided.decisions.changes, decided.decisions.node_names, epoch_))
        return fail("the active controller cannot write");
    maybe_crash(crash_chance_, "crash after commit");
    if (cluster_) release(std::move(decided));
}

void FaultWorld::release(Decided decided) {
    for (const Reply& reply : decided.decisions.replies) {
        maybe_crash(crash_chance_, "crash between replies");
        if (!cluster_) return;  // the rest is not done
        answer(reply);
    }
    for (const NodeOrder& order : decided.decisions.orders) {
        maybe_crash(crash_chance_ / 4, "crash between orders");
        if (!cluster_) return;
        carry_out(order);
    }
    for (const RunPowerProgram& program : decided.decisions.power_programs) {
        maybe_crash(crash_chance_, "crash before a program");
        if (!cluster_) return;
        run_power_program(program);
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
    if (!calm_ && dice("answers").chance(0.05)) {
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
    later(delay(dice("answers")), [this, question, answer = reply.answer, time = now_] {
        answer_time_ = time;
        question.on_answer(answer);
    });
}

void FaultWorld::welcome(std::size_t node, const NodeWelcome& answer) {
    if (!controller_ends_[node]) return;
    controller_ends_[node]->welcome = true;
    down(node, [this, node, refused = answer.error.has_value()] {
        if (refused)
            hang_up(node);
        else
            machines_[node]->on_welcome();
    });
    if (answer.error) controller_ends_[node]->welcome = false;
}

void FaultWorld::carry_out(const NodeOrder& order) {
    const std::size_t node = machine_named(order.node);
    if (const auto* answer = std::get_if<NodeWelcome>(&order.order)) {
        welcome(node, *answer);
    } else if (const auto* launch = std::get_if<LaunchBatch>(&order.order)) {
        const JobKey job{launch->job->id, launch->job->run.restarts};
        const int copies = !calm_ && network_of(node).chance(0.05) ? 2 : 1;
        if (copies > 1) happened("order repeated");
        for (int i = 0; i < copies; ++i)
            down(node, [this, node, job] { machines_[node]->on_launch(hook_job(job)); });
    } else if (const auto* prepare = std::get_if<PrepareJob>(&order.order)) {
        PrepareOrdered event{.job = hook_job({prepare->job->id, prepare->job->run.restarts}),
                             .contain = prepare->contain};
        down(node, [this, node, event] { machines_[node]->on_prepare(event); });
    } else if (const auto* signal = std::get_if<SignalJob>(&order.order)) {
        down(node, [this, node, it = *signal] { machines_[node]->on_signal(it); });
    } else if (const auto* terminate = std::get_if<TerminateJob>(&order.order)) {
        EndOrdered end{.run = key_of(terminate->run),
                       .grace = terminate->grace,
                       .only_step = terminate->only_step};
        if (terminate->for_epilog) end.job = hook_job(end.run.job);
        down(node, [this, node, end] { machines_[node]->on_terminate(end); });
    } else if (const auto* reboot = std::get_if<RebootNode>(&order.order)) {
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
