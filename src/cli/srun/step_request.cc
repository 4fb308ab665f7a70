#include "cli/srun/step_request.h"

#include <algorithm>
#include <map>

#include "cli/common/job_setup.h"
#include "model/distribution.h"
#include "model/hostlist.h"
#include "model/process_mapping.h"
#include "model/task_bind.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

std::uint64_t gpu_count(const std::vector<GresCount>& gres) {
    std::uint64_t count = 0;
    for (const GresCount& each : gres) count += each.name == "gpu" ? each.count : 0;
    return count;
}

// Sizes by GPU, where the step says how many GPUs a task or a node has.
void add_sizes_by_gpu(const Shape& shape, wire::CreateStep& step) {
    std::uint64_t per_node = gpu_count(shape.gres_per_node);
    if (per_node == 0 && shape.nodes_max == 1u) per_node = gpu_count(shape.gpus);
    if (shape.mem_per_gpu && per_node > 0) step.set_mem_per_node(*shape.mem_per_gpu * per_node);
}

// --gpus-per-task and --cpus-per-gpu say how many CPUs a task has.
std::optional<std::uint32_t> cpus_of_task(const Shape& shape) {
    const std::uint64_t gpus = gpu_count(shape.gpus_per_task);
    if (shape.cpus_per_gpu && gpus > 0) {
        return static_cast<std::uint32_t>(*shape.cpus_per_gpu * gpus);
    }
    if (shape.cpus_per_task_set) return shape.cpus_per_task;
    return {};
}

// Compat: options that lay tasks out over sockets, cores or threads also bind them to these.
BindKind implied_bind(const JobOptions& options) {
    const Shape& shape = options.request.shape;
    if (!options.hint.empty()) {
        return options.hint.ends_with("multithread") ? BindKind::Threads : BindKind::Cores;
    }
    if (is_given(options, "extra-node-info")) {
        return shape.threads_per_core   ? BindKind::Threads
               : shape.cores_per_socket ? BindKind::Cores
                                        : BindKind::Sockets;
    }
    if (is_given(options, "threads-per-core")) return BindKind::Threads;
    if (shape.ntasks_per_core) return BindKind::Cores;
    return shape.ntasks_per_socket ? BindKind::Sockets : BindKind::Unset;
}

// The number of the job's nodes, which the environment hands on: a step may do with fewer.
bool has_inherited_nodes(const JobOptions& options) {
    return source_of(options, "nodes") == Source::Environment && !options.request.shape.arbitrary;
}

// Compat: -c implies --exact, as does --threads-per-core where it is not the job's; but not for a
// launcher, whose programs use all of the job.
bool is_exact(const JobOptions& options) {
    if (options.whole) return false;
    const Shape& shape = options.request.shape;
    return options.exact || shape.cpus_per_task_set || shape.cpus_per_gpu ||
           source_of(options, "threads-per-core") == Source::CommandLine;
}

// Drops the programs of tasks on other nodes.
void keep_programs_of(const std::vector<std::uint32_t>& tasks, wire::TaskSpec& spec) {
    google::protobuf::RepeatedPtrField<wire::TaskProgram> kept;
    for (wire::TaskProgram& program : *spec.mutable_programs()) {
        const bool is_here =
            std::any_of(program.tasks().begin(), program.tasks().end(), [&](std::uint32_t task) {
                return std::binary_search(tasks.begin(), tasks.end(), task);
            });
        if (is_here) *kept.Add() = std::move(program);
    }
    spec.mutable_programs()->Swap(&kept);
}

}  // namespace

std::string step_binding(const JobOptions& options) {
    const JobRequest& request = options.request;
    if (!request.tres_bind.empty()) return request.tres_bind;
    if (const std::uint64_t each = gpu_count(request.shape.gpus_per_task); each > 0) {
        return fmt::format("gres/gpu:per_task:{}", each);
    }
    if (request.shape.ntasks_per_gpu) {
        return fmt::format("gres/gpu:single:{}", *request.shape.ntasks_per_gpu);
    }
    return {};
}

