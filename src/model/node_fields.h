// model/node_fields.h
//
// The members of a node's report and of its stored part. See fields.h. Number 1 of a StoredNode is
// the schema of its row.
#pragma once

#include "model/fields.h"
#include "model/gpu_use_fields.h"
#include "model/job_fields.h"
#include "model/node.h"
#include "model/sizes.h"

namespace sluice {

template <>
inline constexpr auto kFields<GresDevices> = fields<GresDevices>(
    field(1, "gres name", &GresDevices::name), field(2, "gres type", &GresDevices::type),
    field(3, "gres files", &GresDevices::files, entries_at_most(sizes::kNodeCount, sizes::kPath)),
    field(4, "gres count", &GresDevices::count, at_most(sizes::kAmount)),
    field(5, "gres cores", &GresDevices::cores, bytes_at_most(sizes::kGenerated)),
    field(6, "gres links", &GresDevices::links, bytes_at_most(sizes::kGenerated)),
    field(7, "gres flags", &GresDevices::flags, bytes_at_most(sizes::kGenerated)),
    field(8, "UUIDs", &GresDevices::uuids, entries_at_most(sizes::kNodeCount, sizes::kPath)));

template <>
inline constexpr auto kFields<NodeFacts> = fields<NodeFacts>(
    field(1, "CPUs", &NodeFacts::cpus, at_most(sizes::kNodeCount)),
    field(2, "boards", &NodeFacts::boards, at_most(sizes::kNodeCount)),
    field(3, "sockets", &NodeFacts::sockets, at_most(sizes::kNodeCount)),
    field(4, "cores", &NodeFacts::cores_per_socket, at_most(sizes::kNodeCount)),
    field(5, "threads", &NodeFacts::threads_per_core, at_most(sizes::kNodeCount)),
    field(6, "memory", &NodeFacts::real_memory, at_most(sizes::kAmount)),
    field(7, "disk", &NodeFacts::tmp_disk, at_most(sizes::kAmount)),
    field(8, "free memory", &NodeFacts::free_memory, at_most(sizes::kAmount)),
    field(30, "free scratch", &NodeFacts::free_scratch, at_most(sizes::kAmount)),
    field(9, "load", &NodeFacts::load),
    field(10, "architecture", &NodeFacts::arch, bytes_at_most(sizes::kGenerated)),
    field(11, "system", &NodeFacts::os, bytes_at_most(sizes::kGenerated)),
    field(12, "version", &NodeFacts::version, bytes_at_most(sizes::kGenerated)),
    field(13, "host name", &NodeFacts::hostname, bytes_at_most(sizes::kGenerated)),
    field(14, "boot id", &NodeFacts::boot_id, bytes_at_most(sizes::kGenerated)),
    field(15, "boot time", &NodeFacts::boot_time),
    field(16, "start time", &NodeFacts::slurmd_start_time),
    field(17, "gres", &NodeFacts::gres, entries_at_most(sizes::kNodeCount)),
    field(31, "datasets", &NodeFacts::datasets, entries_at_most(sizes::kDatasetCount)),
    field(18, "problem", &NodeFacts::problem, bytes_at_most(sizes::kGenerated)));

template <>
inline constexpr auto kFields<Reboot> = fields<Reboot>(
    field(1, "state after reboot", &Reboot::next, at_most(AfterReboot::Down)),
    field(2, "drained for the reboot", &Reboot::drained),
    field(3, "reason of the reboot", &Reboot::reasoned), field(4, "reboot", &Reboot::issued),
    field(5, "boot id", &Reboot::boot_id), derived(&Reboot::stepped));

template <>
inline constexpr auto kFields<Power> = fields<Power>(
    field(1, "power state", &Power::state, at_most(PowerState::PoweringUp)),
    field(2, "power down", &Power::suspended), field(3, "power up", &Power::resumed),
    field(4, "program", &Power::started), field(5, "POWER_DOWN", &Power::wanted_down),
    field(6, "POWER_UP", &Power::wanted_up), field(7, "POWER_DOWN_ASAP", &Power::drained),
    field(8, "boot id", &Power::boot_id), field(9, "start time", &Power::slurmd_start));

template <>
inline constexpr auto kFields<NodeConfig> = fields<NodeConfig>(
    field(1, "NodeName", &NodeConfig::name), field(2, "NodeHostname", &NodeConfig::hostname),
    field(3, "NodeAddr", &NodeConfig::address), field(4, "Port", &NodeConfig::port),
    field(5, "CPUs", &NodeConfig::cpus, at_most(sizes::kNodeCount)),
    field(6, "Boards", &NodeConfig::boards, at_most(sizes::kNodeCount)),
    field(7, "Sockets", &NodeConfig::sockets, at_most(sizes::kNodeCount)),
    field(8, "CoresPerSocket", &NodeConfig::cores_per_socket, at_most(sizes::kNodeCount)),
    field(9, "ThreadsPerCore", &NodeConfig::threads_per_core, at_most(sizes::kNodeCount)),
    field(10, "RealMemory", &NodeConfig::real_memory, at_most(sizes::kAmount)),
    field(11, "MemSpecLimit", &NodeConfig::mem_spec_limit, at_most(sizes::kAmount)),
    field(12, "CoreSpecCount", &NodeConfig::core_spec_count, at_most(sizes::kNodeCount)),
    field(13, "CpuSpecList", &NodeConfig::cpu_spec_list, entries_at_most(sizes::kNodeCount)),
    field(14, "TmpDisk", &NodeConfig::tmp_disk, at_most(sizes::kAmount)),
    field(15, "Weight", &NodeConfig::weight),
    field(16, "Features", &NodeConfig::features, entries_at_most(sizes::kNameCount)),
    field(17, "Gres", &NodeConfig::gres, entries_at_most(sizes::kGresCount)),
    field(18, "Gres", &NodeConfig::gres_text, bytes_at_most(sizes::kGenerated)),
    field(19, "RestrictedCoresPerGPU", &NodeConfig::restricted_cores_per_gpu,
          at_most(sizes::kNodeCount)),
    field(20, "Gres", &NodeConfig::gres_no_consume, entries_at_most(sizes::kGresCount)),
    field(21, "State", &NodeConfig::state),
    field(22, "Reason", &NodeConfig::reason, bytes_at_most(sizes::kGenerated)),
    field(23, "Comment", &NodeConfig::comment, bytes_at_most(sizes::kGenerated)),
    field(24, "SuspendTime", &NodeConfig::suspend_time),
    field(25, "origin", &NodeConfig::origin, at_most(NodeOrigin::Future)));

template <>
inline constexpr auto kFields<StoredNode> = fields<StoredNode>(
    field(2, "NodeName", &StoredNode::name), field(3, "State", &StoredNode::admin_flags),
    field(4, "State", &StoredNode::down),
    field(5, "Reason", &StoredNode::reason, bytes_at_most(sizes::kGenerated)),
    field(6, "Reason", &StoredNode::reason_time), field(7, "Reason", &StoredNode::reason_user),
    field(8, "Comment", &StoredNode::comment, bytes_at_most(sizes::kGenerated)),
    field(9, "Weight", &StoredNode::weight),
    field(10, "Features", &StoredNode::features, entries_at_most(sizes::kNameCount)),
    field(11, "Gres", &StoredNode::gres, bytes_at_most(sizes::kGenerated)),
    field(20, "reboot", &StoredNode::reboot), field(21, "power", &StoredNode::power),
    field(22, "ResumeAfter", &StoredNode::resume_after),
    field(23, "NodeAddr", &StoredNode::address), field(24, "NodeHostname", &StoredNode::hostname),
    field(25, "NodeName", &StoredNode::dynamic),
    field(26, "Gres", &StoredNode::devices, entries_at_most(sizes::kNodeCount)),
    field(200, "GresDrain", &StoredNode::drained_gpus));

template <>
inline constexpr auto kFields<NodeChange> = fields<NodeChange>(
    field(1, "State", &NodeChange::state, at_most(NodeCommand::PowerUp)),
    field(2, "Reason", &NodeChange::reason), field(3, "Comment", &NodeChange::comment),
    field(4, "Weight", &NodeChange::weight), field(5, "Features", &NodeChange::features),
    field(6, "Gres", &NodeChange::gres), field(7, "ResumeAfter", &NodeChange::resume_after),
    field(8, "NodeAddr", &NodeChange::address), field(9, "NodeHostname", &NodeChange::hostname),
    field(200, "GresDrain", &NodeChange::gres_drain),
    field(201, "GresResume", &NodeChange::gres_resume));

static_assert(numbers_differ<NodeFacts>() && numbers_differ<StoredNode>());

}  // namespace sluice
