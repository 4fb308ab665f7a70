// store/records.cc
//
// See records.h.
#include "store/records.h"

#include <fmt/format.h>

#include "base/check.h"
#include "model/errors.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

const std::string& name_of(NodeIndex node, const std::vector<std::string>& names) {
    CHECK(node.value < names.size());
    return names[node.value];
}

wire::NodeShare to_record(const NodeShare& share, const std::vector<std::string>& names) {
    wire::NodeShare out = to_wire(share, name_of(share.node, names));
    out.clear_node();
    return out;
}

wire::Step to_record(const Step& step, const std::vector<std::string>& names) {
    wire::Step out = to_wire(step);
    for (wire::NodeShare& share : *out.mutable_nodes()) {
        share.set_name(name_of(NodeIndex{share.node()}, names));
        share.clear_node();
    }
    out.clear_nodes_left();
    for (const NodeIndex left : step.nodes_left) {
        for (std::uint32_t place = 0; place < step.nodes.size(); ++place) {
            if (step.nodes[place].node == left) out.add_nodes_left(place);
        }
    }
    return out;
}

void write_times(const Job& job, wire::JobRecord& out) {
    out.set_submit_time(to_unix(job.submit_time));
    out.set_eligible_time(to_unix(job.eligible_time));
    if (job.run.start_time) out.set_start_time(to_unix(*job.run.start_time));
    if (job.run.end_time) out.set_end_time(to_unix(*job.run.end_time));
    if (job.last_sched_eval) out.set_last_sched_eval(to_unix(*job.last_sched_eval));
    out.set_suspended(job.run.suspended.count());
    if (job.run.preempt_time) out.set_preempt_time(to_unix(*job.run.preempt_time));
    if (job.run.last_checkpoint) out.set_last_checkpoint(to_unix(*job.run.last_checkpoint));
    if (job.run.suspend_time) out.set_suspend_time(to_unix(*job.run.suspend_time));
}

void write_dependency(const Dependency& dependency, wire::Dependency& out) {
    out.set_any(dependency.any);
    for (const Condition& condition : dependency.left) {
        wire::Dependency::Condition& added = *out.add_left();
        added.set_kind(static_cast<std::uint32_t>(condition.kind));
        added.set_job(condition.job.value);
        if (condition.task) added.set_task(*condition.task);
        added.set_all_tasks(condition.all_tasks);
        added.set_delay_minutes(condition.delay.count());
        added.set_failed(condition.failed);
        added.set_seen_failure(condition.seen_failure);
        if (condition.due) added.set_due(to_unix(*condition.due));
    }
}

void write_array(const Job& job, wire::JobRecord& out) {
    if (job.array_job) out.set_array_job(job.array_job->value);
    if (job.array_task) out.set_array_task(*job.array_task);
    to_wire(job.array_tasks, *out.mutable_array_tasks());
    out.set_array_limit(job.array_limit);
}

void write_run(const Job& job, const std::vector<std::string>& names, wire::JobRecord& out) {
    if (job.run.allocation) {
        out.set_node_names(job.run.allocation->node_names);
        out.set_sharers(job.run.allocation->sharers);
        for (const NodeShare& share : job.run.allocation->nodes) {
            *out.add_allocation() = to_record(share, names);
        }
    }
    for (const NodeIndex node : job.run.completing_nodes) {
        out.add_completing_nodes(name_of(node, names));
    }
    out.set_launched(job.run.launched);
    if (job.run.kill_reason) out.set_kill_reason(static_cast<std::uint32_t>(*job.run.kill_reason));
    if (job.run.killed_by) out.set_killed_by(job.run.killed_by->value);
    out.set_warned(job.run.warned);
    *out.mutable_exit() = to_wire(job.run.exit);
    *out.mutable_derived_exit() = to_wire(job.run.derived_exit);
    *out.mutable_usage() = to_wire(job.run.usage);
    out.set_next_step(job.run.next_step);
}

