// controller/requests.cc
//
// One function per kind of request. What does not parse is refused here, by name; the core checks
// whether the caller may do it, except for acting as another user.
#include "controller/requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "core/permission.h"
#include "model/distribution.h"
#include "model/errors.h"
#include "model/gpu_bind.h"
#include "model/hostlist.h"
#include "model/node_counts.h"
#include "model/sizes.h"
#include "model/validate.h"
#include "protocol/checks.h"
#include "protocol/convert.h"

namespace sluice {
namespace {

// --uid and --gid: the caller may act as another user.
Result<Caller> speaker(const wire::SubmitJob& message, Caller caller, UserId slurm_user) {
    caller.sent_by_root = caller.user.value == 0;
    if (!message.has_as_user() && !message.has_as_group()) return caller;
    TRY(permit(role_of(caller.user, slurm_user), Action::SubmitForOther));
    caller.sent_by = caller.user;
    if (message.has_as_user()) caller.user = UserId{message.as_user()};
    if (message.has_as_group()) caller.group = GroupId{message.as_group()};
    return caller;
}

Result<void> check_script(const JobRequest& demand, const wire::SubmitJob& message,
                          std::uint32_t size_max) {
    if (demand.kind != JobKind::Batch) return {};
    if (message.script().empty()) return Error{ErrorCode::ScriptMissing, ""};
    if (message.script().size() > size_max) {
        return Error{ErrorCode::ScriptTooLarge,
                     fmt::format("{} bytes, the limit is {} (SchedulerParameters=max_script_size)",
                                 message.script().size(), size_max)};
    }
    return {};
}

Result<void> check_environment(const wire::SubmitJob& message) {
    if (message.environment().size() <= sizes::kEnvironment) return {};
    return Error{ErrorCode::BadArgument,
                 fmt::format("the environment has {} bytes, the limit is {}: see --export",
                             message.environment().size(), sizes::kEnvironment)};
}

Result<void> check_key(const std::string& key) {
    if (key.size() <= sizes::kKey) return {};
    return Error{ErrorCode::ProtocolError, "idempotency key too long"};
}

std::string keep_blob(std::string bytes, std::vector<Blob>& blobs) {
    if (bytes.empty()) return {};
    std::string hash = blob_hash(bytes);
    blobs.push_back({hash, std::move(bytes)});
    return hash;
}

Result<Incoming> submission(wire::SubmitJob& message, const Caller& caller, RequestId id,
                            const RequestLimits& limits) {
    Incoming incoming;
    Caller who = TRY(speaker(message, caller, limits.slurm_user));
    SubmitJob event{.request = id,
                    .caller = std::move(who),
                    .idempotency_key = message.idempotency_key(),
                    .test_only = message.test_only()};
    TRY(check_key(event.idempotency_key));
    TRY(check_environment(message));
    auto demand = std::make_shared<JobRequest>(TRY(decode_request(message.request())));
    TRY(check_script(*demand, message, limits.script_size_max));
    demand->script_hash = keep_blob(std::move(*message.mutable_script()), incoming.blobs);
    demand->environment_hash = keep_blob(std::move(*message.mutable_environment()), incoming.blobs);
    event.demand = std::move(demand);
    incoming.event = std::move(event);
    return incoming;
}

Result<Event> cancellation(const wire::CancelJobs& message, const Caller& caller, RequestId id) {
    if (message.signal() < 0 || message.signal() > 64) {
        return Error{ErrorCode::InvalidSignal, std::to_string(message.signal())};
    }
    Filter filter = TRY(from_wire(message.filter()));
    TRY(validate_list("jobs", filter.jobs.size(), sizes::kChangedJobCount));
    TRY(checks::text("admin-comment", message.admin_comment(), sizes::kWord));
    TRY(checks::text("message", message.message(), sizes::kWord));
    return Event{CancelJobs{.request = id,
                            .caller = caller,
                            .filter = std::move(filter),
                            .signal = message.signal(),
                            .batch_shell = message.batch(),
                            .full = message.full(),
                            .admin_comment = message.admin_comment(),
                            .message = message.message()}};
}

Result<JobVerb> verb_from(wire::ControlJobs::Verb verb) {
    switch (verb) {
        case wire::ControlJobs::HOLD:
            return JobVerb::Hold;
        case wire::ControlJobs::USER_HOLD:
            return JobVerb::UserHold;
        case wire::ControlJobs::RELEASE:
            return JobVerb::Release;
        case wire::ControlJobs::REQUEUE:
            return JobVerb::Requeue;
        case wire::ControlJobs::REQUEUE_HOLD:
            return JobVerb::RequeueHold;
        case wire::ControlJobs::SUSPEND:
            return JobVerb::Suspend;
        case wire::ControlJobs::RESUME:
            return JobVerb::Resume;
        case wire::ControlJobs::TOP:
            return JobVerb::Top;
        default:
            break;
    }
    return Error{ErrorCode::NotSupported, fmt::format("job control {}", static_cast<int>(verb))};
}

Result<Event> control(const wire::ControlJobs& message, const Caller& caller, RequestId id) {
    JobVerb verb = TRY(verb_from(message.verb()));
    ControlJobs event{.request = id, .caller = caller, .verb = verb};
    event.special_exit = message.special_exit();
    event.jobs = TRY(job_refs_from(message.jobs(), sizes::kChangedJobCount));
    return Event{std::move(event)};
}

Result<UpdatePartition::Verb> verb_of(wire::Update::Verb verb) {
    switch (verb) {
        case wire::Update::CHANGE:
            return UpdatePartition::Verb::Update;
        case wire::Update::CREATE:
            return UpdatePartition::Verb::Create;
        case wire::Update::DELETE:
            return UpdatePartition::Verb::Delete;
        default:
            break;
    }
    return Error{ErrorCode::NotSupported, fmt::format("update verb {}", static_cast<int>(verb))};
}

Result<Event> update(const wire::Update& message, const Caller& caller, RequestId id) {
    TRY(validate_text("name", message.name(), sizes::kNodeList));
    TRY(validate_list("bytes of the change", message.change().size(), sizes::kChangeBytes));
    switch (message.entity()) {
        case wire::Update::JOB: {
            JobRef job = TRY(parse_job_ref(message.name()));
            JobChange change = TRY(decode_job_change(message.change()));
            return Event{UpdateJob{id, caller, std::move(job), std::move(change)}};
        }
        case wire::Update::NODE: {
            Hostlist nodes = TRY(Hostlist::parse(message.name()));
            if (message.verb() == wire::Update::DELETE)
                return Event{DeleteNodes{id, caller, nodes.names()}};
            NodeChange change = TRY(decode_node_change(message.change()));
            return Event{UpdateNode{id, caller, nodes.names(), std::move(change)}};
        }
        case wire::Update::PARTITION: {
            UpdatePartition::Verb verb = TRY(verb_of(message.verb()));
            PartitionChange change = TRY(decode_partition_change(message.change()));
            return Event{UpdatePartition{.request = id,
                                         .caller = caller,
                                         .partition = message.name(),
                                         .change = std::move(change),
                                         .verb = verb}};
        }
        default:
            break;
    }
    return Error{ErrorCode::NotSupported,
                 fmt::format("update of entity {}", static_cast<int>(message.entity()))};
}

bool creates_nodes(const wire::Request& request) {
    return request.has_update() && request.update().entity() == wire::Update::NODE &&
           request.update().verb() == wire::Update::CREATE;
}

Result<Event> node_creation(const wire::Update& message, const Caller& caller, RequestId id,
                            const RequestLimits& limits) {
    CHECK(limits.config);
    TRY(validate_text("node", message.definition(), sizes::kNodeList));
    CreateNodes event{.request = id, .caller = caller};
    event.nodes = TRY(parse_nodes(*limits.config, message.definition(), "scontrol create"));
    return Event{std::move(event)};
}

Result<Event> reboot(const wire::RebootNodes& message, const Caller& caller, RequestId id) {
    if (message.next() > static_cast<std::uint32_t>(AfterReboot::Down)) {
        return Error{ErrorCode::ProtocolError, fmt::format("nextstate {}", message.next())};
    }
    TRY(validate_text("nodes", message.nodes(), sizes::kNodeList));
    TRY(validate_text("reason", message.reason(), sizes::kWord));
    Hostlist nodes = TRY(Hostlist::parse(message.nodes()));
    return Event{RebootNodes{.request = id,
                             .caller = caller,
                             .nodes = nodes.names(),
                             .asap = message.asap(),
                             .next = static_cast<AfterReboot>(message.next()),
                             .reason = message.reason()}};
}

// The members of groups are added by the session: the look-up may take long.
Result<Event> reservation_change(std::string_view message, const Caller& caller, RequestId id) {
    ReservationChange change = TRY(decode_reservation_change(message));
    return Event{ChangeReservation{id, caller, std::move(change)}};
}

template <typename Number>
std::optional<Number> optional_of(bool present, Number number) {
    return present ? std::optional<Number>(number) : std::nullopt;
}

// Checks the request of a step, before it is placed: see also validate(Step).
Result<void> validate_step_request(const wire::CreateStep& message) {
    TRY(validate_text("job-name", message.name(), sizes::kWord));
    TRY(validate_text("nodelist", message.nodelist(), sizes::kNodeList));
    TRY(validate_text("exclude", message.exclude(), sizes::kNodeList));
    TRY(validate_text("tres-bind", message.tres_bind(), sizes::kWord));
    TRY(validate_text("nodes", message.node_sizes(), sizes::kWord));
    TRY(validate_text("container", message.container(), sizes::kPath));
    TRY(validate_text("distribution", message.distribution(), sizes::kWord));
    TRY(validate_number("nodes", message.nodes_min(), sizes::kCount));
    TRY(validate_number("nodes", message.nodes_max(), sizes::kCount));
    TRY(validate_number("ntasks", message.ntasks(), sizes::kCount));
    TRY(validate_number("ntasks-per-node", message.ntasks_per_node(), sizes::kCount));
    TRY(validate_number("cpus-per-task", message.cpus_per_task(), sizes::kCount));
    TRY(validate_number("ntasks-per-core", message.ntasks_per_core(), sizes::kCount));
    TRY(validate_number("ntasks-per-socket", message.ntasks_per_socket(), sizes::kCount));
    TRY(validate_number("threads-per-core", message.threads_per_core(), sizes::kCount));
    for (const std::uint64_t memory : {message.mem_per_node(), message.mem_per_cpu()}) {
        if (memory > sizes::kAmount)
            return invalid_value("mem", std::to_string(memory), "too much");
    }
    return check_key(message.idempotency_key());
}

Result<Event> step_creation(const wire::CreateStep& message, const Caller& caller, RequestId id) {
    TRY(validate_step_request(message));
    StepDemand demand{
        .job = JobId{message.job()},
        .name = message.name(),
        .nodes_min = message.nodes_min(),
        .nodes_max = message.nodes_max(),
        .ntasks = optional_of(message.has_ntasks(), message.ntasks()),
        .ntasks_per_node = optional_of(message.has_ntasks_per_node(), message.ntasks_per_node()),
        .cpus_per_task = optional_of(message.has_cpus_per_task(), message.cpus_per_task()),
        .mem_per_node = optional_of<Megabytes>(message.has_mem_per_node(), message.mem_per_node()),
        .mem_per_cpu = optional_of<Megabytes>(message.has_mem_per_cpu(), message.mem_per_cpu()),
        .nodelist = message.nodelist(),
        .exclude = message.exclude(),
        .exact = message.exact(),
        .overlap = message.overlap(),
        .immediate = message.immediate(),
        .distribution = {},
        .overcommit = message.overcommit(),
        .first_node = message.first_node(),
        .tres_bind = message.tres_bind(),
        .node_sizes = message.node_sizes(),
        .resv_ports = optional_of(message.has_resv_ports(), message.resv_ports()),
        .ntasks_per_core = optional_of(message.has_ntasks_per_core(), message.ntasks_per_core()),
        .ntasks_per_socket =
            optional_of(message.has_ntasks_per_socket(), message.ntasks_per_socket()),
        .threads_per_core = optional_of(message.has_threads_per_core(), message.threads_per_core()),
        .container = message.container(),
        .key = message.idempotency_key(),
        .only_number = message.only_number()};
    if (message.has_number()) demand.number = StepId{message.number()};
    demand.gres_per_node = TRY(from_wire(message.gres_per_node()));
    demand.gpus_per_task = TRY(from_wire(message.gpus_per_task()));
    demand.gpus = TRY(from_wire(message.gpus()));
    if (!message.distribution().empty())
        demand.distribution = TRY(parse_distribution(message.distribution()));
    if (!demand.node_sizes.empty()) TRY(parse_node_sizes(demand.node_sizes));
    if (!demand.tres_bind.empty()) TRY(parse_tres_bind(demand.tres_bind));
    if (message.has_time_limit()) demand.time_limit = TRY(from_wire(message.time_limit()));
    return Event{CreateStep{id, caller, std::move(demand)}};
}

WaitFor wait_of(wire::WaitJob::Until until) {
    if (until == wire::WaitJob::ALLOCATED) return WaitFor::Allocated;
    return until == wire::WaitJob::STEPS_ENDED ? WaitFor::StepsEnded : WaitFor::Ended;
}

Result<Event> simple_event(const wire::Request& request, const Caller& caller, RequestId id) {
    switch (request.body_case()) {
        case wire::Request::kCancel:
            return cancellation(request.cancel(), caller, id);
        case wire::Request::kControl:
            return control(request.control(), caller, id);
        case wire::Request::kUpdate:
            return update(request.update(), caller, id);
        case wire::Request::kCreateStep:
            return step_creation(request.create_step(), caller, id);
        case wire::Request::kWaitJob:
            return Event{WaitJob{id, caller, JobId{request.wait_job().job()},
                                 wait_of(request.wait_job().until()),
                                 optional_of(request.wait_job().has_own_step(),
                                             StepId{request.wait_job().own_step()})}};
        case wire::Request::kCompleteJob: {
            ExitStatus exit = TRY(from_wire(request.exit()));
            return Event{CompleteJob{id, caller, JobId{request.complete_job()}, exit}};
        }
        case wire::Request::kChangeReservation:
            return reservation_change(request.change_reservation(), caller, id);
        case wire::Request::kSetTrigger: {
            TriggerRequest demand = TRY(decode_trigger_request(request.set_trigger()));
            return Event{SetTrigger{id, caller, std::move(demand)}};
        }
        case wire::Request::kClearTriggers: {
            const TriggerChoice choice = TRY(decode_trigger_choice(request.clear_triggers()));
            return Event{ClearTriggers{id, caller, choice}};
        }
        case wire::Request::kReboot:
            return reboot(request.reboot(), caller, id);
        case wire::Request::kJobAllocation:
            return Event{ShowAllocation{id, caller, JobId{request.job_allocation()}}};
        case wire::Request::kExplain: {
            TRY(validate_text("job", request.explain(), sizes::kNodeList));
            JobRef job = TRY(parse_job_ref(request.explain()));
            return Event{ExplainJob{id, caller, std::move(job)}};
        }
        default:
            break;
    }
    CHECK(false, "is_for_core() let a query through");
}

// A node's text becomes a part of the reason of a job or of the node: it is cut to what their
// records may have.
std::string cut_to_reason(std::string text) {
    text.resize(std::min({text.size(), text.find('\0'), kReportedMost}));
    return text;
}

std::optional<Error> error_in(bool present, const wire::Error& message) {
    if (!present) return std::nullopt;
    Error error = from_wire(message);
    error.detail = cut_to_reason(std::move(error.detail));
    return error;
}

}  // namespace

bool is_for_core(const wire::Request& request) {
    switch (request.body_case()) {
        case wire::Request::kSubmit:
        case wire::Request::kCancel:
        case wire::Request::kControl:
        case wire::Request::kUpdate:
        case wire::Request::kCreateStep:
        case wire::Request::kWaitJob:
        case wire::Request::kCompleteJob:
        case wire::Request::kJobAllocation:
        case wire::Request::kExplain:
        case wire::Request::kChangeReservation:
        case wire::Request::kReboot:
        case wire::Request::kSetTrigger:
        case wire::Request::kClearTriggers:
            return true;
        default:
            return false;
    }
}

Result<Incoming> incoming_from(wire::Request& request, const Caller& caller, RequestId id,
                               const RequestLimits& limits) {
    Incoming incoming;
    if (request.body_case() == wire::Request::kSubmit) {
        incoming = TRY(submission(*request.mutable_submit(), caller, id, limits));
    } else if (creates_nodes(request)) {
        incoming.event = TRY(node_creation(request.update(), caller, id, limits));
    } else {
        incoming.event = TRY(simple_event(request, caller, id));
    }
    incoming.request = id;
    return incoming;
}

// A number from another host, clamped to a hundred years.
static Seconds clock_difference(std::int64_t seconds) {
    constexpr std::int64_t kMost = 100L * 365 * 24 * 3600;
    return Seconds{std::clamp(seconds, -kMost, kMost)};
}

namespace {

Result<Event> data_report(const wire::DataReport& report, NodeIndex node) {
    TRY(validate_text("DataProblem", report.problem(), sizes::kWord));
    DataReported event{node, from_wire(report.run()), {}, report.problem()};
    if (report.saved() > 0 && report.saved() <= sizes::kSeconds)
        event.saved = from_unix(report.saved());
    return Event{std::move(event)};
}

}  // namespace
static Result<Event> data_progress_from(const wire::DataProgress& report, NodeIndex node) {
    constexpr std::uint64_t kBytes = std::uint64_t{1} << 60;
    if (report.phase().size() > sizes::kKey)
        return Error{ErrorCode::ProtocolError, "the phase of a stage is too long"};
    return Event{DataProgressed{from_wire(report.run()),
                                {.node = node,
                                 .phase = report.phase(),
                                 .bytes_done = std::min(report.bytes_done(), kBytes),
                                 .bytes_total = std::min(report.bytes_total(), kBytes),
                                 .bytes_read = std::min(report.bytes_read(), kBytes)}}};
}

static Result<Event> datasets_from(const wire::CachedData& report, NodeIndex node) {
    if (static_cast<std::size_t>(report.sources_size()) > sizes::kDatasetCount)
        return Error{ErrorCode::ProtocolError, "too many datasets in a cache"};
    return Event{DataCached{node, {report.sources().begin(), report.sources().end()}}};
}

static Result<NodeUse> use_of(NodeIndex node, const std::string& bytes) {
    NodeUse use = TRY(decode_node_use(bytes));
    use.node = node;
    return use;
}

Result<Event> event_from(const wire::AgentReport& report, NodeIndex node) {
    switch (report.body_case()) {
        case wire::AgentReport::kLaunchResult: {
            const auto& result = report.launch_result();
            return Event{LaunchReported{node, from_wire(result.run()),
                                        error_in(result.has_error(), result.error())}};
        }
        case wire::AgentReport::kJobEnded: {
            const auto& ended = report.job_ended();
            ExitStatus exit = TRY(from_wire(ended.exit()));
            NodeUse use = TRY(use_of(node, ended.use()));
            return Event{JobEnded{node, from_wire(ended.run()), exit,
                                  error_in(ended.has_launch_error(), ended.launch_error()),
                                  ended.epilog_failed(), from_wire(ended.usage()), ended.cleaning(),
                                  std::move(use)}};
        }
        case wire::AgentReport::kStepEnded: {
            const auto& ended = report.step_ended();
            ExitStatus exit = TRY(from_wire(ended.exit()));
            return Event{StepEnded{node, from_wire(ended.run()), exit, ended.srun_lost(),
                                   from_wire(ended.usage())}};
        }
        case wire::AgentReport::kNodeCleaned: {
            NodeUse use = TRY(use_of(node, report.node_cleaned().use()));
            return Event{NodeCleaned{node, from_wire(report.node_cleaned().run()),
                                     report.node_cleaned().epilog_failed(), std::move(use)}};
        }
        case wire::AgentReport::kKillFailed:
            return Event{KillFailed{node, from_wire(report.kill_failed().run())}};
        case wire::AgentReport::kData:
            return data_report(report.data(), node);
        case wire::AgentReport::kGpus: {
            GpuReport gpus = TRY(decode_gpu_report(report.gpus()));
            return Event{GpusReported{node, std::move(gpus)}};
        }
        case wire::AgentReport::kHeartbeat:
            return Event{NodeHeartbeat{node, report.heartbeat().load(),
                                       report.heartbeat().free_memory(),
                                       clock_difference(report.heartbeat().clock_steps()),
                                       report.heartbeat().free_scratch()}};
        case wire::AgentReport::kDataProgress:
            return data_progress_from(report.data_progress(), node);
        case wire::AgentReport::kCachedData:
            return datasets_from(report.cached_data(), node);
        default:
            break;
    }
    return Error{ErrorCode::ProtocolError, "a report that this version does not know"};
}

// slurmd -Z defines one node, with the name that it registers.
static Result<NodeConfig> dynamic_node(const wire::Register& message, const Config& config) {
    const wire::DynamicNode& dynamic = message.dynamic();
    TRY(validate_text("--conf", dynamic.conf(), sizes::kNodeList));
    std::vector<NodeConfig> nodes = TRY(parse_nodes(config, dynamic.conf(), "slurmd -Z"));
    if (nodes.size() != 1 || nodes.front().name != message.node())
        return Error{ErrorCode::ConfigInvalid, "slurmd -Z: one node is needed, its own"};
    return std::move(nodes.front());
}

Result<NodeRegistered> registration_from(const wire::Register& message, Time now,
                                         const Config& config) {
    NodeRegistered event{.node = message.node()};
    event.facts = TRY(decode_facts(message.facts()));
    event.facts.problem = cut_to_reason(std::move(event.facts.problem));
    for (const wire::RunId& run : message.running()) event.running.push_back(from_wire(run));
    constexpr std::int64_t kClockMost = 1L << 40;  // far ahead of any clock
    const std::int64_t clock = std::clamp(message.clock(), std::int64_t{0}, kClockMost);
    event.clock_ahead = clock_difference(clock - to_unix(now));
    if (message.has_dynamic())
        event.dynamic = std::make_shared<NodeConfig>(TRY(dynamic_node(message, config)));
    return event;
}

RunId from_wire(const wire::RunId& message) {
    return {JobId{message.job()}, message.restarts(), StepId{message.step()}};
}

void to_wire(const RunId& run, wire::RunId& message) {
    message.set_job(run.job.value);
    message.set_restarts(run.restarts);
    message.set_step(run.step.value);
}

}  // namespace sluice
