// What only shows when all of a job's options are known: which exclude each other, and sizes that
// follow from others. An option of a stronger source (command line, environment, directive) quietly
// replaces a weaker one that it excludes; two of the same source are a mistake.
#include <algorithm>
#include <initializer_list>

#include "model/devices.h"
#include "model/features.h"
#include "model/hostlist.h"
#include "surface/job_options.h"
#include "surface/job_options_setters.h"

namespace sluice {

namespace {

constexpr std::uint64_t kTasksMax = std::numeric_limits<std::int32_t>::max();

Error fatal(std::string_view text) {
    return {ErrorCode::InvalidCpuCount, fmt::format("fatal: {}", text)};
}

// One of several options that exclude each other.
struct Alternative {
    std::string_view option;
    void (*drop)(JobOptions&);
};

// Keeps the alternative of the strongest source.
Result<void> keep_strongest(JobOptions& options, std::initializer_list<Alternative> alternatives,
                            std::string_view message) {
    Source strongest = Source::Nobody;
    for (const Alternative& each : alternatives) {
        strongest = std::max(strongest, source_of(options, each.option));
    }
    int kept = 0;
    for (const Alternative& each : alternatives) {
        Source source = source_of(options, each.option);
        if (source == Source::Nobody) continue;
        if (source == strongest) {
            ++kept;
        } else {
            each.drop(options);
            options.sources[option_index(each.option)] = Source::Nobody;
        }
    }
    if (kept > 1 && !message.empty()) return fatal(message);
    return {};
}

void drop_gpus_in_gres(JobOptions& options) {
    std::erase_if(options.gres, [](const GresCount& each) { return each.name == "gpu"; });
}

bool has_gpus_in_gres(const JobOptions& options) {
    return std::any_of(options.gres.begin(), options.gres.end(),
                       [](const GresCount& each) { return each.name == "gpu"; });
}

Result<void> complete_exclusions(JobOptions& options, Tool tool) {
    TRY(keep_strongest(
        options,
        {{"mem", [](JobOptions& o) { o.request.shape.mem_per_node.reset(); }},
         {"mem-per-cpu", [](JobOptions& o) { o.request.shape.mem_per_cpu.reset(); }},
         {"mem-per-gpu", [](JobOptions& o) { o.request.shape.mem_per_gpu.reset(); }}},
        "--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive."));
    TRY(keep_strongest(
        options,
        {{"exclusive", [](JobOptions& o) { o.request.shape.exclusive = Exclusive::No; }},
         {"oversubscribe", [](JobOptions& o) { o.request.shape.oversubscribe = false; }}},
        "--exclusive and --oversubscribe options are mutually exclusive"));
    TRY(keep_strongest(
        options,
        {{"cpus-per-task",
          [](JobOptions& o) {
              o.request.shape.cpus_per_task = 1;
              o.request.shape.cpus_per_task_set = false;
          }},
         {"cpus-per-gpu", [](JobOptions& o) { o.request.shape.cpus_per_gpu.reset(); }}},
        "--cpus-per-task, --tres-per-task=cpu:#, and --cpus-per-gpu are mutually "
        "exclusive"));
    TRY(keep_strongest(
        options,
        {{"core-spec", [](JobOptions& o) { o.request.shape.core_spec.reset(); }},
         {"thread-spec", [](JobOptions& o) { o.request.shape.thread_spec.reset(); }}},
        "-S/--core-spec and --thread-spec options are mutually exclusive"));
    if (has_gpus_in_gres(options)) {
        TRY(keep_strongest(options,
                           {{"gpus-per-node", [](JobOptions& o) { o.gpus_per_node.clear(); }},
                            {"gres", drop_gpus_in_gres}},
                           "--gpus-per-node and --gres=gpu are mutually exclusive."));
    }
    if (tool == kSrun) {
        // A step's own demand for GPUs replaces what it inherits from the job's variables.
        TRY(keep_strongest(
            options,
            {{"gpus", [](JobOptions& o) { o.request.shape.gpus.clear(); }},
             {"gpus-per-node", [](JobOptions& o) { o.gpus_per_node.clear(); }},
             {"gpus-per-task", [](JobOptions& o) { o.request.shape.gpus_per_task.clear(); }},
             {"gres", drop_gpus_in_gres}},
            ""));
    }
    return {};
}

std::uint64_t gpu_count(const std::vector<GresCount>& gres) {
    std::uint64_t count = 0;
    for (const GresCount& each : gres) count += each.name == "gpu" ? each.count : 0;
    return count;
}

bool is_one_node(const Shape& shape) {
    return shape.nodes_min == 1 && shape.nodes_max == 1u;
}

// How many GPUs the job will have on each of its nodes, where that is certain.
std::optional<std::uint64_t> gpus_on_each_node(const JobOptions& options) {
    const Shape& shape = options.request.shape;
    std::uint64_t per_node = gpu_count(options.gres) + gpu_count(options.gpus_per_node);
    if (per_node > 0) return per_node;
    std::uint64_t total = gpu_count(shape.gpus), per_task = gpu_count(shape.gpus_per_task);
    if (total == 1 || (total > 0 && is_one_node(shape))) return total;
    if (per_task == 0) return {};
    if (shape.ntasks_per_node) return per_task * *shape.ntasks_per_node;
    if (shape.ntasks == 1u || (shape.ntasks && is_one_node(shape))) return per_task * *shape.ntasks;
    return {};
}

// A demand that contradicts another: two lines, as Slurm prints them.
Error contradiction(std::string_view what) {
    return {ErrorCode::InvalidGres, fmt::format("{}\n{}", what, text_of(ErrorCode::InvalidGres))};
}

// Compat: whole GPUs and parts of GPUs exclude each other in a job, and so do requests with and
// without a type.
Result<void> check_gres_together(const JobOptions& options) {
    const Shape& shape = options.request.shape;
    bool whole = gpu_count(shape.gpus) + gpu_count(shape.gpus_per_task) +
                     gpu_count(shape.gpus_per_socket) + gpu_count(options.gpus_per_node) >
                 0;
    bool parts = std::any_of(shape.gpus_per_task.begin(), shape.gpus_per_task.end(),
                             [](const GresCount& each) { return is_part_of_gpu(each.name); });
    for (const GresCount& each : options.gres) {
        whole = whole || (each.name == "gpu" && each.count > 0);
        parts = parts || (is_part_of_gpu(each.name) && each.count > 0);
        for (const GresCount& other : options.gres) {
            if (other.name == each.name && other.type.empty() && !each.type.empty()) {
                return Error{ErrorCode::InvalidGres,
                             "Invalid GRES specification (with and without type identification)"};
            }
        }
    }
    if (whole && parts) return Error{ErrorCode::InvalidGres, ""};
    if (parts && !options.request.tres_freq.empty())
        return contradiction("--gpu-freq: other jobs use the GPU that shard or mps are parts of");
    return {};
}

// What --ntasks-per-gpu cannot stand beside. A weaker source gives way.
Result<void> complete_tasks_per_gpu(JobOptions& options) {
    const Alternative per_gpu{"ntasks-per-gpu",
                              [](JobOptions& o) { o.request.shape.ntasks_per_gpu.reset(); }};
    const Alternative others[] = {
        {"gpus-per-task", [](JobOptions& o) { o.request.shape.gpus_per_task.clear(); }},
        {"gpus-per-socket", [](JobOptions& o) { o.request.shape.gpus_per_socket.clear(); }},
        {"ntasks-per-node", [](JobOptions& o) { o.request.shape.ntasks_per_node.reset(); }},
    };
    for (const Alternative& other : others) {
        TRY(keep_strongest(
            options, {per_gpu, other},
            fmt::format("--{} is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU",
                        other.option)));
    }
    return {};
}

// The number of tasks, or of GPUs, where it follows from the other.
Result<void> complete_gpus_and_tasks(JobOptions& options, Tool tool) {
    Shape& shape = options.request.shape;
    // A step has its own number of tasks: the job's total does not apply.
    bool inherited = tool == kSrun && source_of(options, "gpus") == Source::Environment;
    if (inherited && gpu_count(shape.gpus_per_task) > 0) shape.gpus.clear();
    const std::uint64_t total = gpu_count(shape.gpus), per_task = gpu_count(shape.gpus_per_task);
    if (per_task > 0 && total > 0) {
        std::uint64_t tasks = total / per_task;
        if (tasks * per_task != total || (shape.ntasks && *shape.ntasks != tasks)) {
            return contradiction(
                "Failed to validate job spec. Based on --gpus and --gpus-per-task number of "
                "requested tasks differ from -n/--ntasks.");
        }
        shape.ntasks = static_cast<std::uint32_t>(tasks);
    } else if (per_task > 0 && !shape.ntasks && !shape.ntasks_per_node) {
        return contradiction(
            "Failed to validate job spec. --gpus-per-task used without either --gpus or "
            "-n/--ntasks is not allowed.");
    }
    if (!shape.ntasks_per_gpu) return {};
    std::uint64_t gpus = total;
    if (gpus == 0) gpus = gpus_on_each_node(options).value_or(0) * shape.nodes_min;
    if (gpus > 0 && !shape.ntasks) {
        shape.ntasks = static_cast<std::uint32_t>(gpus * *shape.ntasks_per_gpu);
    } else if (gpus == 0 && shape.ntasks) {
        gpus = (*shape.ntasks + *shape.ntasks_per_gpu - 1) / *shape.ntasks_per_gpu;
        shape.gpus = {{.name = "gpu", .type = "", .count = gpus}};
    } else if (gpus == 0) {
        return contradiction(
            "--ntasks-per-gpu needs either a GRES GPU specification or a node/ntask specification");
    }
    return {};
}

Result<void> complete_gpu_sizes(JobOptions& options, Tool tool) {
    Shape& shape = options.request.shape;
    TRY(complete_tasks_per_gpu(options));
    TRY(complete_gpus_and_tasks(options, tool));
    bool has_gpus = gpu_count(shape.gpus) + gpu_count(shape.gpus_per_task) +
                        gpu_count(shape.gpus_per_socket) + gpu_count(options.gres) +
                        gpu_count(options.gpus_per_node) >
                    0;
    bool inherited = tool == kSrun && source_of(options, "mem-per-gpu") == Source::Environment;
    if (shape.mem_per_gpu && !has_gpus && !inherited) {
        return contradiction(fmt::format(
            "Requested mem_per_tres=gres/gpu:{} but did not request any GPU.", *shape.mem_per_gpu));
    }
    if (!shape.gpus_per_socket.empty() && !shape.sockets_per_node) {
        return contradiction("--gpus-per-socket option requires --sockets-per-node specification");
    }
    return {};
}

// -B with cores asks for a task on each thread, if the number of tasks is not given.
Result<void> complete_layout(JobOptions& options) {
    Shape& shape = options.request.shape;
    // Options of srun win over a hint that the step inherits from its job.
    for (const char* other : {"cores-per-socket", "sockets-per-node", "extra-node-info"}) {
        if (is_given(options, "hint") && source_of(options, "hint") == source_of(options, other)) {
            return fatal(fmt::format("--hint and --{} are mutually exclusive", other));
        }
    }
    if (is_given(options, "extra-node-info") && !shape.ntasks && shape.cores_per_socket) {
        std::uint64_t tasks = std::uint64_t{shape.nodes_min} * shape.sockets_per_node.value_or(1) *
                              *shape.cores_per_socket * shape.threads_per_core.value_or(1);
        if (tasks > kTasksMax) return fatal("-B asks for too many tasks");
        shape.ntasks = static_cast<std::uint32_t>(tasks);
    }
    if (shape.switches_max) return {};
    if (source_of(options, "switches") == Source::CommandLine &&
        shape.switches_wait != Seconds{0}) {
        return Error{ErrorCode::InvalidNodeCount, "Invalid numeric value \"\" for --switches."};
    }
    shape.switches_wait = Seconds{0};
    return {};
}

// The nodes that other demands need: counted features, and a total of GPUs of which each node has
// so many. Never more than there are tasks.
std::uint32_t nodes_implied(const JobOptions& options) {
    const Shape& shape = options.request.shape;
    std::uint64_t nodes = 1;
    if (Result<FeatureExpression> demand = FeatureExpression::parse(shape.constraint)) {
        nodes = std::max<std::uint64_t>(nodes, demand->nodes_min());
    }
    const std::uint64_t per_node = gpu_count(options.gres) + gpu_count(options.gpus_per_node);
    if (per_node > 0) nodes = std::max(nodes, (gpu_count(shape.gpus) + per_node - 1) / per_node);
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(nodes, shape.ntasks.value_or(kTasksMax)));
}

Result<void> complete_nodes(JobOptions& options, Tool tool) {
    Shape& shape = options.request.shape;
    if (shape.arbitrary) return {};  // its list says all
    if (shape.ntasks && *shape.ntasks < shape.nodes_min) {
        options.warnings.push_back(
            fmt::format("can't run {} processes on {} nodes, setting nnodes to {}", *shape.ntasks,
                        shape.nodes_min, *shape.ntasks));
        shape.nodes_min = *shape.ntasks;
        shape.nodes_max = *shape.ntasks;
        shape.node_sizes.clear();
        return {};
    }
    // Nodes that are named are wanted all; a list that does not parse is the controller's to
    // refuse.
    Result<Hostlist> hosts = Hostlist::parse(shape.nodelist);
    auto count = hosts ? static_cast<std::uint32_t>(hosts->sorted().size()) : 0;
    if (options.nodes_given && tool != kSrun && count > shape.nodes_max.value_or(count)) {
        return Error{ErrorCode::InvalidNodeCount,
                     fmt::format("invalid number of nodes (-N {}-{})", count, *shape.nodes_max)};
    }
    if (options.nodes_given) return {};
    shape.nodes_min = std::max(shape.nodes_min, nodes_implied(options));
    if (shape.ntasks) count = std::min(count, *shape.ntasks);
    shape.nodes_min = std::max(shape.nodes_min, count);
    return {};
}

}  // namespace

Result<void> complete_options(JobOptions& options, Tool tool) {
    TRY(complete_exclusions(options, tool));
    TRY(check_gres_together(options));
    TRY(complete_gpu_sizes(options, tool));
    TRY(complete_layout(options));
    TRY(job_option::complete_container(options));
    Shape& shape = options.request.shape;
    shape.gres_per_node = options.gres;
    shape.gres_per_node.insert(shape.gres_per_node.end(), options.gpus_per_node.begin(),
                               options.gpus_per_node.end());
    return complete_nodes(options, tool);
}

}  // namespace sluice
