// cli/common/ask_node.h
//
// Questions to the slurmd of a node: what do steps use there, which processes have they? Several
// nodes can be asked before the first answer is read.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/client/client.h"

namespace sluice {

struct AskedNode {
    std::string name;
    Connection connection;
    FrameReader reader;
};

using NodeDeadline = std::chrono::steady_clock::time_point;
NodeDeadline deadline_for_nodes();  // for answers to questions that are asked now

Result<AskedNode> ask_node(Client& client, const wire::NodeAddress& address,
                           const wire::StepInput& question);
Result<AskedNode> ask_node(Client& client, const wire::NodeAddress& address,
                           const wire::AskUsage& question);
Result<wire::StepUsages> hear_node(AskedNode& node, NodeDeadline deadline);
// All parts of the answer to AskGpus.
Result<std::vector<wire::GpuAnswer>> hear_gpus(AskedNode& node, NodeDeadline deadline);

}  // namespace sluice
