// core/job/resize.h
//
// A job that runs gives nodes up and goes on with the others (scontrol update NumNodes=,
// NodeList=). What is asked for is checked on a draft of the job; the nodes are left once the draft
// is in force.
//
// It gets more nodes from a second job, submitted with --dependency=expand. That one waits for its
// nodes as any job does; NumNodes=0 then ends it and makes all it holds the first one's, at one
// stroke.
#pragma once

#include <string>

#include "core/cluster.h"

namespace sluice {

// The live job keeps the first so many of its nodes ("ALL": all of them), or those that are named.
// A batch script's node always stays.
Result<void> keep_first_nodes(const Cluster& cluster, Job& draft, const std::string& count);
Result<void> keep_named_nodes(const Cluster& cluster, Job& draft, const std::string& list);

// `before`: the job as it was until now. Whatever of it runs on a node that it holds no longer is
// ended there, and the node takes new jobs as soon as it says that nothing is left.
void leave_nodes(Cluster& cluster, Time now, const std::shared_ptr<const Job>& before,
                 Effects& effects);

// A node of the job is lost: may it go on without (--no-kill)? Its script must be elsewhere.
bool survives_loss_of(const Job& job, NodeIndex node);
void go_on_without(Cluster& cluster, Time now, JobId id, NodeIndex node, Effects& effects);

// Whether the job, whose dependency was written as `text`, may wait for another in order to expand
// it.
Result<void> check_expansion(const Cluster& cluster, const Job& job, const std::string& text);
// The job that a live one was submitted for, if that can take over its nodes now.
Result<JobId> job_to_expand(const Cluster& cluster, const Job& job);
void hand_over_nodes(Cluster& cluster, Time now, JobId from, JobId to, Effects& effects);

}  // namespace sluice