void set_task_binding(const JobOptions& options, wire::TaskSpec& spec) {
    const Result<TaskBind> asked = parse_cpu_bind(options.cpu_bind);
    const BindKind implied = implied_bind(options);
    std::string bind = options.cpu_bind;
    if (implied != BindKind::Unset && (!asked || asked->kind == BindKind::Unset)) {
        bind += fmt::format("{}{}", bind.empty() ? "" : ",", cpu_bind_word(implied));
    }
    spec.set_cpu_bind(bind);
    spec.set_mem_bind(options.mem_bind);
    spec.set_distribution(options.distribution);
    spec.set_cpus_per_task(cpus_of_task(options.request.shape).value_or(1));
    spec.set_one_thread_per_core(options.request.shape.one_thread_per_core);
    spec.set_interactive(options.interactive);
}

wire::CreateStep step_request(const JobOptions& options, std::uint32_t job, bool own_job) {
    const Shape& shape = options.request.shape;
    wire::CreateStep step;
    step.set_job(job);
    step.set_name(options.request.name);
    step.set_idempotency_key(idempotency_key());
    if (options.nodes_given) {
        step.set_nodes_min(!own_job && has_inherited_nodes(options) ? 1 : shape.nodes_min);
        if (shape.nodes_max) step.set_nodes_max(*shape.nodes_max);
        step.set_node_sizes(shape.node_sizes);
    } else if (!shape.nodelist.empty()) {
        step.set_nodes_min(shape.nodes_min);
    }
    if (shape.ntasks) step.set_ntasks(*shape.ntasks);
    if (shape.ntasks_per_node) step.set_ntasks_per_node(*shape.ntasks_per_node);
    if (const auto cpus = cpus_of_task(shape)) step.set_cpus_per_task(*cpus);
    if (shape.mem_per_node) step.set_mem_per_node(*shape.mem_per_node);
    if (shape.mem_per_cpu) step.set_mem_per_cpu(*shape.mem_per_cpu);
    add_sizes_by_gpu(shape, step);
    to_wire(shape.gres_per_node, *step.mutable_gres_per_node());
    to_wire(shape.gpus_per_task, *step.mutable_gpus_per_task());
    to_wire(shape.gpus, *step.mutable_gpus());
    // --gres=none: said, and so unlike a step that names nothing and has all of the job's.
    const bool names_nothing =
        shape.gres_per_node.empty() && shape.gpus_per_task.empty() && shape.gpus.empty();
    if (!own_job && names_nothing && is_given(options, "gres")) {
        to_wire({{.name = "gpu", .type = "", .count = 0}}, *step.mutable_gres_per_node());
    }
    step.set_nodelist(shape.nodelist);
    step.set_exclude(shape.exclude);
    step.set_exact(!own_job && is_exact(options));
    step.set_overlap(options.overlap);
    if (options.request.time_limit)
        *step.mutable_time_limit() = to_wire(*options.request.time_limit);
    step.set_immediate(options.request.immediate || options.immediate_for == Seconds{0});
    step.set_distribution(options.distribution);
    step.set_overcommit(shape.overcommit);
    step.set_first_node(options.relative.value_or(0));
    step.set_tres_bind(step_binding(options));
    // A job of its own was placed with them.
    if (!own_job && shape.ntasks_per_core) step.set_ntasks_per_core(*shape.ntasks_per_core);
    if (!own_job && shape.ntasks_per_socket) step.set_ntasks_per_socket(*shape.ntasks_per_socket);
    if (!own_job && shape.threads_per_core) step.set_threads_per_core(*shape.threads_per_core);
    if (options.resv_ports) step.set_resv_ports(*options.resv_ports);
    step.set_container(options.request.container);
    return step;
}

