// controller/commands_test.cc
//
// Whatever users and administrators ask for, whatever nodes report, and however the clock moves:
// each record that the core changes can be read back after a restart. The memory store reads back
// every row it is given.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "controller/requests.h"
#include "core/cluster.h"
#include "core/job/verbs.h"
#include "model/errors.h"
#include "model/job_keys.h"
#include "model/node_keys.h"
#include "model/qos_keys.h"
#include "model/sizes.h"
#include "policy/apply.h"
#include "protocol/convert.h"
#include "store/store.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

constexpr std::string_view kJobKeys[] = {
    "Account",
    "AdminComment",
    "ArrayTaskThrottle",
    "Comment",
    "CPUsPerTask",
    "Deadline",
    "Dependency",
    "EligibleTime",
    "EndTime",
    "ExcNodeList",
    "Gres",
    "JobName",
    "LastCheckpoint",
    "Licenses",
    "MailType",
    "MailUser",
    "MinMemoryCPU",
    "MinMemoryNode",
    "Nice",
    "NodeList",
    "NumNodes",
    "NumTasks",
    "Partition",
    "Priority",
    "QOS",
    "Requeue",
    "Reservation",
    "SiteFactor",
    "StartTime",
    "StdErr",
    "StdIn",
    "StdOut",
    "TimeLimit",
    "TimeLimit+",
    "TimeLimit-",
    "TimeMin",
    "TresPerNode",
    "WCKey",
    "WorkDir",
    "CoreSpec",
    "Features",
    "MinCPUsNode",
    "MinTmpDiskNode",
    "NumCPUs",
    "Prefer",
    "ReqCores",
    "ReqSockets",
    "ReqThreads",
    "Switches",
    "TasksPerNode",
    "TresPerJob",
    "ThreadSpec",
    "TresPerSocket",
    "OverSubscribe",
    "wait-for-switch",
};
constexpr std::string_view kQosKeys[] = {"Description", "GraceTime", "GrpTRES",
                                         "GrpJobs",     "MaxWall",   "Preempt",
                                         "Flags",       "Priority",  "PreemptExemptTime"};
constexpr std::string_view kNodeKeys[] = {"Reason", "Comment", "Weight", "Features", "State"};

std::string nasty_value() {
    const std::size_t length =
        *rc::gen::element<std::size_t>(1, 1023, 1024, 1025, 4096, 4097, 65536, 65537, 1100000);
    return *rc::gen::element<std::string>(
        "", std::string("a\0b", 3), std::string(length, 'x'), "0", "1", "-1", "+71582788",
        "71582788", "4294967294", "4294967295", "1073741824", "1073741825", "99999999999999",
        "unlimited", "2999-01-01", "now+99999999", "now-5", "1970-01-02", "gpu:99999999999999",
        "gpu:2", "matlab:1", "matlab:4294967280,matlab:4294967280", "afterany:1", "singleton", "n1",
        "n[1-131072]", "n[1-131073]", "10000000T", "281474976710657", "1-4294967295", "low",
        "cpu=99999999999999", "mem=10000000T", "cpu=-1", "FAIL", "DRAIN", "normal", "DenyOnLimit");
}

template <std::size_t Count>
KeyTexts nasty_changes(const std::string_view (&keys)[Count]) {
    KeyTexts changes;
    for (int left = *rc::gen::inRange(1, 4); left > 0; --left) {
        const std::size_t key = *rc::gen::inRange<std::size_t>(0, Count);
        changes.emplace_back(std::string(keys[key]), nasty_value());
    }
    return changes;
}

template <typename Item>
std::optional<ListChange<Item>> list_change(std::vector<Item> items) {
    using Verb = typename ListChange<Item>::Verb;
    if (!*rc::gen::arbitrary<bool>()) return std::nullopt;
    return ListChange<Item>{.verb = *rc::gen::element(Verb::Replace, Verb::Add, Verb::Remove),
                            .items = std::move(items)};
}

std::optional<Seconds> some_length() {
    return *rc::gen::element<std::optional<Seconds>>(std::nullopt, Seconds{0}, Seconds{60},
                                                     Seconds{sizes::kSeconds}, Seconds{1u << 31});
}

Event reservation_event(Time now) {
    ReservationChange change;
    using Verb = ReservationChange::Verb;
    change.verb = *rc::gen::element(Verb::Create, Verb::Update, Verb::Delete);
    change.name = *rc::gen::element<std::string>("r1", "r2", std::string(1025, 'r'));
    change.start = *rc::gen::element<std::optional<Time>>(std::nullopt, now, now + Seconds{3600},
                                                          from_unix(sizes::kSeconds - 5));
    change.duration = some_length();
    change.duration_sign = *rc::gen::element(0, 1, -1);
    change.nodes = list_change<std::string>({"n1"});
    change.users = list_change<UserId>({UserId{1000}, UserId{1001}});
    change.accounts = list_change<std::string>({nasty_value()});
    change.licenses = *rc::gen::element<std::optional<std::string>>(std::nullopt, "matlab:1",
                                                                    std::string(1025, 'm'));
    change.max_start_delay = some_length();
    change.purge_after = some_length();
    change.comment = nasty_value();
    change.flags_set = *rc::gen::element<std::uint32_t>(0, kResvDaily, kResvForceStart);
    return ChangeReservation{RequestId{1}, kRoot, change};
}

