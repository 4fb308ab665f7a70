// core/job/resize.h
//
// A running job gives up nodes and continues with the others (scontrol update NumNodes=,
// NodeList=). The request is checked on a draft of the job; the nodes are released once the draft
// is in force.
//
// It gets more nodes from a second job, submitted with --dependency=expand. That one waits for its
// nodes like any job; NumNodes=0 then ends it and gives all it holds to the first one, in one step.
#pragma once

#include <string>

#include "core/cluster.h"

namespace sluice {

// The live job keeps the first `count` of its nodes, or the named ones. The node of a batch script
// always stays.
Result<void> keep_first_nodes(const Cluster& cluster, Job& draft, std::uint32_t count);
Result<void> keep_named_nodes(const Cluster& cluster, Job& draft, const std::string& list);

// `before`: the job before the change. Its processes on nodes that it no longer holds are ended,
// and such a node takes new jobs as soon as it reports that nothing is left.
void leave_nodes(Cluster& cluster, Time now, const std::shared_ptr<const Job>& before,
                 Effects& effects);

// A node of the job is lost: whether it may continue without (--no-kill). Its script must be
// elsewhere.
bool survives_loss_of(const Job& job, NodeIndex node);
void go_on_without(Cluster& cluster, Time now, JobId id, NodeIndex node, Effects& effects);

// Whether the job, whose dependency was written as `text`, may wait for another in order to expand
// it.
Result<void> check_expansion(const Cluster& cluster, const Job& job, const std::string& text);
// The job that a live one was submitted to expand, if that can take over its nodes now.
Result<JobId> job_to_expand(const Cluster& cluster, const Job& job);
void hand_over_nodes(Cluster& cluster, Time now, JobId from, JobId to, Effects& effects);

}  // namespace sluice
