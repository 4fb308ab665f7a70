// model/filter.h
//
// Which jobs (or nodes, partitions, steps) are selected, for squeue, scancel and sinfo. An empty
// list means "no restriction"; lists are OR inside, AND between.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"

namespace sluice {

struct Filter {
    std::vector<JobRef> jobs;
    std::vector<UserId> users;
    std::vector<std::string> partitions;
    std::vector<std::string> names;
    std::vector<std::string> accounts;
    std::vector<std::string> qos;
    std::vector<std::string> reservations;
    std::vector<std::string> wckeys;
    std::vector<std::string> nodes;  // jobs on any of these nodes; for nodes: these nodes
    std::vector<ShownState> states;
    bool all_states = false;  // else, with no states given: pending, running, completing, suspended
    bool include_hidden = false;  // -a: hidden partitions too

    bool operator==(const Filter&) const = default;
};

}  // namespace sluice
