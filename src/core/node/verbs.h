// core/node/verbs.h
//
// What can happen to a node.
#pragma once

#include "core/cluster.h"

namespace sluice {

// register.cc
void on_node_registered(Cluster& cluster, Time now, const NodeRegistered& event, Effects& effects);
void on_node_heartbeat(Cluster& cluster, Time now, const NodeHeartbeat& event, Effects& effects);
void on_node_disconnected(Cluster& cluster, Time now, const NodeDisconnected& event, Effects& effects);

// fail.cc: the node has been silent for too long, or was declared down.
void watch_node(Cluster& cluster, NodeIndex index);
void node_timed_out(Cluster& cluster, Time now, NodeIndex index, Effects& effects);
void fail_jobs_on(Cluster& cluster, Time now, NodeIndex index, Effects& effects);

// update.cc
void on_update_node(Cluster& cluster, Time now, const UpdateNode& event, Effects& effects);
void on_update_partition(Cluster& cluster, Time now, const UpdatePartition& event, Effects& effects);

}  // namespace sluice