wire::JobRecord without_steps(const Job& job, const std::vector<std::string>& node_names) {
    wire::JobRecord out;
    out.set_schema(kRecordSchema);
    out.set_id(job.id.value);
    *out.mutable_request() = to_wire(*job.request, *job.details);
    out.set_user(job.user.value);
    out.set_group(job.group.value);
    out.set_state(static_cast<std::uint32_t>(job.state));
    out.set_reason(static_cast<std::uint32_t>(job.reason));
    out.set_reason_detail(job.reason_detail);
    out.set_partition(job.partition);
    *out.mutable_time_limit() = to_wire(job.time_limit);
    out.set_priority(job.priority);
    out.set_priority_by_hand(job.priority_by_hand);
    out.set_site_factor(job.site_factor);
    out.set_admin_hold(job.admin_hold);
    out.set_restarts(job.run.restarts);
    out.set_idempotency_key(job.idempotency_key);
    out.set_admin_comment(job.admin_comment);
    out.set_sluid(job.run.sluid);
    if (!job.dependency.empty()) write_dependency(job.dependency, *out.mutable_dependency());
    out.set_licenses_held(job.run.licenses_held);
    out.set_reservation(job.run.reservation);
    out.set_cpus_lent(job.run.cpus_lent);
    out.set_awaits_cpus(job.run.awaits_cpus);
    write_times(job, out);
    write_array(job, out);
    write_run(job, node_names, out);
    return out;
}

}  // namespace

wire::JobRecord to_record(const Job& job, const std::vector<std::string>& node_names) {
    wire::JobRecord out = without_steps(job, node_names);
    for (const auto& step : job.run.steps) *out.add_steps() = to_record(*step, node_names);
    return out;
}

wire::EndedRunRecord to_record(const EndedRun& run, const std::vector<std::string>& node_names) {
    wire::EndedRunRecord out;
    out.set_schema(kRecordSchema);
    out.set_state(static_cast<std::uint32_t>(run.state));
    *out.mutable_job() = without_steps(*run.job, node_names);
    return out;
}

wire::EndedStepRecord to_record(const EndedStep& step, const std::vector<std::string>& node_names) {
    wire::EndedStepRecord out;
    out.set_schema(kRecordSchema);
    out.set_job(step.job.value);
    out.set_restarts(step.restarts);
    *out.mutable_step() = to_record(*step.step, node_names);
    return out;
}

namespace {

void write_reboot(const Reboot& reboot, wire::RebootRecord& out) {
    out.set_next(static_cast<std::uint32_t>(reboot.next));
    out.set_drained(reboot.drained);
    out.set_reasoned(reboot.reasoned);
    if (reboot.issued) out.set_issued(to_unix(*reboot.issued));
    out.set_boot_id(reboot.boot_id);
}

}  // namespace

wire::NodeRecord to_record(const Node& node) {
    wire::NodeRecord out;
    out.set_schema(kRecordSchema);
    out.set_name(node.config.name);
    out.set_admin_flags(node.admin_flags);
    out.set_down(node.down);
    out.set_reason(node.reason);
    if (node.reason_time) out.set_reason_time(to_unix(*node.reason_time));
    out.set_reason_user(node.reason_user.value);
    out.set_comment(node.comment);
    if (node.weight_by_hand) out.set_weight(*node.weight_by_hand);
    if (node.features_by_hand) {
        out.set_features_set(true);
        for (const std::string& feature : *node.features_by_hand) out.add_features(feature);
    }
    if (node.reboot) write_reboot(*node.reboot, *out.mutable_reboot());
    return out;
}

wire::ReservationRecord to_record(const Reservation& reservation) {
    wire::ReservationRecord out = to_wire(reservation);
    out.set_schema(kRecordSchema);
    return out;
}

namespace {

void put_allotment(const Allotment& allotment, wire::Allotment& out) {
    out.set_tres(print_tres(allotment.tres));
    if (allotment.running) out.set_running(*allotment.running);
    if (allotment.submitted) out.set_submitted(*allotment.submitted);
}

}  // namespace

wire::QosRecord to_record(const Qos& qos) {
    wire::QosRecord out;
    out.set_schema(kRecordSchema);
    out.set_id(qos.id);
    out.set_name(qos.name);
    out.set_description(qos.description);
    out.set_priority(qos.priority);
    for (const std::string& name : qos.preempt) out.add_preempt(name);
    out.set_preempt_mode(qos.preempt_mode);
    out.set_grace_time(qos.grace_time.count());
    if (qos.exempt_time) out.set_exempt_time(qos.exempt_time->count());
    out.set_flags(qos.flags);
    out.set_max_per_job(print_tres(qos.max_per_job));
    out.set_max_per_node(print_tres(qos.max_per_node));
    out.set_min_per_job(print_tres(qos.min_per_job));
    if (qos.max_wall) out.set_max_wall(qos.max_wall->count());
    put_allotment(qos.of_all, *out.mutable_of_all());
    put_allotment(qos.of_user, *out.mutable_of_user());
    put_allotment(qos.of_account, *out.mutable_of_account());
    return out;
}

}  // namespace sluice