Event step_event(JobId job) {
    StepDemand demand{.job = job, .name = nasty_value()};
    demand.ntasks = *rc::gen::element<std::optional<std::uint32_t>>(std::nullopt, 1u, 0xffffffffu);
    demand.cpus_per_task =
        *rc::gen::element<std::optional<std::uint32_t>>(std::nullopt, 1u, 0xffffffffu);
    demand.mem_per_node =
        *rc::gen::element<std::optional<Megabytes>>(std::nullopt, Megabytes{0}, Megabytes{1} << 60);
    demand.overlap = *rc::gen::arbitrary<bool>();
    demand.tres_bind = nasty_value();
    demand.immediate = true;
    return CreateStep{RequestId{1}, kRoot, std::move(demand)};
}

// As it would come from a client.
std::optional<Event> submission() {
    auto demand = std::make_shared<JobRequest>();
    demand->name = nasty_value();
    demand->comment = nasty_value();
    demand->shape.ntasks =
        *rc::gen::element<std::optional<std::uint32_t>>(std::nullopt, 1u, 1u << 31);
    demand->licenses = nasty_value();
    demand->script_args = {nasty_value(), nasty_value()};
    demand->time_limit = TimeLimit{Seconds{*rc::gen::element<std::int64_t>(60, 1ll << 33)}};
    Result<JobRequest> taken = decode_request(encode(*demand));
    if (!taken) return std::nullopt;
    return SubmitJob{RequestId{1}, kRoot, std::make_shared<JobRequest>(*std::move(taken)), {}};
}

std::optional<Event> qos_event(Scenario& world, Time now) {
    const Result<QosChange> change = parse_qos_change(nasty_changes(kQosKeys));
    if (!change) return std::nullopt;
    PolicyChange all;
    PolicyStep& step = all.steps.emplace_back();
    step.verb = *rc::gen::element(PolicyVerb::Add, PolicyVerb::Modify);
    step.entity = PolicyEntity::Qos;
    step.names = {*rc::gen::element<std::string>("normal", "high", nasty_value())};
    step.qos = *change;
    Policy policy = world.cluster().policy();
    const PolicyActor root{.name = "root", .uid = {}, .is_root = true};
    if (!apply_change(policy, all, root, {.gres = {"gpu"}}, now)) return std::nullopt;
    return PolicyChanged{std::make_shared<const Policy>(std::move(policy))};
}

std::optional<Event> trigger_event(JobId job) {
    TriggerRequest demand;
    demand.event = *rc::gen::element(TriggerEvent::NodeDown, TriggerEvent::NodeDraining,
                                     TriggerEvent::JobEnded, TriggerEvent::JobTimeLimit);
    if (*rc::gen::arbitrary<bool>()) demand.job = job;
    demand.nodes = *rc::gen::arbitrary<bool>() ? "n[1-3]" : nasty_value();
    demand.offset = Seconds{*rc::gen::element<std::int64_t>(0, -32000, 32001, 1ll << 62)};
    demand.program = "/" + nasty_value();
    const Result<TriggerRequest> taken = decode_trigger_request(encode(demand));
    if (!taken) return std::nullopt;
    return SetTrigger{RequestId{1}, kRoot, *taken};
}

std::uint64_t nasty_number() {
    return *rc::gen::element(0ull, 1ull, 1ull << 31, 1ull << 48, 1ull << 60, ~0ull);
}

void describe_end(wire::ExitStatus& exit, wire::Usage& usage) {
    exit.set_code(*rc::gen::element(0u, 1u, 255u));
    exit.set_signal(*rc::gen::element(0u, 9u));
    usage.set_cpu_user_us(nasty_number());
    usage.set_cpu_system_us(nasty_number());
    usage.set_rss_max_kb(nasty_number());
}

void describe_error(wire::Error& error) {
    const ErrorCode code = *rc::gen::element(ErrorCode::LaunchFailed, ErrorCode::NodeUnable,
                                             ErrorCode::CredentialInvalid);
    error.set_code(static_cast<std::uint32_t>(code));
    error.set_detail(nasty_value());
}

