// model/reservation_fields.h
//
// The members of reservations and of changes to them. See fields.h. Number 1 of a Reservation is
// the schema of its row.
#pragma once

#include "model/fields.h"
#include "model/job_fields.h"
#include "model/reservation.h"
#include "model/sizes.h"

namespace sluice {

template <>
inline constexpr auto kFields<GroupMembers> = fields<GroupMembers>(
    field(1, "Groups", &GroupMembers::name),
    field(2, "members of a group", &GroupMembers::users, entries_at_most(sizes::kNodeCount)));

template <>
inline constexpr auto kFields<NodeCores> =
    fields<NodeCores>(field(1, "Nodes", &NodeCores::node), field(2, "CoreCnt", &NodeCores::cores));

template <>
inline constexpr auto kFields<Reservation> = fields<Reservation>(
    field(2, "number", &Reservation::number), field(3, "ReservationName", &Reservation::name),
    field(4, "StartTime", &Reservation::start), field(5, "EndTime", &Reservation::end),
    field(6, "Flags", &Reservation::flags, at_most(kResvFlagsAll)),
    field(7, "PURGE_COMP", &Reservation::purge_after),
    // Written by the controller; its size depends on the cluster.
    field(8, "Nodes", &Reservation::node_names, bytes_at_most(sizes::kFrame)),
    derived(&Reservation::nodes), field(9, "PartitionName", &Reservation::partition),
    field(10, "Features", &Reservation::features, bytes_at_most(sizes::kFeatures)),
    field(11, "Users", &Reservation::users), field(12, "Users", &Reservation::users_denied),
    field(13, "Accounts", &Reservation::accounts),
    field(14, "Accounts", &Reservation::accounts_denied),
    field(15, "last use", &Reservation::last_used),
    field(20, "Groups", &Reservation::groups, entries_at_most(sizes::kGroupCount)),
    field(21, "Licenses", &Reservation::licenses),
    field(22, "CoreCnt", &Reservation::cores, entries_at_most(sizes::kNodeCount)),
    field(23, "TRES", &Reservation::gres, entries_at_most(sizes::kGresCount)),
    field(24, "time ahead", &Reservation::ahead),
    field(30, "MaxStartDelay", &Reservation::max_start_delay),
    field(31, "Comment", &Reservation::comment), field(32, "QOS", &Reservation::qos),
    field(33, "QOS", &Reservation::qos_denied),
    field(34, "AllowedPartitions", &Reservation::allowed_partitions),
    field(35, "AllowedPartitions", &Reservation::partitions_denied));

// There may be more nodes than other names: see validate().
template <typename Item>
inline constexpr auto kFields<ListChange<Item>> = fields<ListChange<Item>>(
    field(1, "list", &ListChange<Item>::verb, at_most(ListChange<Item>::Verb::Remove)),
    field(2, "list", &ListChange<Item>::items, entries_at_most(sizes::kListedNodeCount)),
    field(3, "list", &ListChange<Item>::denied));

template <>
inline constexpr auto kFields<ReservationChange> = fields<ReservationChange>(
    field(1, "verb", &ReservationChange::verb, at_most(ReservationChange::Verb::Delete)),
    field(2, "ReservationName", &ReservationChange::name),
    field(3, "ReservationName", &ReservationChange::name_base),
    field(4, "StartTime", &ReservationChange::start), field(5, "EndTime", &ReservationChange::end),
    field(6, "Duration", &ReservationChange::duration),
    field(7, "Duration", &ReservationChange::duration_sign, at_most(1)),
    field(8, "Nodes", &ReservationChange::nodes),
    field(9, "NodeCnt", &ReservationChange::node_count, at_most(sizes::kCount)),
    field(10, "PartitionName", &ReservationChange::partition),
    field(11, "Features", &ReservationChange::features, bytes_at_most(sizes::kFeatures)),
    field(12, "Users", &ReservationChange::users),
    field(13, "Accounts", &ReservationChange::accounts),
    field(14, "Groups", &ReservationChange::groups),
    field(15, "Licenses", &ReservationChange::licenses),
    field(16, "CoreCnt", &ReservationChange::core_counts,
          FieldLimits{.most = sizes::kCount, .entries = sizes::kListedNodeCount}),
    field(17, "TRES", &ReservationChange::gres, entries_at_most(sizes::kGresCount)),
    field(18, "Flags", &ReservationChange::flags_replaced),
    field(19, "Flags", &ReservationChange::flags_set, at_most(kResvFlagsAll)),
    field(20, "Flags", &ReservationChange::flags_cleared, at_most(kResvFlagsAll)),
    field(21, "PURGE_COMP", &ReservationChange::purge_after),
    field(22, "PURGE_COMP", &ReservationChange::purge_cleared),
    field(23, "Skip", &ReservationChange::skip),
    field(24, "MaxStartDelay", &ReservationChange::max_start_delay),
    field(25, "MaxStartDelay", &ReservationChange::start_delay_cleared),
    field(26, "Comment", &ReservationChange::comment), field(27, "QOS", &ReservationChange::qos),
    field(28, "AllowedPartitions", &ReservationChange::allowed_partitions));

static_assert(numbers_differ<Reservation>() && numbers_differ<ReservationChange>());

}  // namespace sluice
