#include "cli/srun/step_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

Error refused(std::string text) {
    return {ErrorCode::InvalidNodeCount, std::move(text)};
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Result<void> check_relative(const JobOptions& options, std::size_t nodes) {
    if (!options.relative) return {};
    const Shape& shape = options.request.shape;
    if (!shape.nodelist.empty() || !shape.exclude.empty()) {
        return refused("-r,--relative not allowed with -w,--nodelist or -x,--exclude.");
    }
    const std::uint64_t wanted = options.nodes_given ? shape.nodes_min : 1;
    if (*options.relative + wanted <= nodes) return {};
    const bool is_inherited = source_of(options, "nodes") == Source::Environment;
    return refused(fmt::format(
        "--relative and {} option incompatible with count of allocated nodes ({}+{}>{})",
        is_inherited ? "SLURM_JOB_NUM_NODES" : "--nodes", *options.relative, wanted, nodes));
}

// Those of the job that the step may use.
Result<std::size_t> count_allowed(const Shape& shape, const std::vector<std::string>& nodes) {
    if (shape.exclude.empty()) return nodes.size();
    const std::vector<std::string> excluded = TRY(Hostlist::parse(shape.exclude)).names();
    const std::vector<std::string> named = TRY(Hostlist::parse(shape.nodelist)).names();
    for (const std::string& name : named) {
        if (!has(excluded, name)) continue;
        return refused(fmt::format(
            "Requested node {} is also in the excluded list.\nJob not submitted.", name));
    }
    const auto left = std::count_if(nodes.begin(), nodes.end(),
                                    [&](const std::string& name) { return !has(excluded, name); });
    if (left == 0) return refused("Hostlist is empty!  Can't run job.");
    return static_cast<std::size_t>(left);
}

// Compat: the last of the named nodes give way.
Result<std::vector<std::string>> shorten_list(Shape& shape) {
    std::vector<std::string> named = TRY(Hostlist::parse(shape.nodelist)).names();
    if (shape.arbitrary || !shape.nodes_max || named.size() <= *shape.nodes_max) {
        return std::vector<std::string>{};
    }
    std::vector<std::string> lines = {
        fmt::format("Required nodelist includes more nodes than permitted by max-node count ({} > "
                    "{}). Eliminating nodes from the nodelist.",
                    named.size(), *shape.nodes_max)};
    named.resize(*shape.nodes_max);
    shape.nodelist = join(named, ",");
    return lines;
}

}  // namespace

bool names_nodes(const JobOptions& options) {
    const Shape& shape = options.request.shape;
    return options.relative || !shape.nodelist.empty() || !shape.exclude.empty() ||
           source_of(options, "nodes") == Source::CommandLine;
}

Result<std::vector<std::string>> check_step_nodes(JobOptions& options,
                                                  const wire::JobAllocation& job) {
    Shape& shape = options.request.shape;
    std::vector<std::string> nodes;
    for (const wire::NodeShare& node : job.nodes()) nodes.push_back(node.name());
    const std::size_t allowed = TRY(count_allowed(shape, nodes));
    if (options.nodes_given && shape.nodes_min > allowed) {
        std::string text =
            fmt::format("Only allocated {} nodes asked for {}", allowed, shape.nodes_min);
        if (!shape.exclude.empty()) text += "\nAre required nodes explicitly excluded?";
        return refused(std::move(text));
    }
    TRY(check_relative(options, nodes.size()));
    return shorten_list(shape);
}

}  // namespace sluice