wire::AgentReport node_report(const wire::RunId& run) {
    wire::AgentReport report;
    switch (*rc::gen::inRange(0, 6)) {
        case 0: {
            wire::JobEnded& ended = *report.mutable_job_ended();
            *ended.mutable_run() = run;
            describe_end(*ended.mutable_exit(), *ended.mutable_usage());
            if (*rc::gen::arbitrary<bool>()) describe_error(*ended.mutable_launch_error());
            ended.set_cleaning(*rc::gen::arbitrary<bool>());
            break;
        }
        case 1:
            *report.mutable_launch_result()->mutable_run() = run;
            describe_error(*report.mutable_launch_result()->mutable_error());
            break;
        case 2: {
            wire::StepEnded& ended = *report.mutable_step_ended();
            *ended.mutable_run() = run;
            ended.mutable_run()->set_step(0);
            describe_end(*ended.mutable_exit(), *ended.mutable_usage());
            break;
        }
        case 3:
            *report.mutable_node_cleaned()->mutable_run() = run;
            report.mutable_node_cleaned()->set_epilog_failed(*rc::gen::arbitrary<bool>());
            break;
        case 4:
            *report.mutable_data()->mutable_run() = run;
            report.mutable_data()->set_saved(static_cast<std::int64_t>(nasty_number()));
            report.mutable_data()->set_problem(nasty_value());
            break;
        default:
            *report.mutable_kill_failed()->mutable_run() = run;
    }
    return report;
}

std::optional<Event> node_event(Scenario& world, Time now) {
    const NodeIndex node{*rc::gen::inRange(0u, 3u)};
    if (*rc::gen::inRange(0, 4) == 0) {
        wire::Register message;
        message.set_node(world.cluster().node(node).config.name);
        NodeFacts facts;
        facts.problem = nasty_value();
        facts.hostname = nasty_value();
        facts.real_memory = nasty_number();
        message.set_facts(encode(facts));
        message.set_clock(static_cast<std::int64_t>(nasty_number()));
        Result<NodeRegistered> event = registration_from(message, now, Config{});
        return event ? std::optional<Event>(*std::move(event)) : std::nullopt;
    }
    wire::RunId run;
    to_wire(RunId{world.job("runs"), 0, kBatchStep}, run);
    Result<Event> event = event_from(node_report(run), node);
    return event ? std::optional<Event>(*std::move(event)) : std::nullopt;
}

std::optional<Event> random_event(Scenario& world, Time now) {
    const JobId job = world.job(*rc::gen::element<std::string>("runs", "waits", "array"));
    const JobRef ref{.job = job, .tasks = {}, .het_component = {}, .step = {}};
    switch (*rc::gen::inRange(0, 10)) {
        case 8:
            return node_event(world, now);
        case 9:
            return trigger_event(job);
        case 0:
            return submission();
        case 1:
            return step_event(world.job("runs"));
        case 2:
            return reservation_event(now);
        case 3:
            return qos_event(world, now);
        case 4: {
            const Result<NodeChange> change = parse_node_change(nasty_changes(kNodeKeys));
            if (!change) return std::nullopt;
            return UpdateNode{RequestId{1}, kRoot, {"n2"}, *change};
        }
        case 5:
            return ControlJobs{.request = RequestId{1},
                               .caller = kRoot,
                               .verb = *rc::gen::element(JobVerb::Suspend, JobVerb::Resume,
                                                         JobVerb::Hold, JobVerb::Release),
                               .jobs = {ref}};
        default:
            break;
    }
    const Result<JobChange> change = parse_job_change(nasty_changes(kJobKeys), now);
    if (!change) return std::nullopt;
    return UpdateJob{RequestId{1}, kRoot, ref, *change};
}

void commit_all(Scenario& world, Store& store) {
    Batch batch;
    batch.changes = world.cluster().take_changes();
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < world.cluster().node_count(); ++i)
        names.push_back(world.cluster().node(NodeIndex{i}).config.name);
    batch.node_names = std::make_shared<const std::vector<std::string>>(std::move(names));
    const CommitOutcome committed = store.commit(batch);
    if (!committed) RC_FAIL(committed.why);
}

RC_GTEST_PROP(Commands, LeaveOnlyRecordsThatCanBeReadBack, ()) {
    Scenario world;
    RC_ASSERT(world.run("settings licenses=matlab:2\nnodes n[1-3] cpus=4 mem=1000 gres=gpu:2\n"
                        "partition low default\nsubmit runs nodes=2 tasks=4 time=60\n"
                        "submit waits nodes=3 tasks=12 time=60\nsubmit array array=0-9 hold\n"
                        "pass\nexpect runs running") == "");
    const std::unique_ptr<Store> store = memory_store();
    commit_all(world, *store);
    Time now = world.now();
    for (int left = *rc::gen::inRange(1, 30); left > 0; --left) {
        now += Seconds{*rc::gen::element(0, 1, 60, -30, -3600)};
        now = std::max(now, from_unix(0));
        std::optional<Event> event = random_event(world, now);
        if (!event) continue;
        Effects effects;
        apply(world.cluster(), now, *event, effects);
        commit_all(world, *store);
    }
    RC_ASSERT(store->load().has_value());
}

}  // namespace
}  // namespace sluice
