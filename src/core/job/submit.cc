// core/job/submit.cc
//
// A new job: is it possible, and where does it wait? A refusal names what is wrong and changes
// nothing; an accepted job has its id before anybody hears of it.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "core/job/deadline.h"
#include "core/job/dependency.h"
#include "core/job/verbs.h"
#include "core/limits/access.h"
#include "core/limits/licenses.h"
#include "core/limits/reservations.h"
#include "core/limits/memory.h"
#include "core/node/use.h"
#include "core/place/place.h"
#include "core/schedule/estimate.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/gpu_freq.h"
#include "model/features.h"
#include "model/hostlist.h"
#include "model/node_counts.h"
#include "model/times.h"

#include <fmt/format.h>

namespace sluice {

namespace {

Error refuse(ErrorCode code, std::string detail = {}) { return Error{code, std::move(detail)}; }

bool contains(const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

Result<std::string> partition_wanted(const Cluster& cluster, const Caller& caller, const JobRequest& wish) {
    if (wish.partition.empty()) {
        const Partition* standard = cluster.default_partition();
        if (!standard) return refuse(ErrorCode::InvalidPartition, "no partition was named and none is the default");
        const PartitionConfig& taken = partition_or_alternate(cluster, *standard).config;
        TRY(may_use(cluster, taken, caller, wish));
        return taken.name;
    }
    std::vector<std::string> names;
    for (std::string_view name : split(wish.partition, ',')) {
        const Partition* partition = cluster.find_partition(name);
        if (!partition) return refuse(ErrorCode::InvalidPartition, fmt::format("invalid partition specified: {}", name));
        const PartitionConfig& taken = partition_or_alternate(cluster, *partition).config;
        TRY(may_use(cluster, taken, caller, wish));
        if (!contains(names, taken.name)) names.push_back(taken.name);
    }
    return join(names, ",");
}

Result<void> check_names(const Cluster& cluster, const Shape& shape) {
    for (const std::string* list : {&shape.nodelist, &shape.exclude}) {
        if (list->empty()) continue;
        for (const std::string& name : TRY(Hostlist::parse(*list)).names()) {
            if (!cluster.find_node(name)) return refuse(ErrorCode::InvalidNodeName, fmt::format("there is no node {}", name));
        }
    }
    auto any_node = [&](auto wanted) {
        for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
            if (wanted(cluster.node(NodeIndex{i}))) return true;
        }
        return false;
    };
    for (const auto* text : {&shape.constraint, &shape.prefer}) {
        ErrorCode code = text == &shape.prefer ? ErrorCode::InvalidPrefer : ErrorCode::InvalidFeature;
        for (const std::string& name : TRY(FeatureExpression::parse(*text)).names()) {
            bool known = any_node([&](const Node& node) { return contains(node.config.features, name); });
            if (!known) return refuse(code, fmt::format("no node has the feature {}", name));
        }
    }
    for (const auto* wishes : {&shape.gres_per_node, &shape.gpus, &shape.gpus_per_task, &shape.gpus_per_socket}) {
        for (const GresCount& wish : *wishes) {
            bool known = any_node([&](const Node& node) { return gres_count(node, {wish.name, "", 1}) > 0; });
            if (!known) return refuse(ErrorCode::InvalidGres, fmt::format("no node has gres/{}", wish.name));
        }
    }
    return {};
}

Result<void> check_numbers(const Cluster& cluster, const JobRequest& wish) {
    const Shape& shape = wish.shape;
    if (shape.nodes_max && *shape.nodes_max < shape.nodes_min) {
        return refuse(ErrorCode::InvalidNodeCount, fmt::format("--nodes={}-{}", shape.nodes_min, *shape.nodes_max));
    }
    if (!shape.node_sizes.empty()) TRY(parse_node_sizes(shape.node_sizes));
    if (shape.cpus_per_task == 0) return refuse(ErrorCode::InvalidCpuCount, "--cpus-per-task=0");
    if (shape.ntasks == 0u) return refuse(ErrorCode::InvalidTaskCount, "--ntasks=0");
    if (!wish.array) return {};
    if (wish.array->tasks.empty()) return refuse(ErrorCode::InvalidArray);
    std::uint32_t most = cluster.settings().max_array_size;
    if (wish.array->tasks.last() >= most) {
        return refuse(ErrorCode::InvalidArray,
                      fmt::format("index {} is not below MaxArraySize={}", wish.array->tasks.last(), most));
    }
    return {};
}

// Time limit in force: what was asked, else the partition's default, else its maximum.
TimeLimit time_limit_in(const Partition& partition, const JobRequest& wish) {
    // Compat: a limit of zero asks for no limit of the job's own.
    if (wish.time_limit && (wish.time_limit->unlimited() || wish.time_limit->length().count() > 0)) {
        return *wish.time_limit;
    }
    return partition.config.default_time.value_or(partition.config.max_time);
}

// Is there time enough for it? A deadline that cannot be met is no use to anybody.
Result<void> check_times(Time now, const JobRequest& wish, TimeLimit limit) {
    if (wish.time_min && *wish.time_min > limit) return refuse(ErrorCode::InvalidTimeMin);
    if (!wish.deadline) return {};
    TimeLimit least = wish.time_min.value_or(wish.time_limit.value_or(TimeLimit{}));
    Seconds length = least.unlimited() ? Seconds{1} : least.length();
    if (std::max(now, wish.begin.value_or(now)) + length > *wish.deadline) {
        return refuse(ErrorCode::InvalidTimeLimit);
    }
    return {};
}

// "nodes of partition gpu have up to 4 GPUs (h100), 64 CPUs, 512G": the most of each, on any of them.
std::string most_on_a_node(const Cluster& cluster, const Partition& partition) {
    if (partition.nodes.empty()) return fmt::format("partition {} has no nodes", partition.config.name);
    std::map<std::pair<std::string, std::string>, std::uint64_t> devices;  // name and type
    std::uint32_t cpus = 0;
    Megabytes memory = 0;
    for (NodeIndex index : partition.nodes) {
        const Node& node = cluster.node(index);
        for (const GresPool& pool : node.gres) {
            std::uint64_t& most = devices[{pool.name, pool.type}];
            most = std::max<std::uint64_t>(most, pool.count);
        }
        cpus = std::max(cpus, node.config.cpus);
        memory = std::max(memory, usable_memory(node));
    }
    std::string text = fmt::format("nodes of partition {} have up to", partition.config.name);
    for (const auto& [device, count] : devices) {
        const auto& [name, type] = device;
        text += fmt::format(" {} {}{}{},", count, name == "gpu" ? "GPU" : name, count == 1 ? "" : "s",
                            type.empty() ? "" : fmt::format(" ({})", type));
    }
    cpus = std::min(cpus, partition.config.max_cpus_per_node.value_or(cpus));
    return text + fmt::format(" {} CPU{}, {}", cpus, cpus == 1 ? "" : "s", print_memory(memory));
}

// What a request that was refused could ask for instead.
std::string what_is_possible(const Cluster& cluster, const Job& job, const Partition& partition, ErrorCode code) {
    const PartitionConfig& config = partition.config;
    if (code == ErrorCode::InvalidTimeLimit) {
        return fmt::format("partition {} allows {} at most", config.name, print_time_limit(config.max_time));
    }
    if (code == ErrorCode::InvalidNodeCount) {
        return fmt::format("partition {} allows {} nodes at most", config.name, config.max_nodes.value_or(0));
    }
    if (code == ErrorCode::MemoryInvalid) {
        auto most = config.max_mem_per_node ? config.max_mem_per_node : cluster.settings().max_mem_per_node;
        return fmt::format("partition {} allows {} of memory per node at most", config.name, print_memory(most.value_or(0)));
    }
    if (std::max(1u, job.request->shape.nodes_min) > partition.nodes.size()) {
        return fmt::format("partition {} has {} node{}", config.name, partition.nodes.size(), partition.nodes.size() == 1 ? "" : "s");
    }
    return most_on_a_node(cluster, partition);
}

// Which limit of the partition would be exceeded, if such jobs are refused.
std::optional<ErrorCode> limit_exceeded(const Cluster& cluster, const Job& job, const Need& need) {
    const PartitionConfig& config = need.partition->config;
    bool strict = cluster.settings().enforce_part_limits;
    if (strict && job.time_limit > config.max_time) return ErrorCode::InvalidTimeLimit;
    if (strict && config.max_nodes && need.nodes_min > *config.max_nodes) return ErrorCode::InvalidNodeCount;
    if (over_memory_limit(cluster, config, need)) return ErrorCode::MemoryInvalid;
    return {};
}

// Can it ever run, with all nodes up and idle, in one of its partitions?
Result<void> check_possible(Cluster& cluster, const Job& job) {
    cluster.refresh_layout();
    Error why = refuse(ErrorCode::NodeConfigUnavailable);
    bool is_possible = false;
    for (const std::string& name : partitions_of(job)) {
        const Partition& partition = *cluster.find_partition(name);
        Need need = TRY(need_of(cluster, job, partition));
        std::optional<ErrorCode> limit = limit_exceeded(cluster, job, need);
        if (limit) why = refuse(*limit);
        if (limit && cluster.settings().enforce_all_part_limits) {
            why.hint = what_is_possible(cluster, job, partition, why.code);
            return why;
        }
        is_possible = is_possible || (!limit && !on_idle_nodes(cluster, need).empty());
        if (is_possible && !cluster.settings().enforce_all_part_limits) return {};
    }
    if (is_possible) return {};
    const Partition& first = *cluster.find_partition(partitions_of(job).front());
    why.hint = what_is_possible(cluster, job, first, why.code);
    return why;
}

Result<Job> job_from(Cluster& cluster, Time now, const SubmitJob& event) {
    const JobRequest& wish = *event.wish;
    Job job;
    job.request = event.wish;
    job.user = event.caller.user;
    job.group = event.caller.group;
    job.partition = TRY(partition_wanted(cluster, event.caller, wish));
    TRY(check_numbers(cluster, wish));
    TRY(check_names(cluster, wish.shape));
    if (!wish.tres_freq.empty()) TRY(parse_tres_freq(wish.tres_freq));
    job.time_limit = time_limit_in(*cluster.find_partition(partitions_of(job).front()), wish);
    TRY(check_times(now, wish, job.time_limit));
    job.request = with_cpus_for_memory(cluster, job);
    if (auto possible = check_possible(cluster, job); !possible) {
        bool for_memory = job.request != event.wish && possible.error().code == ErrorCode::NodeConfigUnavailable;
        return for_memory ? refuse(ErrorCode::MemoryInvalid) : possible.error();
    }
    job.dependency = TRY(resolve_dependency(cluster, wish.dependency));
    TRY(check_deadline(wish, now));
    TRY(check_licenses(cluster, wish.licenses));
    TRY(check_reservations(cluster, event.caller.user, wish));
    bool full = cluster.jobs().size() >= cluster.settings().max_job_count;
    if (full && !event.test_only) return refuse(ErrorCode::QueueFull);
    if (wish.priority && *wish.priority > 0 && !is_privileged(cluster, event.caller)) {
        return refuse(ErrorCode::AccessDenied, "--priority is for operators");
    }
    if (wish.nice < 0 && !is_privileged(cluster, event.caller)) {
        return refuse(ErrorCode::AccessDenied, "a negative --nice is for operators");
    }
    job.submit_time = now;
    job.eligible_time = std::max(now, wish.begin.value_or(now));
    job.idempotency_key = event.idempotency_key;
    return job;
}

void number_job(Cluster& cluster, Time now, const SubmitJob& event, Job& job) {
    const JobRequest& wish = *event.wish;
    job.id = cluster.take_job_id();
    job.sluid = next_sluid(cluster, job);
    set_first_priority(cluster, job);
    if (job.priority == 0) {
        job.reason = Reason::JobHeldUser;
    } else if (job.eligible_time > now) {
        job.reason = Reason::BeginTime;
    }
    if (wish.array) {
        job.array_job = job.id;
        job.array_tasks = wish.array->tasks;
        job.array_limit = wish.array->limit;
    }
}

Submitted test_answer(Cluster& cluster, Time now, const Job& job) {
    Submitted answer{.job = JobId{0}, .warnings = {}};
    auto estimate = estimate_start(cluster, now, job);
    if (!estimate) return answer;
    answer.partition = estimate->partition;
    answer.start_estimate = estimate->start;
    answer.nodes = names_of(cluster, estimate->nodes);
    for (const Chosen& chosen : estimate->nodes) answer.cpus += static_cast<std::uint32_t>(chosen.take[Amounts::kCpus]);
    return answer;
}

// Its number was not known when its wish was looked at.
bool waits_for_itself(const Job& job) {
    return std::any_of(job.dependency.left.begin(), job.dependency.left.end(), [&](const Condition& each) {
        return each.kind != DependencyKind::Singleton && each.job == job.id;
    });
}

}  // namespace

void on_submit(Cluster& cluster, Time now, const SubmitJob& event, Effects& effects) {
    if (auto known = cluster.submissions.find(event.idempotency_key);
        !event.idempotency_key.empty() && known != cluster.submissions.end()) {
        effects.push_back(Reply{event.request, Submitted{.job = known->second}});
        return;
    }
    Result<Job> job = job_from(cluster, now, event);
    if (!job) {
        effects.push_back(Reply{event.request, std::move(job).error()});
        return;
    }
    if (event.test_only) {
        effects.push_back(Reply{event.request, test_answer(cluster, now, *job)});
        return;
    }
    number_job(cluster, now, event, *job);
    if (waits_for_itself(*job)) {
        Error problem = refuse(ErrorCode::DependencyProblem, "--dependency=" + event.wish->dependency);
        effects.push_back(Reply{event.request, std::move(problem)});
        return;
    }
    job->request = cluster.shared(*job->request);
    job->details = cluster.shared(PackedDetails(*event.wish));
    JobId id = job->id;
    bool immediate = event.wish->immediate;
    const Job& added = cluster.add_job(*std::move(job));
    job_is_here(cluster, added);
    watch_deadline(cluster, added);
    if (added.dependency.empty()) enqueue(cluster, added, now);
    else wait_for_others(cluster, now, id, effects);
    if (immediate) schedule(cluster, now, effects);
    if (immediate && cluster.job(id).state == JobState::Pending) {
        cancel_pending(cluster, now, id, event.caller.user, effects);
        effects.push_back(Reply{event.request, refuse(ErrorCode::NodesBusy)});
        return;
    }
    effects.push_back(Reply{event.request, Submitted{.job = id}});
}

}  // namespace sluice
