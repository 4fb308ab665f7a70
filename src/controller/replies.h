// controller/replies.h
//
// Converts the core's answers to messages: jobs and steps with node names, for readers without a
// node table.
#pragma once

#include <string>
#include <vector>

#include "auth/launch_credential.h"
#include "core/cluster.h"
#include "core/effect.h"
#include "net/link.h"
#include "wire.pb.h"

namespace sluice {

// What a reply needs besides the answer.
struct ReplyContext {
    const Snapshot& snapshot;
    const CredentialSigner& signer;
    Time now;
    Seconds credential_lifetime{120};
};

wire::Reply reply_from(const Answer& answer, const ReplyContext& context);
wire::Reply error_reply(const Error& error);

void describe(const Job& job, const Snapshot& snapshot, wire::JobAllocation& message);
// The data for the job's Epilog on this node.
void describe_for_epilog(const Job& job, NodeIndex node, const Snapshot& snapshot,
                         wire::JobAllocation& message);

// Nodes that have or get the data of the job, its own among them.
void describe_data_peers(const Job& job, const Snapshot& snapshot, wire::PrepareJob& message);

// A signed credential to run this step on these nodes. That of a batch script covers the request of
// the job as it is sent, with the hashes of script and environment.
std::string issue_credential(const Job& job, StepId step, const std::vector<NodeShare>& nodes,
                             const ReplyContext& context, std::string_view batch_request = {});

// Encoded. One that is larger than clients accept becomes an error.
Bytes framed_reply(const wire::Reply& reply);

}  // namespace sluice
