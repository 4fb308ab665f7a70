// controller/requests.h
//
// From what a client sent to what happened: requests that change the cluster (or wait for it) as
// events of the core. Pure; queries and orders to the daemon itself are answered elsewhere.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "controller/inbox.h"
#include "core/event.h"
#include "wire.pb.h"

namespace sluice {

struct RequestLimits {
    UserId slurm_user;
    std::uint32_t script_size_max = 4u << 20;
};

// Is this request for the core? The others never reach incoming_from().
bool is_for_core(const wire::Request& request);

// Takes script and environment out of the message.
Result<Incoming> incoming_from(wire::Request& request, const Caller& caller, RequestId id,
                               const RequestLimits& limits);

// A node's report, other than Register; `node` is who is speaking.
Result<Event> event_from(const wire::AgentReport& report, NodeIndex node);
// `now`: when it came in, to compare the node's clock with.
Result<NodeRegistered> registration_from(const wire::Register& message, Time now);

RunId from_wire(const wire::RunId& message);
void to_wire(const RunId& run, wire::RunId& message);

}  // namespace sluice
