// core/node/verbs.h
//
// Events and operations on nodes.
#pragma once

#include "core/cluster.h"

namespace sluice {

void set_reason(Node& node, std::string reason, UserId user, Time now);    // state.cc
void set_datasets(NodeFacts& facts, std::vector<std::uint64_t> datasets);  // sorted; data.cc
void undrain(Node& node);                                                  // state.cc

// register.cc
void on_node_registered(Cluster& cluster, Time now, const NodeRegistered& event, Effects& effects);
// data.cc
void on_data_progressed(Cluster& cluster, const DataProgressed& event);
void on_data_cached(Cluster& cluster, const DataCached& event);

void on_node_heartbeat(Cluster& cluster, Time now, const NodeHeartbeat& event, Effects& effects);
void on_node_disconnected(Cluster& cluster, const NodeDisconnected& event);

// clock.cc: a node whose clock differs from the controller's takes no jobs while it does.
void look_at_clock(Cluster& cluster, Time now, NodeIndex index);
bool has_clock_reason(const Node& node);

// fail.cc: the node has been silent for too long, or was declared down. Any message of a node shows
// that it is there.
void node_is_heard(const Cluster& cluster, Node& node, Time now);
void watch_node(Cluster& cluster, NodeIndex index);
void watch_nodes_anew(Cluster& cluster, Time now);
void node_timed_out(Cluster& cluster, Time now, NodeIndex index, Effects& effects);
void fail_jobs_on(Cluster& cluster, Time now, NodeIndex index, Effects& effects);
// It is no longer in slurm.conf. If it is added again, it has to register.
void node_was_removed(Cluster& cluster, Time now, NodeIndex index, Effects& effects);
void drain_after_hook(Cluster& cluster, Time now, NodeIndex index,
                      std::string reason);  // Prolog or Epilog failed
void on_kill_failed(Cluster& cluster, Time now, const KillFailed& event);

// ---- gpus.cc: GPUs that are out of service

void on_gpus_reported(Cluster& cluster, Time now, const GpusReported& event, Effects& effects);
// GresDrain= and GresResume= of scontrol update.
Result<void> check_gpu_change(const Node& node, const NodeChange& change);
void change_gpus(Cluster& cluster, Time now, NodeIndex index, const NodeChange& change);

// stray.cc: runs on a node that no job waits for.
bool is_wanted(const Job& job, const RunId& run, NodeIndex node);
void end_stray(Cluster& cluster, NodeIndex node, const RunId& run, Effects& effects,
               std::shared_ptr<const Job> for_epilog = nullptr);
void step_is_launched(Cluster& cluster, const Job& job, const LaunchReported& event,
                      Effects& effects);  // live

// reboot.cc: scontrol reboot, from the request to the node's return.
void on_reboot_nodes(Cluster& cluster, Time now, const RebootNodes& event, Effects& effects);
void order_reboots(Cluster& cluster, Time now, Effects& effects);  // to idle nodes
void reboot_timed_out(Cluster& cluster, Time now, NodeIndex index);
void watch_reboot(Cluster& cluster,
                  NodeIndex index);  // sets its timer, or lets it wait until the node is idle
// The node has registered: whether it has been rebooted; if not, the order is sent again.
bool finish_reboot(Cluster& cluster, Time now, NodeIndex index, const NodeFacts& facts,
                   Effects& effects);
void cancel_reboot(Cluster& cluster, NodeIndex index);

// health.cc: HealthCheckProgram runs every HealthCheckInterval on nodes of HealthCheckNodeState.
void watch_health(Cluster& cluster, Time now);
void on_health_timer(Cluster& cluster, Time now, std::uint32_t turn, Effects& effects);

// dynamic.cc: nodes that no NodeName line has.
void on_create_nodes(Cluster& cluster, Time now, const CreateNodes& event, Effects& effects);
void on_delete_nodes(Cluster& cluster, Time now, const DeleteNodes& event, Effects& effects);
// slurmd -Z. The node exists afterwards, or the error says why not.
Result<void> take_dynamic_node(Cluster& cluster, Time now, const NodeRegistered& event);
// set_trigger.cc: strigger.
void on_set_trigger(Cluster& cluster, Time now, const SetTrigger& event, Effects& effects);
void on_clear_triggers(Cluster& cluster, const ClearTriggers& event, Effects& effects);
// trigger.cc: what has happened is compared with the triggers after each event.
void compare_with_triggers(Cluster& cluster, Time now);
void on_trigger_timer(Cluster& cluster, Time now, Effects& effects);  // runs programs
void pull_triggers(Cluster& cluster, Time now, TriggerEvent event);   // of no node and no job
void watch_trigger(Cluster& cluster, std::uint32_t id);               // a new one
void view_nodes(Cluster& cluster, Time now);  // before the first one: what they are has happened
void recall_triggers(Cluster& cluster, Time now);  // after a restart

// update.cc
void resume_node(Node& node);  // State=RESUME
Result<std::vector<NodeIndex>> nodes_named(const Cluster& cluster,
                                           const std::vector<std::string>& names);  // or ALL
void on_update_node(Cluster& cluster, Time now, const UpdateNode& event, Effects& effects);
void on_update_partition(Cluster& cluster, Time now, const UpdatePartition& event,
                         Effects& effects);

}  // namespace sluice
