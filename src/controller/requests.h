// controller/requests.h
//
// Converts messages of clients to events of the core: requests that change the cluster, or wait for
// it. Pure; queries and orders to the daemon itself are answered elsewhere.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "config/config.h"
#include "controller/inbox.h"
#include "core/event.h"
#include "wire.pb.h"

namespace sluice {

struct RequestLimits {
    UserId slurm_user;
    std::uint32_t script_size_max = 4u << 20;
    const Config* config = nullptr;  // for nodes to be created; null: none can be
};

// Whether this request is for the core. Others must not be passed to incoming_from().
bool is_for_core(const wire::Request& request);

// Moves script and environment out of the message.
Result<Incoming> incoming_from(wire::Request& request, const Caller& caller, RequestId id,
                               const RequestLimits& limits);

// A report other than Register; `node` is the node that sent it.
// Why a node cannot do something, in bytes: a longer text is cut.
constexpr std::size_t kReportedMost = 8u << 10;
Result<Event> event_from(const wire::AgentReport& report, NodeIndex node);
// `now`: when it arrived, to compare the node's clock with.
Result<NodeRegistered> registration_from(const wire::Register& message, Time now,
                                         const Config& config);

RunId from_wire(const wire::RunId& message);
void to_wire(const RunId& run, wire::RunId& message);

}  // namespace sluice
