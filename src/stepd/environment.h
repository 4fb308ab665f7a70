// stepd/environment.h
//
// The variables that a job sees: what was submitted, then Slurm's own. Pure: the node's facts are
// arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "order.pb.h"
#include "os/user.h"

namespace sluice {

// NAME=value pairs with one value per name, in order of first appearance.
class Environment {
public:
    Environment() = default;
    explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {}
    // "NAME=value", each ended by a zero byte.
    static Environment parse(std::string_view block);

    void set(std::string_view name, std::string_view value);
    void set_default(std::string_view name, std::string_view value);  // unless it is there
    void unset(std::string_view name);
    std::string_view get(std::string_view name) const;  // empty when absent
    bool has(std::string_view name) const;
    void add_missing(const Environment& other);
    const std::vector<std::string>& entries() const { return entries_; }

private:
    std::vector<std::string> entries_;
};

// "2(x3),1": how Slurm writes a number per node.
std::string print_per_node(const std::vector<std::uint32_t>& counts);

// What the batch script gets on top of what was submitted.
void set_batch_variables(Environment& environment, const wire::StepOrder& order,
                         std::string_view user_name);

// One task of a step, which sees these GPUs. `local` is its place in the order's list of tasks.
void set_task_variables(Environment& environment, const wire::StepOrder& order, const User& user,
                        std::size_t local, const std::vector<std::uint32_t>& gpus);

}  // namespace sluice
