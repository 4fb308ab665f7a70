// protocol/launch_tree.h
//
// A step on many nodes is reached through some of them (TreeWidth, ADR 36): which nodes a program
// connects to, and how a message names the node that it is for, or comes from, in its first bytes,
// so that relays pass it on without taking it apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nodes.pb.h"

namespace sluice {

// Nodes that are reached through the first of them.
struct Branch {
    std::size_t start = 0;
    std::size_t count = 0;

    bool operator==(const Branch&) const = default;
};

// All of `nodes`, in order; at most `width` branches, whose sizes differ by one at most.
std::vector<Branch> branches(std::size_t nodes, std::size_t width);

// The same frames with that node_rank in each message.
std::string with_node_rank(std::string_view frames, std::uint32_t rank);

// Of one message, if it begins with it.
std::optional<std::uint32_t> leading_node_rank(std::string_view message);

// Is it a StepOutput that says that all tasks of a node are over?
bool is_step_done(std::string_view message);

// The whole order for one node.
wire::LaunchTasks launch_of(const wire::LaunchTasks& common, const wire::LaunchTasks& own);

// A part of a tree, for a relay on its first node.
wire::LaunchTree subtree(const wire::LaunchTree& tree, const Branch& branch);

}  // namespace sluice
