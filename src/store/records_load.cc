// store/records_load.cc
//
// Rows back into jobs and nodes. A row that does not make sense is an error that says why; the
// store sets such a row aside. See records.h.
#include <fmt/format.h>

#include "model/errors.h"
#include "model/hostlist.h"
#include "protocol/checks.h"
#include "protocol/convert.h"
#include "store/records.h"

namespace sluice {

namespace {

using Names = std::vector<std::string>;

// Moves the name out of each share and puts its place there instead.
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

Result<Reboot> read_reboot(const wire::RebootRecord& wire) {
    Reboot reboot{.next = TRY(checks::one_of("state after reboot", wire.next(), AfterReboot::Down)),
                  .drained = wire.drained(),
                  .reasoned = wire.reasoned(),
                  .issued = std::nullopt,
                  .boot_id = wire.boot_id()};
    if (wire.has_issued()) reboot.issued = TRY(checks::moment("reboot", wire.issued()));
    return reboot;
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
    set_request(job, TRY(from_wire(wire.request())));
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

template <typename Record>
Result<void> check_schema(const Record& record, std::string_view what) {
    if (record.schema() <= kRecordSchema) return {};
    return Error{ErrorCode::ProtocolVersion,
                 fmt::format("the record of {} was written by a newer version (schema {}, this one "
                             "knows {}): upgrade, or restore an older backup",
                             what, record.schema(), kRecordSchema)};
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
    TRY(check_schema(record, fmt::format("run {} of job {}", restarts, job.value)));
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
    TRY(check_schema(record, fmt::format("step {}.{}", key.job.value, key.step.value)));
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
    TRY(check_schema(record_, what));
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
    const std::string what = fmt::format("node {}", name);
    wire::NodeRecord record;
    if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return bad_row("it cannot be decoded");
    }
    if (record.name() != name) return bad_row("it is that of another node");
    TRY(check_schema(record, what));
    StoredState::StoredNode node{.name = record.name(),
                                 .admin_flags = record.admin_flags(),
                                 .down = record.down(),
                                 .reason = record.reason(),
                                 .reason_time = std::nullopt,
                                 .reason_user = UserId{record.reason_user()},
                                 .comment = record.comment(),
                                 .weight = std::nullopt,
                                 .features = std::nullopt,
                                 .reboot = std::nullopt};
    if (record.has_weight()) node.weight = record.weight();
    if (record.features_set())
        node.features.emplace(record.features().begin(), record.features().end());
    if (record.has_reason_time()) {
        Result<Time> time = checks::moment("reason time", record.reason_time());
        if (!time) return bad_row(to_string(time.error()));
        node.reason_time = *time;
    }
    if (record.has_reboot()) {
        Result<Reboot> reboot = read_reboot(record.reboot());
        if (!reboot) return bad_row(to_string(reboot.error()));
        node.reboot = *std::move(reboot);
    }
    state_.nodes.push_back(std::move(node));
    return {};
}

Result<void> RowLoader::add_reservation(std::string_view name, std::string_view bytes) {
    const std::string what = fmt::format("reservation {}", name);
    wire::ReservationRecord record;
    if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return bad_row("it cannot be decoded");
    }
    if (record.name() != name) return bad_row("it is that of another reservation");
    TRY(check_schema(record, what));
    Result<Reservation> reservation = from_wire(record);
    if (!reservation) return bad_row(to_string(reservation.error()));
    if (!Hostlist::parse(reservation->node_names))
        return bad_row("its list of nodes cannot be read");
    state_.reservations.push_back(*std::move(reservation));
    return {};
}

namespace {

Result<Allotment> allotment_from(const wire::Allotment& record) {
    Allotment out{.tres = TRY(parse_tres(record.tres()))};
    if (record.has_running()) out.running = record.running();
    if (record.has_submitted()) out.submitted = record.submitted();
    return out;
}

Result<void> load_limits(const wire::QosRecord& record, Qos& qos) {
    qos.flags = record.flags();
    qos.max_per_job = TRY(parse_tres(record.max_per_job()));
    qos.max_per_node = TRY(parse_tres(record.max_per_node()));
    qos.min_per_job = TRY(parse_tres(record.min_per_job()));
    if (record.has_max_wall()) qos.max_wall = Seconds{record.max_wall()};
    qos.of_all = TRY(allotment_from(record.of_all()));
    qos.of_user = TRY(allotment_from(record.of_user()));
    qos.of_account = TRY(allotment_from(record.of_account()));
    return {};
}

}  // namespace

Result<void> RowLoader::add_qos(std::uint32_t id, std::string_view bytes) {
    const std::string what = fmt::format("QOS {}", id);
    wire::QosRecord record;
    if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return bad_row("it cannot be decoded");
    }
    TRY(check_schema(record, what));
    if (record.id() != id || record.name().empty()) return bad_row("it is that of another QOS");
    Qos qos;
    qos.id = id;
    qos.name = record.name();
    qos.description = record.description();
    qos.priority = record.priority();
    qos.preempt.assign(record.preempt().begin(), record.preempt().end());
    qos.preempt_mode = record.preempt_mode();
    qos.grace_time = Seconds{record.grace_time()};
    if (record.has_exempt_time()) qos.exempt_time = Seconds{record.exempt_time()};
    Result<void> limits = load_limits(record, qos);
    if (limits) limits = validate(qos);
    if (!limits) return bad_row(to_string(limits.error()));
    state_.qos.push_back(std::move(qos));
    return {};
}

}  // namespace sluice
