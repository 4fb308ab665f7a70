// mpi/step_layout.h
//
// Which task of a step is on which node, in the forms that PMIx wants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "nodes.pb.h"

namespace sluice {

struct StepLayout {
    static Result<StepLayout> from(const wire::PmixSetup& setup);

    std::string name_space;  // "slurm.pmix.12.0"
    std::vector<std::string> nodes;
    std::vector<std::uint32_t> node_of_task;
    std::vector<std::vector<std::uint32_t>> tasks_of_node;
    std::uint32_t own_node = 0;

    const std::vector<std::uint32_t>& local_tasks() const { return tasks_of_node[own_node]; }
    // The place of a task among those of its node.
    std::uint32_t local_rank(std::uint32_t task) const;
    std::string node_list() const;   // "n1,n2"
    std::string task_lists() const;  // "0,1;2,3"
    // The nodes of these tasks, each once; all tasks of the step when there are none.
    std::vector<std::uint32_t> nodes_of(const std::vector<std::uint32_t>& tasks) const;
};

// Names an exchange among these tasks (none: all), which all nodes name alike.
std::string exchange_name(const std::vector<std::uint32_t>& tasks);

}  // namespace sluice
