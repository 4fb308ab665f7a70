#include "mpi/step_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "model/errors.h"
#include "model/hostlist.h"
#include "model/process_mapping.h"

namespace sluice {

Result<StepLayout> StepLayout::from(const wire::PmixSetup& setup) {
    StepLayout layout;
    layout.name_space = fmt::format("slurm.pmix.{}.{}", setup.run().job(), setup.run().step());
    layout.nodes = TRY(Hostlist::parse(setup.step_nodes())).names();
    auto mapping = parse_process_mapping(setup.process_mapping(), setup.total_tasks());
    if (!mapping) return Error{ErrorCode::BadArgument, "the layout of the tasks is missing"};
    layout.node_of_task = std::move(*mapping);
    layout.tasks_of_node.resize(layout.nodes.size());
    for (std::uint32_t task = 0; task < layout.node_of_task.size(); ++task) {
        const std::uint32_t node = layout.node_of_task[task];
        if (node >= layout.nodes.size()) {
            return Error{ErrorCode::BadArgument, "a task is on a node that is not of the step"};
        }
        layout.tasks_of_node[node].push_back(task);
    }
    layout.own_node = setup.node_rank();
    const bool is_ours = layout.own_node < layout.nodes.size() &&
                         std::equal(setup.task_ids().begin(), setup.task_ids().end(),
                                    layout.local_tasks().begin(), layout.local_tasks().end());
    if (!is_ours) return Error{ErrorCode::BadArgument, "the tasks of this node are others"};
    return layout;
}

std::uint32_t StepLayout::local_rank(std::uint32_t task) const {
    const std::vector<std::uint32_t>& tasks = tasks_of_node[node_of_task[task]];
    return static_cast<std::uint32_t>(std::lower_bound(tasks.begin(), tasks.end(), task) -
                                      tasks.begin());
}

std::string StepLayout::node_list() const {
    return fmt::format("{}", fmt::join(nodes, ","));
}

std::string StepLayout::task_lists() const {
    std::string text;
    for (const std::vector<std::uint32_t>& tasks : tasks_of_node) {
        text += fmt::format("{}{}", text.empty() ? "" : ";", fmt::join(tasks, ","));
    }
    return text;
}

std::vector<std::uint32_t> StepLayout::nodes_of(const std::vector<std::uint32_t>& tasks) const {
    std::set<std::uint32_t> found;
    for (std::uint32_t task : tasks) {
        if (task < node_of_task.size()) found.insert(node_of_task[task]);
    }
    if (tasks.empty()) found.insert(node_of_task.begin(), node_of_task.end());
    return {found.begin(), found.end()};
}

std::string exchange_name(const std::vector<std::uint32_t>& tasks) {
    if (tasks.empty()) return "all";
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (std::uint32_t task : tasks) hash = (hash ^ task) * 0x100000001b3;
    return fmt::format("{}-{}-{}:{:016x}", tasks.size(), tasks.front(), tasks.back(), hash);
}

}  // namespace sluice
