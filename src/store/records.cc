// store/records.cc
//
// See records.h.
#include "store/records.h"

#include <fmt/format.h>

#include "base/check.h"
#include "model/errors.h"
#include "model/node_fields.h"
#include "model/qos_fields.h"
#include "model/reservation_fields.h"
#include "protocol/convert.h"
#include "protocol/field_codec.h"

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
    out.set_request(encode(*job.request, job.details->unpacked()));
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

std::string to_record(const Job& job, const std::vector<std::string>& node_names) {
    wire::JobRecord out = without_steps(job, node_names);
    for (const auto& step : job.run.steps) *out.add_steps() = to_record(*step, node_names);
    return out.SerializeAsString();
}

std::string to_record(const EndedRun& run, const std::vector<std::string>& node_names) {
    wire::EndedRunRecord out;
    out.set_schema(kRecordSchema);
    out.set_state(static_cast<std::uint32_t>(run.state));
    *out.mutable_job() = without_steps(*run.job, node_names);
    return out.SerializeAsString();
}

std::string to_record(const EndedStep& step, const std::vector<std::string>& node_names) {
    wire::EndedStepRecord out;
    out.set_schema(kRecordSchema);
    out.set_job(step.job.value);
    out.set_restarts(step.restarts);
    *out.mutable_step() = to_record(*step.step, node_names);
    return out.SerializeAsString();
}

namespace {

template <HasFields Value>
std::string row_of(const Value& value) {
    std::string row;
    field_codec::put(kSchemaNumber, kRecordSchema, row);
    field_codec::put_fields(value, row);
    return row;
}

}  // namespace

std::string to_record(const Node& node) {
    return row_of(stored_form(node));
}

std::string to_record(const Reservation& reservation) {
    return row_of(reservation);
}

std::string to_record(const Qos& qos) {
    return row_of(qos);
}

}  // namespace sluice
