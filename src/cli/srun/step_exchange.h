// cli/srun/step_exchange.h
//
// What the tasks of a step tell each other at their start (--mpi) goes through srun, which is
// connected to each node: it collects the contributions of all nodes that take part, and sends all
// of them to each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "nodes.pb.h"

namespace sluice {

class StepExchange {
public:
    // To one node, or to all.
    using Send = std::function<void(std::optional<std::uint32_t> node, const std::string& frame)>;

    StepExchange(std::size_t nodes, Send send) : node_count_(nodes), send_(std::move(send)) {}

    Result<void> add(std::uint32_t node, const wire::Exchange& contribution);
    Result<void> pass_on(std::uint32_t node, wire::Parcel parcel);

private:
    struct Open {
        std::vector<std::uint32_t> nodes;
        std::map<std::uint32_t, std::string> data;  // by node
        std::size_t bytes = 0;
    };
    Result<std::vector<std::uint32_t>> nodes_of(const wire::Exchange& contribution) const;
    void finish(const std::string& key, const Open& exchange);

    std::size_t node_count_;
    Send send_;
    std::map<std::string, Open> open_;  // by key
};

}  // namespace sluice
