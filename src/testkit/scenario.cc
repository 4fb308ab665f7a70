#include "testkit/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/text.h"
#include "core/limits/reservations.h"
#include "core/query/reason.h"
#include "core/question.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/license.h"
#include "model/node_counts.h"
#include "model/times.h"

namespace sluice {

namespace {

std::string option(const std::map<std::string, std::string>& options, const std::string& key,
                   std::string otherwise = {}) {
    auto found = options.find(key);
    return found == options.end() ? std::move(otherwise) : found->second;
}

std::uint32_t as_number(const std::string& text) {
    return static_cast<std::uint32_t>(to_number(text).value());
}

std::map<std::string, std::string> options_in(const std::vector<std::string>& words,
                                              std::size_t from) {
    std::map<std::string, std::string> options;
    for (std::size_t i = from; i < words.size(); ++i) {
        std::size_t equals = words[i].find('=');
        if (equals == std::string::npos)
            options[words[i]] = "yes";
        else
            options[words[i].substr(0, equals)] = words[i].substr(equals + 1);
    }
    return options;
}

Shape shape_from(const std::map<std::string, std::string>& options) {
    Shape shape;
    if (options.contains("nodes")) shape.nodes_min = as_number(options.at("nodes"));
    if (options.contains("nodes")) shape.nodes_max = shape.nodes_min;
    if (options.contains("sizes")) {
        WantedNodes counts = parse_node_counts(options.at("sizes")).value();
        shape.nodes_min = counts.min;
        shape.nodes_max = counts.max;
        shape.node_sizes = counts.sizes;
    }
    if (options.contains("tasks")) shape.ntasks = as_number(options.at("tasks"));
    if (options.contains("cpus")) shape.cpus_per_task = as_number(options.at("cpus"));
    if (!options.contains("nomem"))
        shape.mem_per_node = options.contains("mem") ? as_number(options.at("mem")) : 1;
    if (options.contains("gres")) shape.gres_per_node = parse_gres(options.at("gres")).value();
    if (options.contains("gpus")) shape.gpus = parse_gpus(options.at("gpus")).value();
    if (options.contains("exclusive")) {
        shape.exclusive = options.at("exclusive") == "user" ? Exclusive::User : Exclusive::Node;
    }
    if (options.contains("switches")) shape.switches_max = as_number(options.at("switches"));
    if (options.contains("memcpu")) {
        shape.mem_per_node.reset();
        shape.mem_per_cpu = as_number(options.at("memcpu"));
    }
    constexpr std::pair<const char*, std::optional<std::uint32_t> Shape::*> kNumbers[] = {
        {"nodetasks", &Shape::ntasks_per_node},    {"mincpus", &Shape::cpus_min_per_node},
        {"sockets", &Shape::sockets_per_node},     {"socketcores", &Shape::cores_per_socket},
        {"corethreads", &Shape::threads_per_core}, {"gpucpus", &Shape::cpus_per_gpu}};
    for (const auto& [key, member] : kNumbers) {
        if (options.contains(key)) shape.*member = as_number(options.at(key));
    }
    if (options.contains("socketgpus"))
        shape.gpus_per_socket = parse_gpus(options.at("socketgpus")).value();
    if (options.contains("threadspec")) shape.thread_spec = as_number(options.at("threadspec"));
    if (options.contains("corespec")) shape.core_spec = as_number(options.at("corespec"));
    shape.oversubscribe = options.contains("share");
    shape.bind_gpus_to_cores = options.contains("bind");
    shape.nodelist = option(options, "nodelist");
    shape.exclude = option(options, "exclude");
    shape.constraint = option(options, "feature");
    return shape;
}

std::vector<std::string> list_in(const std::map<std::string, std::string>& options,
                                 const std::string& key) {
    std::vector<std::string> names;
    const std::string list = option(options, key);  // the views below point into it
    for (std::string_view name : split(list, ',')) {
        if (!name.empty()) names.emplace_back(name);
    }
    return names;
}

void set_partition_rules(PartitionConfig& partition,
                         const std::map<std::string, std::string>& options) {
    auto count = [&](const std::string& key) -> std::optional<std::uint32_t> {
        return options.contains(key) ? std::optional(as_number(options.at(key))) : std::nullopt;
    };
    partition.state = option(options, "state", "UP");
    partition.alternate = option(options, "alternate");
    partition.allow_groups = list_in(options, "groups");
    partition.allow_accounts = list_in(options, "accounts");
    partition.deny_accounts = list_in(options, "denyaccounts");
    partition.allow_alloc_nodes = list_in(options, "hosts");
    partition.root_only = options.contains("rootonly");
    partition.disable_root_jobs = options.contains("norootjobs");
    partition.req_resv = options.contains("reqresv");
    partition.lln = options.contains("lln");
    partition.def_mem_per_gpu = count("gpumem");
    partition.exclusive = option(options, "exclusive", "NO");
    partition.oversubscribe = option(options, "oversubscribe", "NO");
    partition.min_nodes = count("minnodes").value_or(0);
    partition.max_cpus_per_node = count("maxcpus");
    partition.max_cpus_per_socket = count("maxsocketcpus");
    partition.max_mem_per_cpu = count("maxmemcpu");
    partition.max_mem_per_node = count("maxmemnode");
    partition.qos = option(options, "qos");
    partition.tres_billing_weights = option(options, "weights");
}

SwitchConfig switch_of(const std::string& name, const std::map<std::string, std::string>& options) {
    SwitchConfig config{.name = name, .nodes = {}, .switches = {}};
    if (options.contains("nodes"))
        config.nodes = Hostlist::parse(options.at("nodes")).value().names();
    const std::string below_list = option(options, "switches");  // the views below point into it
    for (std::string_view below : split(below_list, ',')) {
        if (!below.empty()) config.switches.emplace_back(below);
    }
    return config;
}

}  // namespace

std::string Scenario::run(std::string_view text) {
    std::size_t number = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        line = trim(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        std::vector<std::string> parts;
        for (std::string_view word : words(line)) parts.emplace_back(word);
        std::string problem = run_line(parts.front(), parts);
        if (problem.empty() && cluster_) problem = broken_invariant(*cluster_).value_or("");
        if (!problem.empty()) return fmt::format("line {}: {}: {}", number, line, problem);
    }
    return {};
}

void Scenario::ensure_cluster() {
    if (cluster_) return;
    if (settings_.partitions.empty()) add_partition("main", {{"default", "yes"}});
    cluster_ = std::make_unique<Cluster>(std::make_shared<Settings>(settings_), now_);
    for (const auto& [name, options] : qos_)
        apply_event(UpdateQos{{}, kRoot, {name}, {}, UpdateQos::Verb::Create});
    for (const auto& [name, options] : qos_) set_qos(name, options);
    for (const NodeConfig& node : settings_.nodes) apply_event(NodeRegistered{node.name, {}, {}});
}

void Scenario::set_qos(const std::string& name, const Words& options) {
    apply_event(UpdateQos{{}, kRoot, {name}, {options.begin(), options.end()}});
}

void Scenario::apply_event(Event event) {
    apply(*cluster_, now_, event, effects_);
}

void Scenario::add_nodes(const std::string& names, const Words& options) {
    for (const std::string& name : Hostlist::parse(names).value().names()) {
        NodeConfig node{.name = name, .hostname = name, .address = name};
        node.cpus = as_number(option(options, "cpus", "1"));
        node.cores_per_socket = as_number(option(options, "cores", "1"));
        node.threads_per_core = as_number(option(options, "threads", "1"));
        node.sockets = std::max(1u, node.cpus / (node.cores_per_socket * node.threads_per_core));
        node.core_spec_count = as_number(option(options, "spec", "0"));
        if (options.contains("speclist")) {
            TaskSet::parse(options.at("speclist")).value().for_each([&](std::uint32_t cpu) {
                node.cpu_spec_list.push_back(cpu);
            });
        }
        node.mem_spec_limit = as_number(option(options, "memspec", "0"));
        node.real_memory = as_number(option(options, "mem", "1000"));
        node.weight = as_number(option(options, "weight", "1"));
        if (options.contains("gres")) node.gres = parse_gres(options.at("gres")).value();
        if (options.contains("gpucores")) {  // as many GPUs for each list of cores
            const std::vector<std::string_view> lists = split(options.at("gpucores"), '|');
            for (std::string_view cores : lists) {
                settings_.gres[name].push_back({.name = "gpu",
                                                .type = node.gres.at(0).type,
                                                .files = {},
                                                .count = node.gres.at(0).count / lists.size(),
                                                .cores = std::string(cores),
                                                .links = {},
                                                .flags = {}});
            }
        }
        if (options.contains("feature")) node.features = {options.at("feature")};
        settings_.nodes.push_back(std::move(node));
    }
    settings_.config_overrides = true;
    settings_.requeue_delay = Seconds{0};
}

void Scenario::add_partition(const std::string& name, const Words& options) {
    PartitionConfig partition{.name = name};
    if (options.contains("nodes")) {
        partition.nodes = Hostlist::parse(options.at("nodes")).value().names();
    } else {
        for (const NodeConfig& node : settings_.nodes) partition.nodes.push_back(node.name);
    }
    partition.is_default = options.contains("default");
    if (options.contains("maxtime"))
        partition.max_time = parse_time_limit(options.at("maxtime")).value();
    if (options.contains("maxnodes")) partition.max_nodes = as_number(options.at("maxnodes"));
    partition.priority_tier = as_number(option(options, "tier", "1"));
    partition.grace_time = Seconds{as_number(option(options, "grace", "0"))};
    partition.preempt_mode = option(options, "mode");
    set_partition_rules(partition, options);
    settings_.partitions.push_back(std::move(partition));
}

std::string Scenario::submit(const std::string& name, const Words& options) {
    auto wish = std::make_shared<JobRequest>();
    wish->name = name;
    wish->kind = options.contains("srun")          ? JobKind::Srun
                 : options.contains("salloc")      ? JobKind::Salloc
                 : options.contains("interactive") ? JobKind::Interactive
                                                   : JobKind::Batch;
    wish->partition = option(options, "partition");
    wish->shape = shape_from(options);
    wish->hold = options.contains("hold");
    wish->requeue = !options.contains("norequeue");
    wish->kill_on_node_fail = !options.contains("nokill");
    if (options.contains("warn"))
        wish->warn_signal =
            WarnSignal{.signal = SIGUSR1, .before = Minutes{as_number(options.at("warn"))}};
    if (options.contains("time")) wish->time_limit = parse_time_limit(options.at("time")).value();
    if (options.contains("mintime"))
        wish->time_min = parse_time_limit(options.at("mintime")).value();
    if (options.contains("begin")) wish->begin = start_ + Minutes{as_number(options.at("begin"))};
    if (options.contains("array")) wish->array = parse_array(options.at("array")).value();
    wish->name = option(options, "name", name);
    wish->dependency = with_ids(option(options, "depend"));
    if (options.contains("killdep")) wish->kill_on_invalid_dep = options.at("killdep") == "yes";
    wish->licenses = option(options, "licenses");
    wish->mail_types = parse_mail_types(option(options, "mail", "NONE")).value();
    wish->mail_user = option(options, "mailuser");
    wish->reservation = option(options, "reservation");
    wish->qos = option(options, "qos", wish->qos);
    wish->account = option(options, "account");
    if (options.contains("deadline"))
        wish->deadline = start_ + Minutes{as_number(options.at("deadline"))};
    wish->submit_host = option(options, "host", "login");
    Caller caller{UserId{as_number(option(options, "user", "1000"))}, GroupId{100},
                  list_in(options, "groups")};
    // By its long and its short name, as the controller would find it in AllocNodes.
    const std::string& host = wish->submit_host;
    caller.hosts = {host, host.substr(0, host.find('.'))};
    caller.sent_by_root = caller.user.value == 0 || options.contains("asroot");
    std::size_t before = effects_.size();
    apply_event(SubmitJob{RequestId{next_request_++}, caller, wish, option(options, "key"), false});
    const Answer& answer = std::get<Reply>(effects_.at(before)).answer;
    if (const auto* error = std::get_if<Error>(&answer)) {
        std::string wanted = option(options, "refused");
        bool right = wanted == "yes" ||
                     (!wanted.empty() && to_string(*error).find(wanted) != std::string::npos);
        return right ? "" : "refused: " + to_string(*error);
    }
    if (options.contains("refused")) return "was accepted";
    jobs_[name] = std::get<Submitted>(answer).job;
    return {};
}

// "sweep" or, for a task of an array, "sweep_3".
JobId Scenario::find(const std::string& name) const {
    if (auto whole = jobs_.find(name); whole != jobs_.end()) return whole->second;
    std::size_t bar = name.rfind('_');
    JobId array = jobs_.at(name.substr(0, bar));
    std::uint32_t task = as_number(name.substr(bar + 1));
    auto members = cluster_->array_members.find(array.value);
    if (members != cluster_->array_members.end()) {
        for (JobId id : members->second) {
            if (cluster_->job(id).array_task == task) return id;
        }
    }
    return array;
}

std::string Scenario::expect(const std::string& name, const std::vector<std::string>& words) {
    const Job& job = cluster_->job(find(name));
    std::string shown = to_lower(state_name(shown_state(job)));
    Reason reason = shown_reason(job, cluster_->partitions(), cluster_->plan().get());
    const std::string& wanted = words.at(2);
    if (shown != wanted) return fmt::format("is {} ({})", shown, reason_name(reason));
    if (words.size() < 4) return {};
    if (wanted == "running") {
        return job.run.allocation->node_names == words[3]
                   ? ""
                   : "runs on " + job.run.allocation->node_names;
    }
    for (std::size_t i = 3; i < words.size(); ++i) {
        if (words[i].starts_with("starts=")) {
            const StartEstimate* estimate =
                cluster_->plan() ? cluster_->plan()->find(job.id) : nullptr;
            if (!estimate) return "no start is planned";
            auto minutes = std::chrono::duration_cast<Minutes>(estimate->start - start_).count();
            if (minutes != as_number(words[i].substr(7)))
                return fmt::format("is planned for minute {}", minutes);
        } else if (reason_name(reason) != words[i]) {
            return fmt::format("waits for {}", reason_name(reason));
        }
    }
    return {};
}

// "afterok:first,after:sweep_3+5": replaces names of jobs by their ids.
std::string Scenario::with_ids(const std::string& text) const {
    std::string out, word;
    auto flush = [&] {
        auto known = jobs_.find(word);
        out += known == jobs_.end() ? word : fmt::format("{}", known->second.value);
        word.clear();
    };
    for (char c : text) {
        if (std::string_view(":,?_+()").find(c) == std::string_view::npos) {
            word += c;
            continue;
        }
        flush();
        out += c;
    }
    flush();
    return out;
}

std::string Scenario::change_settings(const Words& options) {
    if (options.contains("licenses")) {
        settings_.licenses.clear();
        for (const LicenseCount& license : parse_licenses(options.at("licenses")).value().wanted) {
            settings_.licenses.emplace_back(license.name, license.count);
        }
    }
    if (options.contains("arraymax")) settings_.max_array_size = as_number(options.at("arraymax"));
    settings_.kill_invalid_depend = options.contains("killdep");
    settings_.disable_job_shrink = options.contains("noshrink");
    settings_.permit_job_expansion = options.contains("expansion");
    settings_.hold_on_prolog_failure = !options.contains("nohold");
    settings_.has_epilog = options.contains("epilog");
    settings_.batch_start_timeout = Minutes{as_number(option(options, "batchstart", "0"))};
    settings_.resv_over_run = Minutes{as_number(option(options, "overrun", "0"))};
    if (options.contains("resume"))
        settings_.resume_timeout = Minutes{as_number(options.at("resume"))};
    if (options.contains("gpumem")) settings_.def_mem_per_gpu = as_number(options.at("gpumem"));
    settings_.backfill.max_job_user = as_number(option(options, "userbookings", "0"));
    settings_.enforce_part_limits = options.contains("enforce");
    settings_.enforce_all_part_limits = option(options, "enforce") == "all";
    settings_.backfill.enabled = option(options, "backfill") != "off";
    settings_.backfill.max_job_test = as_number(option(options, "bookings", "0"));
    if (option(options, "preempt") == "partition")
        settings_.preempt.by = PreemptSettings::By::Partition;
    if (option(options, "preempt") == "qos") settings_.preempt.by = PreemptSettings::By::Qos;
    if (options.contains("mode")) settings_.preempt.mode = preempt_mode_in(options.at("mode"));
    settings_.preempt.gang = has_preempt_word(option(options, "mode"), "GANG");
    settings_.preempt.time_slice = Minutes{as_number(option(options, "slice", "1"))};
    if (options.contains("return"))
        settings_.return_to_service = static_cast<std::uint16_t>(as_number(options.at("return")));
    settings_.enforce_limits = options.contains("limits");
    settings_.enforce_qos = settings_.enforce_limits || options.contains("enforceqos");
    if (options.contains("reboot")) settings_.reboot_program = options.at("reboot");
    settings_.preempt.exempt_time = Minutes{as_number(option(options, "exempt", "0"))};
    if (cluster_) apply_event(Reconfigure{RequestId{0}, {}, std::make_shared<Settings>(settings_)});
    return {};
}

std::string Scenario::update(const std::string& name, const std::vector<std::string>& words) {
    Words options = options_in(words, 2);
    const std::string wanted = option(options, "refused");
    options.erase("refused");
    const UserId user{as_number(option(options, "by", "0"))};
    options.erase("by");
    Changes changes;
    for (const auto& [key, value] : options)
        changes.emplace_back(key, key == "Dependency" ? with_ids(value) : value);
    JobRef ref{.job = find(name), .tasks = {}, .het_component = {}, .step = {}};
    apply_event(UpdateJob{RequestId{next_request_++}, {user, GroupId{0}}, ref, changes});
    const auto* error = std::get_if<Error>(&std::get<Reply>(effects_.back()).answer);
    if (!error) return wanted.empty() ? "" : "was accepted";
    bool right =
        wanted == "yes" || (!wanted.empty() && to_string(*error).find(wanted) != std::string::npos);
    return right ? "" : "refused: " + to_string(*error);
}

std::string Scenario::depends(const std::string& name, const std::string& wanted) {
    std::string left = print_dependency(cluster_->job(find(name)).dependency);
    std::string text = wanted == "none" ? "" : with_ids(wanted);
    return left == text ? "" : fmt::format("depends on \"{}\"", left);
}

std::string Scenario::control(const std::string& verb, const std::string& name) {
    constexpr std::pair<std::string_view, JobVerb> kVerbs[] = {{"hold", JobVerb::Hold},
                                                               {"release", JobVerb::Release},
                                                               {"requeue", JobVerb::Requeue},
                                                               {"suspend", JobVerb::Suspend},
                                                               {"resume", JobVerb::Resume}};
    for (const auto& [word, what] : kVerbs) {
        if (word != verb) continue;
        JobRef ref{.job = find(name), .tasks = {}, .het_component = {}, .step = {}};
        return apply_event(
                   ControlJobs{RequestId{next_request_++}, {UserId{0}, GroupId{0}}, what, {ref}}),
               "";
    }
    return "no such verb";
}

// "reserve r1 start=10 length=30 nodes=n[1-2] users=1000 flags=MAINT", in minutes; also "rereserve"
// and "unreserve". With refused=..., the error must contain that text.
std::string Scenario::reserve(ReservationChange::Verb verb, const std::string& name,
                              const Words& options) {
    ReservationChange change{.verb = verb, .name = name};
    auto minute = [&](const std::string& key) {
        return start_ + Minutes{as_number(options.at(key))};
    };
    if (options.contains("start")) change.start = minute("start");
    if (options.contains("end")) change.end = minute("end");
    if (options.contains("length")) change.duration = Minutes{as_number(options.at("length"))};
    if (options.contains("count")) change.node_count = as_number(options.at("count"));
    if (options.contains("partition")) change.partition = options.at("partition");
    if (options.contains("feature")) change.features = options.at("feature");
    if (options.contains("nodes"))
        change.nodes.emplace().items = Hostlist::parse(options.at("nodes")).value().names();
    const std::string user_list = option(options, "users");  // the views below point into it
    for (std::string_view user : split(user_list, ',')) {
        if (!user.empty())
            (change.users ? *change.users : change.users.emplace())
                .items.push_back(UserId{as_number(std::string(user))});
    }
    if (change.users) change.users->denied = options.contains("denied");
    if (options.contains("accounts")) change.accounts.emplace().items = {options.at("accounts")};
    if (options.contains("licenses")) change.licenses = options.at("licenses");
    if (options.contains("qos")) change.qos.emplace().items = {options.at("qos")};
    if (options.contains("partitions"))
        change.allowed_partitions.emplace().items = {options.at("partitions")};
    if (options.contains("delay")) change.max_start_delay = Minutes{as_number(options.at("delay"))};
    if (options.contains("purge")) change.purge_after = Minutes{as_number(options.at("purge"))};
    if (options.contains("gres")) change.gres = parse_gres(options.at("gres")).value();
    if (options.contains("group"))
        change.groups.emplace().items = {{"group", {UserId{as_number(options.at("group"))}}}};
    if (options.contains("cores")) {
        for (std::string_view cores : split(options.at("cores"), ','))
            change.core_counts.push_back(as_number(std::string(cores)));
    }
    if (options.contains("longer")) {
        change.duration = Minutes{as_number(options.at("longer"))};
        change.duration_sign = 1;
    }
    if (options.contains("flags")) parse_reservation_flags(options.at("flags"), 0, change).value();
    change.skip = options.contains("skip");
    UserId user{as_number(option(options, "by", "0"))};
    apply_event(ChangeReservation{RequestId{next_request_++}, {user, GroupId{0}}, change});
    const auto* error = std::get_if<Error>(&std::get<Reply>(effects_.back()).answer);
    std::string refused = option(options, "refused");
    if (!error) return refused.empty() ? "" : "was accepted";
    std::string text = to_string(*error);
    return !refused.empty() && text.find(refused) != std::string::npos ? "" : "refused: " + text;
}

// "reserved r1 gone", "reserved r1 start=1450", "reserved r1 n[1-2]".
std::string Scenario::reserved(const std::string& name, const std::string& wanted) {
    const Reservation* found = find_reservation(*cluster_, name);
    if (!found) return wanted == "gone" ? "" : "is gone";
    auto minutes = std::chrono::duration_cast<Minutes>(found->start - start_).count();
    if (wanted == found->node_names || wanted == fmt::format("start={}", minutes)) return {};
    return fmt::format("is on {}, start={}", found->node_names, minutes);
}

// Checks what the job holds on its first node: its CPUs by number, its memory.
std::string Scenario::holds(const std::string& name, const Words& options) {
    const Job& job = cluster_->job(find(name));
    if (!job.run.allocation) return "has no nodes";
    const NodeShare& share = job.run.allocation->nodes.front();
    TaskSet cpus;
    for (std::uint32_t cpu : share.cpus) cpus.insert(cpu);
    std::string numbers = cpus.to_string();
    if (options.contains("cpus") && options.at("cpus") != numbers) return "holds CPUs " + numbers;
    if (options.contains("mem") && as_number(options.at("mem")) != share.memory) {
        return fmt::format("holds {} MB", share.memory);
    }
    TaskSet gpus;
    for (const NodeShare::Devices& devices : share.gres) {
        for (std::uint32_t index : devices.indexes) gpus.insert(index);
    }
    if (options.contains("gpus") && options.at("gpus") != gpus.to_string())
        return "holds GPUs " + gpus.to_string();
    return {};
}

std::string Scenario::change_node(const std::string& name, const std::vector<std::string>& words) {
    if (words.at(2) == "is") {
        NodeIndex index = *cluster_->find_node(name);
        std::string shown = to_lower(print_node_state_complete(node_base(cluster_->node(index)),
                                                               node_flags(cluster_->node(index))));
        return shown == words.at(3) ? "" : "is " + shown;
    }
    Words options = options_in(words, 2);
    bool refused = options.erase("refused") > 0;
    Changes changes(options.begin(), options.end());
    apply_event(UpdateNode{RequestId{next_request_++}, {UserId{0}, GroupId{0}}, {name}, changes});
    const auto* error = std::get_if<Error>(&std::get<Reply>(effects_.back()).answer);
    if (error && !refused) return "refused: " + to_string(*error);
    return !error && refused ? "was accepted" : "";
}

Result<std::vector<Explanation>> Scenario::why(const std::string& job) {
    ensure_cluster();
    JobRef ref = TRY(parse_job_ref(job));
    const ExplainJob question{RequestId{next_request_++}, {UserId{0}, GroupId{0}}, std::move(ref)};
    const Answer answer = answer_to(*cluster_->copy_for_questions(), now_, question);
    if (const auto* error = std::get_if<Error>(&answer)) return *error;
    return std::get<std::vector<Explanation>>(answer);
}

// Restarts the controller from what the store would keep; the nodes register with their runs.
void Scenario::restart() {
    StoredState stored;
    stored.reservations = cluster_->reservations();
    auto name_of = [&](NodeIndex index) { return cluster_->node(index).config.name; };
    std::map<std::string, std::vector<RunId>> running;
    cluster_->jobs().for_each([&](const Job& job) {
        stored.jobs.push_back(job);
        stored.next_job_id = std::max(stored.next_job_id, job.id.value + 1);
        for (NodeIndex node : job.run.completing_nodes)
            stored.completing_nodes[job.id.value].push_back(name_of(node));
        if (!job.run.allocation) return;
        for (const NodeShare& share : job.run.allocation->nodes) {
            stored.allocation_nodes[job.id.value].push_back(name_of(share.node));
            if (is_live(job))
                running[name_of(share.node)].push_back({job.id, job.run.restarts, kBatchStep});
        }
    });
    for (std::uint32_t i = 0; i < cluster_->node_count(); ++i) {
        const Node& node = cluster_->node(NodeIndex{i});
        stored.nodes.push_back({node.config.name, node.admin_flags, node.down, node.reason,
                                node.reason_time, node.reason_user, node.comment,
                                node.weight_by_hand, node.features_by_hand, node.reboot});
    }
    stored.qos = cluster_->qos();
    cluster_ = std::make_unique<Cluster>(std::make_shared<Settings>(settings_), now_);
    cluster_->restore(stored, now_);
    for (const NodeConfig& node : settings_.nodes)
        apply_event(NodeRegistered{node.name, {}, running[node.name]});
    apply_event(Tick{});
}

// Connected nodes send a heartbeat, and a pass follows.
void Scenario::wait_until(Time moment) {
    now_ = moment;
    for (std::uint32_t i = 0; i < cluster_->node_count(); ++i) {
        if (cluster_->node(NodeIndex{i}).connected) apply_event(NodeHeartbeat{NodeIndex{i}, 0, 0});
    }
    apply_event(Tick{});
    schedule(*cluster_, now_, effects_);
}

std::string Scenario::run_line(const std::string& verb, const std::vector<std::string>& words) {
    if (verb == "nodes") return add_nodes(words.at(1), options_in(words, 2)), "";
    if (verb == "partition") return add_partition(words.at(1), options_in(words, 2)), "";
    if (verb == "qos" && cluster_) return set_qos(words.at(1), options_in(words, 2)), "";
    if (verb == "qos") return qos_.emplace_back(words.at(1), options_in(words, 2)), "";
    if (verb == "switch") {
        return settings_.switches.push_back(switch_of(words.at(1), options_in(words, 2))), "";
    }
    if (verb == "settings") return change_settings(options_in(words, 1));
    ensure_cluster();
    Caller root{UserId{0}, GroupId{0}};
    if (verb == "restart") return restart(), "";
    if (verb == "pass") return schedule(*cluster_, now_, effects_), "";
    if (verb == "clock") {
        const int sign = words.at(1).starts_with('-') ? -1 : 1;
        const Minutes step{sign * static_cast<int>(as_number(words.at(1).substr(1)))};
        now_ += step;
        start_ += step;
        return apply_event(ClockStepped{step}), "";
    }
    if (verb == "at") return wait_until(start_ + Minutes{as_number(words.at(1))}), "";
    const std::string& name = words.at(1);
    if (verb == "submit") return submit(name, options_in(words, 2));
    if (verb == "expect") return expect(name, words);
    if (verb == "cancel") {
        CancelJobs event{.request = RequestId{next_request_++}, .caller = root, .filter = {}};
        event.filter.jobs.push_back(
            {.job = find(name), .tasks = {}, .het_component = {}, .step = {}});
        return apply_event(event), "";
    }
    if (verb == "reserve")
        return reserve(ReservationChange::Verb::Create, name, options_in(words, 2));
    if (verb == "rereserve")
        return reserve(ReservationChange::Verb::Update, name, options_in(words, 2));
    if (verb == "unreserve")
        return reserve(ReservationChange::Verb::Delete, name, options_in(words, 2));
    if (verb == "reserved") return reserved(name, words.at(2));
    if (verb == "update") return update(name, words);
    if (verb == "depends") return depends(name, words.at(2));
    if (verb == "end") {
        const Job& job = cluster_->job(find(name));
        ExitStatus exit{.code = static_cast<std::uint8_t>(
                            as_number(option(options_in(words, 2), "code", "0")))};
        NodeIndex head = job.run.allocation->nodes.front().node;
        return apply_event(JobEnded{head, {job.id, job.run.restarts, kBatchStep}, exit, {}}), "";
    }
    if (verb == "clean") {
        const Job& job = cluster_->job(find(name));
        return apply_event(NodeCleaned{*cluster_->find_node(words.at(2)),
                                       {job.id, job.run.restarts, kBatchStep}}),
               "";
    }
    if (verb == "holds") return holds(name, options_in(words, 2));
    if (verb == "node") return change_node(name, words);
    if (verb == "lost") return apply_event(NodeDisconnected{*cluster_->find_node(name)}), "";
    if (verb == "back" || verb == "rebooted") return register_node(name, verb == "rebooted"), "";
    if (verb == "reboot") return reboot(name, options_in(words, 2));
    if (verb == "shows") return expect_node(name, options_in(words, 2));
    if (verb == "down") {
        return apply_event(UpdateNode{RequestId{next_request_++},
                                      root,
                                      {name},
                                      {{"State", "DOWN"}, {"Reason", "test"}}}),
               "";
    }
    return control(verb, name);
}

}  // namespace sluice
