// store/records_load.cc
//
// Decodes rows to jobs and nodes. A row that is not valid is an error that says why; the store
// moves such a row to the table of damaged ones. See records.h.
#include <fmt/format.h>

#include "model/errors.h"
#include "model/hostlist.h"
#include "model/node_fields.h"
#include "model/qos_fields.h"
#include "model/reservation_fields.h"
#include "protocol/checks.h"
#include "protocol/convert.h"
#include "protocol/field_codec.h"
#include "store/records.h"

namespace sluice {

namespace {

using Names = std::vector<std::string>;

// Adds each share's node name to `names`; the share refers to it by position.
template <typename Shares>
Result<std::vector<NodeShare>> read_shares(const Shares& shares, Names& names) {
    std::vector<NodeShare> read;
    read.reserve(static_cast<std::size_t>(shares.size()));
    for (const wire::NodeShare& wire : shares) {
        read.push_back(TRY(from_wire(wire)));
        read.back().node = NodeIndex{static_cast<std::uint32_t>(names.size())};
        names.push_back(wire.name());
    }
    return read;
}

Result<void> read_times(const wire::JobRecord& wire, Job& job) {
    job.submit_time = TRY(checks::moment("submit time", wire.submit_time()));
    job.eligible_time = TRY(checks::moment("eligible time", wire.eligible_time()));
    if (wire.has_start_time()) job.run.start_time = TRY(checks::moment("start", wire.start_time()));
    if (wire.has_end_time()) job.run.end_time = TRY(checks::moment("end", wire.end_time()));
    if (wire.has_last_sched_eval()) {
        job.last_sched_eval = TRY(checks::moment("last evaluation", wire.last_sched_eval()));
    }
    job.run.suspended = TRY(checks::length("suspended", wire.suspended()));
    if (wire.has_preempt_time())
        job.run.preempt_time = TRY(checks::moment("preempt time", wire.preempt_time()));
    if (wire.has_last_checkpoint()) {
        job.run.last_checkpoint = TRY(checks::moment("last checkpoint", wire.last_checkpoint()));
    }
    if (wire.has_suspend_time())
        job.run.suspend_time = TRY(checks::moment("suspend time", wire.suspend_time()));
    return {};
}

Result<void> read_dependency(const wire::Dependency& wire, Dependency& dependency) {
    dependency.any = wire.any();
    for (const wire::Dependency::Condition& row : wire.left()) {
        Condition condition;
        condition.kind = TRY(checks::one_of("dependency", row.kind(), DependencyKind::Expand));
        condition.job = JobId{row.job()};
        if (row.has_task()) condition.task = row.task();
        condition.all_tasks = row.all_tasks();
        TRY(validate_number("dependency delay", row.delay_minutes(), sizes::kSeconds / 60));
        condition.delay = Minutes{row.delay_minutes()};
        condition.failed = row.failed();
        condition.seen_failure = row.seen_failure();
        if (row.has_due()) condition.due = TRY(checks::moment("dependency due", row.due()));
        dependency.left.push_back(condition);
    }
    return {};
}

Result<void> read_array(const wire::JobRecord& wire, Job& job) {
    if (wire.has_array_job()) job.array_job = JobId{wire.array_job()};
    if (wire.has_array_task()) job.array_task = wire.array_task();
    job.array_tasks = TRY(from_wire(wire.array_tasks()));
    job.array_limit = wire.array_limit();
    return {};
}

Result<Step> read_step(const wire::Step& row, Names& names) {
    Step step = TRY(from_wire(row));
    step.nodes = TRY(read_shares(row.nodes(), names));
    for (const NodeIndex left : step.nodes_left) {
        if (left.value >= names.size()) {
            return checks::refused("nodes left", "a node that the step does not have");
        }
    }
    return step;
}

Result<void> read_steps(const wire::JobRecord& wire, Job& job, StoredState& state) {
    if (wire.steps().empty()) return {};
    std::vector<Names>& names = state.step_nodes[job.id.value];
    for (const wire::Step& row : wire.steps()) {
        Step step = TRY(read_step(row, names.emplace_back()));
        job.run.steps.push_back(std::make_shared<const Step>(std::move(step)));
    }
    return {};
}

Result<void> read_run(const wire::JobRecord& wire, Job& job, StoredState& state) {
    if (!wire.allocation().empty()) {
        auto allocation = std::make_shared<Allocation>();
        allocation->node_names = wire.node_names();
        allocation->sharers = static_cast<std::uint8_t>(std::clamp(wire.sharers(), 1u, 255u));
        Names& names = state.allocation_nodes[job.id.value];
        allocation->nodes = TRY(read_shares(wire.allocation(), names));
        job.run.allocation = std::move(allocation);
    }
    if (!wire.completing_nodes().empty()) {
        Names& names = state.completing_nodes[job.id.value];
        for (const std::string& name : wire.completing_nodes()) {
            job.run.completing_nodes.push_back(NodeIndex{static_cast<std::uint32_t>(names.size())});
            names.push_back(name);
        }
    }
    job.run.launched = wire.launched();
    if (wire.has_kill_reason()) {
        job.run.kill_reason =
            TRY(checks::one_of("kill reason", wire.kill_reason(), KillReason::PreemptedRequeue));
    }
    if (wire.has_killed_by()) job.run.killed_by = UserId{wire.killed_by()};
    job.run.warned = wire.warned();
    job.run.exit = TRY(from_wire(wire.exit()));
    job.run.derived_exit = TRY(from_wire(wire.derived_exit()));
    job.run.usage = from_wire(wire.usage());
    job.run.next_step = wire.next_step();
    return read_steps(wire, job, state);
}

Result<Job> read_job(const wire::JobRecord& wire, StoredState& state) {
    Job job;
    job.id = JobId{wire.id()};
    set_request(job, TRY(decode_request(wire.request())));
    job.user = UserId{wire.user()};
    job.group = GroupId{wire.group()};
    job.state =
        TRY(checks::one_of("state", wire.state(), static_cast<JobState>(kJobStateCount - 1)));
    job.reason =
        TRY(checks::one_of("reason", wire.reason(), static_cast<Reason>(kReasonCount - 1)));
    job.reason_detail = wire.reason_detail();
    job.partition = wire.partition();
    job.time_limit = TRY(from_wire(wire.time_limit()));
    job.priority = wire.priority();
    job.priority_by_hand = wire.priority_by_hand();
    job.site_factor = wire.site_factor();
    job.admin_hold = wire.admin_hold();
    job.run.restarts = wire.restarts();
    job.idempotency_key = wire.idempotency_key();
    job.admin_comment = wire.admin_comment();
    job.run.sluid = wire.sluid();
    TRY(read_dependency(wire.dependency(), job.dependency));
    job.run.licenses_held = wire.licenses_held();
    job.run.reservation = wire.reservation();
    job.run.cpus_lent = wire.cpus_lent();
    job.run.awaits_cpus = wire.awaits_cpus();
    TRY(read_times(wire, job));
    TRY(read_array(wire, job));
    TRY(read_run(wire, job, state));
    TRY(validate(job));
    return job;
}

Error bad_row(std::string why) {
    return {ErrorCode::StoreFailed, std::move(why)};
}

Result<void> check_schema(std::uint32_t schema, std::string_view what) {
    if (schema <= kRecordSchema) return {};
    return Error{ErrorCode::ProtocolVersion,
                 fmt::format("the record of {} was written by a newer version (schema {}, this one "
                             "knows {}): upgrade, or restore an older backup",
                             what, schema, kRecordSchema)};
}

// A row of a value with a list of fields.
template <HasFields Value>
Result<Value> read_row(std::string_view bytes, std::string_view what) {
    field_codec::Reader first(bytes);
    if (!first.next()) return bad_row("it cannot be decoded");
    std::uint32_t schema = 0;
    const bool has_schema =
        first.number() == kSchemaNumber && field_codec::get(first, FieldLimits{}, schema);
    if (!has_schema) return bad_row("it cannot be decoded");
    TRY(check_schema(schema, what));
    Value value;
    Result<void> read = field_codec::get_fields(bytes, value);
    if (read) read = validate(value);
    if (!read) return bad_row(to_string(read.error()));
    return value;
}

Result<StoredRun> run_from(const wire::EndedRunRecord& record) {
    StoredRun run;
    run.state = TRY(checks::one_of("ended state", record.state(), ShownState::Stopped));
    StoredState nodes;
    run.job = TRY(read_job(record.job(), nodes));
    run.node_names = std::move(nodes.allocation_nodes[run.job.id.value]);
    return run;
}

}  // namespace

Result<StoredRun> read_ended_run(JobId job, std::uint32_t restarts, std::string_view bytes) {
    wire::EndedRunRecord record;
    if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return bad_row("it cannot be decoded");
    }
    TRY(check_schema(record.schema(), fmt::format("run {} of job {}", restarts, job.value)));
    if (record.job().id() != job.value || record.job().restarts() != restarts)
        return bad_row("it is that of another run");
    Result<StoredRun> run = run_from(record);
    if (!run) return bad_row(to_string(run.error()));
    return run;
}