std::vector<std::vector<std::uint32_t>> task_layout(const wire::StepCreated& step,
                                                    const std::string& hosts) {
    std::vector<std::uint32_t> counts;
    for (const wire::NodeShare& node : step.nodes()) counts.push_back(node.tasks());
    const Distribution distribution = distribution_of(step.distribution());
    if (distribution.kind != Distribution::Kind::Arbitrary) {
        return number_tasks(counts, distribution);
    }
    std::vector<std::vector<std::uint32_t>> layout(counts.size());
    std::map<std::string, std::size_t> places;
    for (int i = 0; i < step.nodes_size(); ++i) {
        places[step.nodes(i).name()] = static_cast<std::size_t>(i);
    }
    const Result<Hostlist> names = Hostlist::parse(hosts);
    for (std::uint32_t task = 0; names && task < names->size(); ++task) {
        auto place = places.find(names->names()[task]);
        if (place != places.end()) layout[place->second].push_back(task);
    }
    return layout;
}

std::string allocation_line(const wire::JobAllocation& job) {
    std::vector<std::pair<int, int>> counts;  // CPUs, nodes
    for (const wire::NodeShare& node : job.nodes()) {
        if (counts.empty() || counts.back().first != node.cpus_size()) {
            counts.emplace_back(node.cpus_size(), 0);
        }
        ++counts.back().second;
    }
    std::vector<std::string> texts;
    for (const auto& [cpus, nodes] : counts) texts.push_back(fmt::format("{}(x{})", cpus, nodes));
    return fmt::format("jobid {}: nodes({}):`{}', cpu counts: {}", job.job(), job.nodes_size(),
                       job.node_names(), fmt::join(texts, ","));
}

std::uint32_t task_count(const wire::StepCreated& step) {
    std::uint32_t count = 0;
    for (const wire::NodeShare& node : step.nodes()) count += node.tasks();
    return count;
}

namespace {

// MPI libraries ask which tasks share a node.
std::string mapping_of(const std::vector<std::vector<std::uint32_t>>& layout, std::size_t tasks) {
    std::vector<std::uint32_t> node_of_task(tasks);
    for (std::size_t node = 0; node < layout.size(); ++node) {
        for (std::uint32_t task : layout[node]) {
            node_of_task[task] = static_cast<std::uint32_t>(node);
        }
    }
    return print_process_mapping(node_of_task);
}

}  // namespace

StepLaunch launch_messages(const wire::StepCreated& step, const wire::TaskSpec& spec,
                           const std::string& hosts) {
    std::vector<std::uint32_t> counts;
    std::vector<std::string> names;
    for (const wire::NodeShare& node : step.nodes()) {
        counts.push_back(node.tasks());
        names.push_back(node.name());
    }
    std::vector<std::vector<std::uint32_t>> layout = task_layout(step, hosts);
    StepLaunch launch;
    wire::LaunchTasks& common = launch.common;
    common.set_credential(step.credential());
    *common.mutable_spec() = spec;
    common.mutable_spec()->clear_programs();
    *common.mutable_job() = step.job();
    common.set_total_tasks(task_count(step));
    common.set_step_nodes(Hostlist(names).to_string());
    common.set_tasks_per_node(fold_counts(counts));
    if (!spec.mpi().empty()) common.set_process_mapping(mapping_of(layout, common.total_tasks()));
    launch.nodes.resize(layout.size());
    for (std::size_t rank = 0; rank < layout.size(); ++rank) {
        wire::LaunchTasks& own = launch.nodes[rank];
        own.set_node(names[rank]);
        own.set_node_rank(static_cast<std::uint32_t>(rank));
        own.mutable_task_ids()->Add(layout[rank].begin(), layout[rank].end());
        if (spec.programs().empty()) continue;
        *own.mutable_spec()->mutable_programs() = spec.programs();
        keep_programs_of(layout[rank], *own.mutable_spec());
    }
    return launch;
}

}  // namespace sluice
