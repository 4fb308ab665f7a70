// model/node_fields.h
//
// The members of a node's report and of its stored part. See fields.h. Number 1 of a StoredNode is
// the schema of its row.
#pragma once

#include "model/fields.h"
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
    field(18, "problem", &NodeFacts::problem, bytes_at_most(sizes::kGenerated)));

template <>
inline constexpr auto kFields<Reboot> = fields<Reboot>(
    field(1, "state after reboot", &Reboot::next, at_most(AfterReboot::Down)),
    field(2, "drained for the reboot", &Reboot::drained),
    field(3, "reason of the reboot", &Reboot::reasoned), field(4, "reboot", &Reboot::issued),
    field(5, "boot id", &Reboot::boot_id), derived(&Reboot::stepped));

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
    field(20, "reboot", &StoredNode::reboot));

template <>
inline constexpr auto kFields<NodeChange> = fields<NodeChange>(
    field(1, "State", &NodeChange::state, at_most(NodeCommand::Undrain)),
    field(2, "Reason", &NodeChange::reason), field(3, "Comment", &NodeChange::comment),
    field(4, "Weight", &NodeChange::weight), field(5, "Features", &NodeChange::features),
    field(6, "Gres", &NodeChange::gres));

static_assert(numbers_differ<NodeFacts>() && numbers_differ<StoredNode>());

}  // namespace sluice
