// What only shows when all of a job's options are known: which exclude each other, and sizes that
// follow from others. An option of a stronger source (command line, environment, directive) quietly
// replaces a weaker one that it excludes; two of the same source are a mistake.
#include <algorithm>
#include <initializer_list>

#include "model/hostlist.h"
#include "surface/job_options.h"
#include "surface/job_options_setters.h"

namespace sluice {

namespace {

Error fatal(std::string_view text) {
    return {ErrorCode::InvalidCpuCount, fmt::format("fatal: {}", text)};
}

Source source_of(const JobOptions& options, std::string_view name) {
    std::size_t index = option_index(name);
    return index < options.sources.size() ? options.sources[index] : Source::Nobody;
}

// One way of saying something that can be said only once.
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

Result<void> settle_exclusions(JobOptions& options, Tool tool) {
    TRY(keep_strongest(options,
                       {{"mem", [](JobOptions& o) { o.request.shape.mem_per_node.reset(); }},
                        {"mem-per-cpu", [](JobOptions& o) { o.request.shape.mem_per_cpu.reset(); }},
                        {"mem-per-gpu", [](JobOptions& o) { o.mem_per_gpu.reset(); }}},
                       "--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive."));
    TRY(keep_strongest(
        options,
        {{"exclusive", [](JobOptions& o) { o.request.shape.exclusive = Exclusive::No; }},
         {"oversubscribe", [](JobOptions& o) { o.request.shape.oversubscribe = false; }}},
        "--exclusive and --oversubscribe options are mutually exclusive"));
    TRY(keep_strongest(options,
                       {{"cpus-per-task",
                         [](JobOptions& o) {
                             o.request.shape.cpus_per_task = 1;
                             o.request.shape.cpus_per_task_set = false;
                         }},
                        {"cpus-per-gpu", [](JobOptions& o) { o.cpus_per_gpu.reset(); }}},
                       "--cpus-per-task, --tres-per-task=cpu:#, and --cpus-per-gpu are mutually "
                       "exclusive"));
    if (has_gpus_in_gres(options)) {
        TRY(keep_strongest(options,
                           {{"gpus-per-node", [](JobOptions& o) { o.gpus_per_node.clear(); }},
                            {"gres", drop_gpus_in_gres}},
                           "--gpus-per-node and --gres=gpu are mutually exclusive."));
    }
    if (tool == kSrun) {
        // A step's own wish for GPUs replaces what it inherits from the job's variables.
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

Error needs_gpus_per_node(std::string_view option) {
    return {ErrorCode::NotSupported,
            fmt::format("--{} is supported by Sluice only where the number of GPUs on each node is "
                        "given: --gpus-per-node, --gres=gpu, or --gpus with -N1",
                        option)};
}

Result<void> settle_gpu_sizes(JobOptions& options) {
    Shape& shape = options.request.shape;
    std::optional<std::uint64_t> gpus = gpus_on_each_node(options);
    if (options.mem_per_gpu) {
        if (!gpus) return needs_gpus_per_node("mem-per-gpu");
        shape.mem_per_node = *options.mem_per_gpu * *gpus;
    }
    if (options.cpus_per_gpu) {
        if (std::uint64_t per_task = gpu_count(shape.gpus_per_task)) {
            shape.cpus_per_task = static_cast<std::uint32_t>(*options.cpus_per_gpu * per_task);
        } else if (gpus) {
            std::uint64_t least = *options.cpus_per_gpu * *gpus;
            shape.cpus_min_per_node = static_cast<std::uint32_t>(
                std::max<std::uint64_t>(shape.cpus_min_per_node.value_or(0), least));
        } else {
            return needs_gpus_per_node("cpus-per-gpu");
        }
    }
    if (options.ntasks_per_gpu && !shape.ntasks) {
        bool is_fixed = shape.nodes_max == shape.nodes_min;
        std::uint64_t total = gpu_count(shape.gpus);
        if (total == 0 && gpus && is_fixed) total = *gpus * shape.nodes_min;
        if (total == 0) return needs_gpus_per_node("ntasks-per-gpu");
        shape.ntasks = static_cast<std::uint32_t>(total * *options.ntasks_per_gpu);
    } else if (options.ntasks_per_gpu) {
        return Error{ErrorCode::NotSupported,
                     "--ntasks-per-gpu together with --ntasks is not supported by Sluice yet"};
    }
    if (!shape.gpus_per_task.empty() && !shape.ntasks && !shape.ntasks_per_node &&
        shape.gpus.empty()) {
        return Error{ErrorCode::InvalidGres,
                     fmt::format("Failed to validate job spec. --gpus-per-task used without either "
                                 "--gpus or -n/--ntasks is not allowed.\n{}",
                                 text_of(ErrorCode::InvalidGres))};
    }
    return {};
}

void settle_nodes(JobOptions& options) {
    Shape& shape = options.request.shape;
    if (shape.ntasks && *shape.ntasks < shape.nodes_min) {
        options.warnings.push_back(
            fmt::format("can't run {} processes on {} nodes, setting nnodes to {}", *shape.ntasks,
                        shape.nodes_min, *shape.ntasks));
        shape.nodes_min = *shape.ntasks;
        shape.nodes_max = *shape.ntasks;
        return;
    }
    if (options.nodes_given || shape.nodelist.empty()) return;
    // Nodes that are named are wanted all; a list that does not parse is the controller's to
    // refuse.
    Result<Hostlist> hosts = Hostlist::parse(shape.nodelist);
    if (!hosts) return;
    auto count = static_cast<std::uint32_t>(hosts->sorted().size());
    if (shape.ntasks) count = std::min(count, *shape.ntasks);
    shape.nodes_min = std::max(shape.nodes_min, count);
}

}  // namespace

Result<void> complete_options(JobOptions& options, Tool tool) {
    TRY(settle_exclusions(options, tool));
    TRY(settle_gpu_sizes(options));
    Shape& shape = options.request.shape;
    shape.gres_per_node = options.gres;
    shape.gres_per_node.insert(shape.gres_per_node.end(), options.gpus_per_node.begin(),
                               options.gpus_per_node.end());
    settle_nodes(options);
    return {};
}

}  // namespace sluice
