#include "cli/srun/step_request.h"

#include <numeric>

#include "cli/common/job_setup.h"
#include "model/hostlist.h"
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
    const std::uint64_t per_task = gpu_count(shape.gpus_per_task);
    std::uint64_t per_node = gpu_count(shape.gres_per_node);
    if (per_node == 0 && shape.nodes_max == 1u) per_node = gpu_count(shape.gpus);
    if (shape.cpus_per_gpu && per_task > 0) {
        step.set_cpus_per_task(static_cast<std::uint32_t>(*shape.cpus_per_gpu * per_task));
    }
    if (shape.mem_per_gpu && per_node > 0) step.set_mem_per_node(*shape.mem_per_gpu * per_node);
}

// The number of the job's nodes, which the environment hands on: a step may do with fewer.
bool has_inherited_nodes(const JobOptions& options) {
    const std::size_t nodes = option_index("nodes");
    return nodes < options.sources.size() && options.sources[nodes] == Source::Environment;
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
    if (shape.cpus_per_task_set) step.set_cpus_per_task(shape.cpus_per_task);
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
    // Compat: -c implies --exact.
    step.set_exact(!own_job &&
                   (options.exact || shape.cpus_per_task_set || shape.cpus_per_gpu.has_value()));
    step.set_overlap(options.overlap);
    if (options.request.time_limit)
        *step.mutable_time_limit() = to_wire(*options.request.time_limit);
    step.set_immediate(options.request.immediate || options.immediate_for == Seconds{0});
    step.set_distribution(options.distribution.substr(0, options.distribution.find_first_of(":,")));
    step.set_whole(own_job || options.whole);
    step.set_tres_bind(step_binding(options));
    return step;
}

std::vector<std::vector<std::uint32_t>> task_layout(
    const std::vector<std::uint32_t>& tasks_per_node, bool cyclic) {
    std::vector<std::vector<std::uint32_t>> layout(tasks_per_node.size());
    std::uint32_t task = 0;
    if (!cyclic) {
        for (std::size_t node = 0; node < layout.size(); ++node) {
            for (std::uint32_t i = 0; i < tasks_per_node[node]; ++i) layout[node].push_back(task++);
        }
        return layout;
    }
    const std::uint64_t total =
        std::accumulate(tasks_per_node.begin(), tasks_per_node.end(), std::uint64_t{0});
    while (task < total) {
        for (std::size_t node = 0; node < layout.size(); ++node) {
            if (layout[node].size() < tasks_per_node[node]) layout[node].push_back(task++);
        }
    }
    return layout;
}

std::vector<wire::LaunchTasks> launch_messages(const wire::StepCreated& step,
                                               const wire::TaskSpec& spec) {
    std::vector<std::uint32_t> counts;
    std::vector<std::string> names;
    for (const wire::NodeShare& node : step.nodes()) {
        counts.push_back(node.tasks());
        names.push_back(node.name());
    }
    std::vector<std::vector<std::uint32_t>> layout = task_layout(counts, step.cyclic());
    wire::LaunchTasks common;
    common.set_credential(step.credential());
    *common.mutable_spec() = spec;
    *common.mutable_job() = step.job();
    common.set_total_tasks(std::accumulate(counts.begin(), counts.end(), 0u));
    common.set_step_nodes(Hostlist(names).to_string());
    common.set_tasks_per_node(fold_counts(counts));
    std::vector<wire::LaunchTasks> messages(layout.size(), common);
    for (std::size_t rank = 0; rank < layout.size(); ++rank) {
        messages[rank].set_node(names[rank]);
        messages[rank].set_node_rank(static_cast<std::uint32_t>(rank));
        messages[rank].mutable_task_ids()->Add(layout[rank].begin(), layout[rank].end());
    }
    return messages;
}

}  // namespace sluice