Result<StoredStep> read_ended_step(const RunId& key, std::string_view bytes) {
    wire::EndedStepRecord record;
    if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return bad_row("it cannot be decoded");
    }
    TRY(check_schema(record.schema(), fmt::format("step {}.{}", key.job.value, key.step.value)));
    if (RunId{JobId{record.job()}, record.restarts(), StepId{record.step().id()}} != key)
        return bad_row("it is that of another step");
    StoredStep stored;
    Result<Step> step = read_step(record.step(), stored.node_names);
    if (!step) return bad_row(to_string(step.error()));
    stored.step = *std::move(step);
    return stored;
}

Result<void> RowLoader::add_job(JobId id, std::string_view bytes) {
    const std::string what = fmt::format("job {}", id.value);
    if (!record_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return bad_row("it cannot be decoded");
    }
    if (record_.id() != id.value) return bad_row("it is that of another job");
    TRY(check_schema(record_.schema(), what));
    Result<Job> job = read_job(record_, state_);
    if (!job) {
        state_.allocation_nodes.erase(id.value);
        state_.completing_nodes.erase(id.value);
        state_.step_nodes.erase(id.value);
        return bad_row(to_string(job.error()));
    }
    state_.jobs.push_back(*std::move(job));
    return {};
}

Result<void> RowLoader::add_node(std::string_view name, std::string_view bytes) {
    StoredNode node = TRY(read_row<StoredNode>(bytes, fmt::format("node {}", name)));
    if (node.name != name) return bad_row("it is that of another node");
    state_.nodes.push_back(std::move(node));
    return {};
}

Result<void> RowLoader::add_reservation(std::string_view name, std::string_view bytes) {
    Reservation reservation =
        TRY(read_row<Reservation>(bytes, fmt::format("reservation {}", name)));
    if (reservation.name != name) return bad_row("it is that of another reservation");
    if (!Hostlist::parse(reservation.node_names))
        return bad_row("its list of nodes cannot be read");
    state_.reservations.push_back(std::move(reservation));
    return {};
}

Result<void> RowLoader::add_qos(std::uint32_t id, std::string_view bytes) {
    Qos qos = TRY(read_row<Qos>(bytes, fmt::format("QOS {}", id)));
    if (qos.id != id || qos.name.empty()) return bad_row("it is that of another QOS");
    state_.qos.push_back(std::move(qos));
    return {};
}

}  // namespace sluice
