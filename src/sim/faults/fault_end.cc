// sim/faults/fault_end.cc: has all settled, and is it as it should be?
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/faults/fault_world.h"

namespace sluice {

bool FaultWorld::is_settled() {
    if (!calm_ || !cluster_ || !inbox_.empty() || !writing_.empty()) return false;
    for (const Client& client : clients_) {
        if (!client.answered) return false;
    }
    for (const auto& [id, job] : rows_.jobs()) {
        if (!is_finished(job.state) || is_completing(job)) return false;
    }
    for (const auto& machine : machines_) {
        if (!machine->is_clean() || !machine->registered()) return false;
    }
    for (std::uint32_t i = 0; i < cluster_->node_count(); ++i) {
        if (!may_take_jobs(cluster_->node(NodeIndex{i}))) return false;
    }
    return true;
}

void FaultWorld::check_the_end() {
    if (auto broken = rules_.broken_rows(rows_)) fail(*broken);
    std::map<std::string, std::set<std::uint32_t>> by_key;
    for (const auto* jobs : {&rows_.jobs(), &rows_.forgotten()}) {
        for (const auto& [id, job] : *jobs) {
            check_job(job);
            by_key[job.idempotency_key].insert(job.array_job ? job.array_job->value : id);
        }
    }
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        if (!clients_[i].answered) fail(fmt::format("submission {} was never answered", i));
        if (!clients_[i].job) continue;
        ++result_.accepted;
        const auto& jobs = by_key[fmt::format("key{}", i)];
        if (jobs.size() > 1) fail(fmt::format("submission {} became {} jobs", i, jobs.size()));
        if (jobs.contains(clients_[i].job->value))
            ++result_.ended;  // check_job() has seen it
        else
            fail(fmt::format("job {} is lost", clients_[i].job->value));
    }
    for (const auto& machine : machines_) {
        if (!machine->is_clean())
            fail(fmt::format("node {} is not clean: {}", machine->node().value, machine->rest()));
        if (!cluster_) return fail("the controller is down");
        const std::string& name = first_settings_->nodes[machine->node().value].name;
        const Node& node = cluster_->node(*cluster_->find_node(name));
        if (!may_take_jobs(node)) {
            fail(fmt::format("node {} does not come back: {}{} flags {:x} power {} {}",
                             machine->node().value, node.connected ? "" : "not connected ",
                             node.down ? "down" : "", node_flags(node),
                             static_cast<int>(node.power.state), node.reason));
        }
    }
}

void FaultWorld::check_job(const Job& job) {
    if (!is_finished(job.state) || is_completing(job)) {
        return fail(fmt::format("job {} is still {} ({}{}) in {}", print_job_id(job),
                                state_name(shown_state(job)), reason_name(job.reason),
                                job.reason_detail, job.partition));
    }
    if (job.state != JobState::Completed || job.request->kind != JobKind::Batch) return;
    auto run = finished_.find(batch_of({job.id, job.run.restarts}));
    if (run == finished_.end() || run->second.failed()) {
        fail(fmt::format("job {} is completed, but did not run to its end", job.id.value));
    }
}

void FaultWorld::note_heard(const Event& event) {
    if (const auto* launch = std::get_if<LaunchReported>(&event))
        heard_.emplace(launch->node.value, key_of(launch->run));
    const auto* registered = std::get_if<NodeRegistered>(&event);
    if (!registered) return;
    for (const RunId& run : registered->running)
        heard_.emplace(machine_named(registered->node), key_of(run));
}

// The controller cannot know of it yet: the node has said so, or will when it registers.
bool FaultWorld::is_news(const Machine& machine, const RunKey& run) {
    std::size_t node = machine.node().value;
    if (heard_.contains({node, run})) return false;
    return !machine.registered() || node_ends_[node]->told.contains(run);
}

// Whatever runs on a node that the controller hears from is known to it.
void FaultWorld::check_machines() {
    for (const auto& machine : machines_) {
        for (const RunKey& run : machine->running()) {
            if (given_up(*machine, run) || is_news(*machine, run)) continue;
            auto job = cluster_->find_job(run.job.job);
            const Node& node = cluster_->node(
                *cluster_->find_node(first_settings_->nodes[machine->node().value].name));
            bool here =
                std::find(node.jobs.begin(), node.jobs.end(), run.job.job) != node.jobs.end();
            if (!here || job->run.restarts != run.job.restarts)
                fail(fmt::format("{} runs on node {}, which nobody knows", to_string(run),
                                 machine->node().value));
        }
    }
}

// A step that no node has, and no srun will bring, would keep its CPUs from the others of its job.
void FaultWorld::check_steps() {
    constexpr Seconds kLongEnough{300};  // its srun may be dead: see core/job/launch.cc
    std::map<RunKey, Time> lost;
    cluster_->jobs().for_each([&](const Job& job) {
        if (!is_live(job) || job.state == JobState::Suspended) return;
        for (const auto& step : job.run.steps) {
            RunKey run{{job.id, job.run.restarts}, step->id};
            if (step->state != StepState::Running) continue;
            bool somewhere = std::any_of(machines_.begin(), machines_.end(),
                                         [&](const auto& machine) { return machine->runs(run); });
            if (somewhere) continue;
            // While the controller stands still it cannot notice.
            Time since =
                std::max(lost_steps_.contains(run) ? lost_steps_.at(run) : now_, stalled_until_);
            lost[run] = since;
            if (now_ >= since + kLongEnough)
                fail(fmt::format("step {} runs nowhere", to_string(run)));
        }
    });
    lost_steps_ = std::move(lost);
}

}  // namespace sluice
