// controller/replies.h
//
// From the core's answers to what is sent back: jobs and steps as a reader without a node table
// understands them.
#pragma once

#include <string>
#include <vector>

#include "auth/launch_credential.h"
#include "core/cluster.h"
#include "core/effect.h"
#include "wire.pb.h"

namespace sluice {

// What an answer needs beside itself.
struct ReplyContext {
    const Snapshot& snapshot;
    const CredentialSigner& signer;
    Time now;
    Seconds credential_lifetime{120};
};

wire::Reply reply_from(const Answer& answer, const ReplyContext& context);
wire::Reply error_reply(const Error& error);

void describe(const Job& job, const Snapshot& snapshot, wire::JobAllocation& message);
// What the job's Epilog on this node is told.
void describe_for_epilog(const Job& job, NodeIndex node, const Snapshot& snapshot,
                         wire::JobAllocation& message);

// The right to run this on these nodes, signed.
std::string issue_credential(const Job& job, StepId step, const std::vector<NodeShare>& nodes,
                             const ReplyContext& context);

// A message as it travels, ready to be shared by many connections.
std::shared_ptr<const std::string> framed(const google::protobuf::MessageLite& message);
// The same for an answer. One that is larger than clients accept becomes a refusal.
std::shared_ptr<const std::string> framed_reply(const wire::Reply& reply);

}  // namespace sluice
