// The lines of a scenario about jobs: what they ask for, how they are changed, what becomes of
// them.
#include <fmt/format.h>

#include <csignal>

#include "core/query/reason.h"
#include "model/errors.h"
#include "model/job_keys.h"
#include "model/node_counts.h"
#include "model/times.h"
#include "testkit/scenario.h"
#include "testkit/scenario_words.h"

namespace sluice {

namespace {

Shape shape_from(const ScenarioWords& options) {
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
    shape.overcommit = options.contains("overcommit");
    shape.arbitrary = options.contains("arbitrary");
    shape.bind_gpus_to_cores = options.contains("bind");
    shape.unbind_gpus = options.contains("unbind");
    if (options.contains("taskgres"))
        shape.gpus_per_task = parse_gres(options.at("taskgres")).value();
    if (options.contains("onetask")) shape.one_task_per_gpu = options.at("onetask") == "yes";
    shape.nodelist = option(options, "nodelist");
    shape.exclude = option(options, "exclude");
    shape.constraint = option(options, "feature");
    return shape;
}

}  // namespace

std::string Scenario::submit(const std::string& name, const Words& options) {
    auto demand = std::make_shared<JobRequest>();
    demand->name = name;
    demand->kind = options.contains("srun")          ? JobKind::Srun
                   : options.contains("salloc")      ? JobKind::Salloc
                   : options.contains("interactive") ? JobKind::Interactive
                                                     : JobKind::Batch;
    demand->partition = option(options, "partition");
    demand->shape = shape_from(options);
    demand->hold = options.contains("hold");
    demand->requeue = !options.contains("norequeue");
    demand->kill_on_node_fail = !options.contains("nokill");
    if (options.contains("warn"))
        demand->warn_signal =
            WarnSignal{.signal = SIGUSR1, .before = Minutes{as_number(options.at("warn"))}};
    if (options.contains("delays"))
        demand->warn_signal = WarnSignal{.signal = SIGUSR1, .allow_reservation = true};
    if (options.contains("time")) demand->time_limit = parse_time_limit(options.at("time")).value();
    if (options.contains("mintime"))
        demand->time_min = parse_time_limit(options.at("mintime")).value();
    if (options.contains("begin")) demand->begin = start_ + Minutes{as_number(options.at("begin"))};
    if (options.contains("array")) demand->array = parse_array(options.at("array")).value();
    demand->name = option(options, "name", name);
    demand->dependency = with_ids(option(options, "depend"));
    if (options.contains("killdep")) demand->kill_on_invalid_dep = options.at("killdep") == "yes";
    demand->licenses = option(options, "licenses");
    demand->mail_types = parse_mail_types(option(options, "mail", "NONE")).value();
    demand->mail_user = option(options, "mailuser");
    demand->reservation = option(options, "reservation");
    demand->qos = option(options, "qos", demand->qos);
    demand->account = option(options, "account");
    if (options.contains("deadline"))
        demand->deadline = start_ + Minutes{as_number(options.at("deadline"))};
    demand->submit_host = option(options, "host", "login");
    Caller caller{UserId{as_number(option(options, "user", "1000"))}, GroupId{100},
                  list_in(options, "groups")};
    // By its long and its short name, as the controller would find it in AllocNodes.
    const std::string& host = demand->submit_host;
    caller.hosts = {host, host.substr(0, host.find('.'))};
    caller.sent_by_root = caller.user.value == 0 || options.contains("asroot");
    std::size_t before = effects_.size();
    apply_event(
        SubmitJob{RequestId{next_request_++}, caller, demand, option(options, "key"), false});
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
    for (JobId id : cluster_->arrays().tasks(array)) {
        if (cluster_->job(id).array_task == task) return id;
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

std::string Scenario::update(const std::string& name, const std::vector<std::string>& words) {
    Words options = options_in(words, 2);
    const std::string wanted = option(options, "refused");
    options.erase("refused");
    const UserId user{as_number(option(options, "by", "0"))};
    options.erase("by");
    KeyTexts keys;
    for (const auto& [key, value] : options)
        keys.emplace_back(key, key == "Dependency" ? with_ids(value) : value);
    JobRef ref{.job = find(name), .tasks = {}, .het_component = {}, .step = {}};
    const Result<JobChange> change = parse_job_change(keys, now_);
    const Error* error = change ? nullptr : &change.error();
    if (change) {
        apply_event(UpdateJob{RequestId{next_request_++}, {user, GroupId{0}}, ref, *change});
        error = std::get_if<Error>(&std::get<Reply>(effects_.back()).answer);
    }
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
    std::vector<std::string> parts;
    for (const NodeShare::Devices& devices : share.gres) {
        for (std::uint32_t count : devices.parts) parts.push_back(fmt::format("{}", count));
    }
    if (options.contains("parts") && options.at("parts") != join(parts, ","))
        return "holds parts " + join(parts, ",");
    return {};
}

}  // namespace sluice
