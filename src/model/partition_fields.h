// model/partition_fields.h
//
// The members of a partition and of its changes. See fields.h. The keys of slurm.conf and scontrol
// are in partition_keys.cc.
#pragma once

#include "model/fields.h"
#include "model/partition.h"
#include "model/patch.h"
#include "model/preempt_fields.h"
#include "model/sizes.h"

namespace sluice {

template <>
inline constexpr auto kFields<OverSubscription> = fields<OverSubscription>(
    field(1, "OverSubscribe", &OverSubscription::rule, at_most(OverSubscription::Rule::Force)),
    field(2, "OverSubscribe", &OverSubscription::jobs, at_most(kOverSubscriptionMax)));

template <>
inline constexpr auto kFields<PartitionConfig> = fields<PartitionConfig>(
    field(1, "PartitionName", &PartitionConfig::name),
    field(2, "Nodes", &PartitionConfig::nodes_text, bytes_at_most(sizes::kNodeList)),
    field(3, "Nodes", &PartitionConfig::nodes, entries_at_most(sizes::kListedNodeCount)),
    field(4, "Default", &PartitionConfig::is_default),
    field(5, "MaxTime", &PartitionConfig::max_time),
    field(6, "DefaultTime", &PartitionConfig::default_time),
    field(7, "MinNodes", &PartitionConfig::min_nodes),
    field(8, "MaxNodes", &PartitionConfig::max_nodes),
    field(9, "MaxCPUsPerNode", &PartitionConfig::max_cpus_per_node),
    field(10, "MaxCPUsPerSocket", &PartitionConfig::max_cpus_per_socket),
    field(11, "DefMemPerCPU", &PartitionConfig::def_mem_per_cpu, at_most(sizes::kAmount)),
    field(12, "DefMemPerNode", &PartitionConfig::def_mem_per_node, at_most(sizes::kAmount)),
    field(13, "MaxMemPerCPU", &PartitionConfig::max_mem_per_cpu, at_most(sizes::kAmount)),
    field(14, "MaxMemPerNode", &PartitionConfig::max_mem_per_node, at_most(sizes::kAmount)),
    field(15, "State", &PartitionConfig::state, at_most(PartitionState::Inactive)),
    field(16, "Hidden", &PartitionConfig::hidden),
    field(17, "RootOnly", &PartitionConfig::root_only),
    field(18, "ReqResv", &PartitionConfig::req_resv),
    field(19, "DisableRootJobs", &PartitionConfig::disable_root_jobs),
    field(20, "LLN", &PartitionConfig::lln),
    field(21, "AllowGroups", &PartitionConfig::allow_groups),
    field(22, "AllowAccounts", &PartitionConfig::allow_accounts),
    field(23, "DenyAccounts", &PartitionConfig::deny_accounts),
    field(24, "AllowQos", &PartitionConfig::allow_qos),
    field(25, "DenyQos", &PartitionConfig::deny_qos),
    field(26, "AllocNodes", &PartitionConfig::allow_alloc_nodes,
          entries_at_most(sizes::kListedNodeCount)),
    field(27, "Alternate", &PartitionConfig::alternate), field(28, "QOS", &PartitionConfig::qos),
    field(29, "OverSubscribe", &PartitionConfig::oversubscribe),
    field(30, "Exclusive", &PartitionConfig::exclusive, at_most(PartitionExclusive::Topo)),
    field(31, "PreemptMode", &PartitionConfig::preempt_mode),
    field(32, "TRESBillingWeights", &PartitionConfig::tres_billing_weights),
    field(33, "GraceTime", &PartitionConfig::grace_time),
    field(34, "PriorityJobFactor", &PartitionConfig::priority_job_factor),
    field(35, "PriorityTier", &PartitionConfig::priority_tier),
    field(36, "OverTimeLimit", &PartitionConfig::over_time_limit),
    field(37, "DefCpuPerGPU", &PartitionConfig::def_cpus_per_gpu),
    field(38, "DefMemPerGPU", &PartitionConfig::def_mem_per_gpu, at_most(sizes::kAmount)),
    field(40, "SuspendTime", &PartitionConfig::suspend_time),
    field(41, "SuspendTimeout", &PartitionConfig::suspend_timeout),
    field(42, "ResumeTimeout", &PartitionConfig::resume_timeout),
    field(43, "PowerDownOnIdle", &PartitionConfig::power_down_on_idle),
    field(230, "GpuIdleWarn", &PartitionConfig::gpu_idle_warn),
    field(231, "GpuIdlePercent", &PartitionConfig::gpu_idle_percent, at_most(100)),
    field(232, "GpuIdleGrace", &PartitionConfig::gpu_idle_grace),
    field(233, "GpuIdleAction", &PartitionConfig::gpu_idle_action, at_most(GpuIdleAction::Cancel)),
    field(234, "GpuIdleExemptQos", &PartitionConfig::gpu_idle_exempt_qos),
    field(235, "GpuHungWarn", &PartitionConfig::gpu_hung_warn),
    field(39, "Nodes", &PartitionConfig::node_sets));

static_assert(numbers_differ<PartitionConfig>());

template <>
inline constexpr auto kFields<PartitionChange> = fields<PartitionChange>(
    field(1, "change", &PartitionChange::members),
    field(2, "Exclusive-", &PartitionChange::ended, at_most(PartitionExclusive::Topo)));

}  // namespace sluice
