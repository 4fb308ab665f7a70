// model/policy_fields.h
//
// The members of the records of accounting's policy. See fields.h. Number 1 is the schema of a row.
#pragma once

#include "model/policy.h"
#include "model/qos_fields.h"

namespace sluice {

constexpr FieldLimits kPolicyRows = entries_at_most(sizes::kPolicyCount);

template <>
inline constexpr auto kFields<Account> = fields<Account>(
    field(2, "account", &Account::name), field(3, "Description", &Account::description),
    field(4, "Organization", &Account::organization),
    field(5, "Coordinators", &Account::coordinators), field(6, "Flags", &Account::flags),
    field(7, "created", &Account::created), field(8, "modified", &Account::modified),
    field(9, "deleted", &Account::deleted));

template <>
inline constexpr auto kFields<PolicyUser> = fields<PolicyUser>(
    field(2, "user", &PolicyUser::name), field(3, "uid", &PolicyUser::uid),
    field(4, "AdminLevel", &PolicyUser::admin_level, at_most(AdminLevel::Administrator)),
    field(5, "created", &PolicyUser::created), field(6, "modified", &PolicyUser::modified),
    field(7, "deleted", &PolicyUser::deleted));

template <>
inline constexpr auto kFields<Association> = fields<Association>(
    field(2, "id", &Association::id), field(3, "parent", &Association::parent),
    field(4, "cluster", &Association::cluster), field(5, "account", &Association::account),
    field(6, "user", &Association::user), field(7, "partition", &Association::partition),
    field(8, "uid", &Association::uid), field(9, "Fairshare", &Association::shares),
    field(10, "Priority", &Association::priority),
    field(11, "default account", &Association::is_default),
    field(12, "DefaultQOS", &Association::default_qos), field(13, "QOS", &Association::qos),
    field(14, "MaxTRES", &Association::max_per_job),
    field(15, "MaxTRESPerNode", &Association::max_per_node),
    field(16, "MaxTRESMins", &Association::max_minutes_per_job),
    field(17, "MaxWall", &Association::max_wall),
    field(18, "MinPrioThreshold", &Association::min_priority),
    field(19, "GrpTRES", &Association::of_all), field(20, "MaxJobs", &Association::of_each),
    field(21, "Comment", &Association::comment), field(22, "Flags", &Association::flags),
    field(23, "created", &Association::created), field(24, "modified", &Association::modified),
    field(25, "deleted", &Association::deleted));

template <>
inline constexpr auto kFields<Wckey> = fields<Wckey>(field(2, "id", &Wckey::id),
                                                     field(3, "wckey", &Wckey::name),
                                                     field(4, "cluster", &Wckey::cluster),
                                                     field(5, "user", &Wckey::user),
                                                     field(6, "uid", &Wckey::uid),
                                                     field(7, "default wckey", &Wckey::is_default),
                                                     field(8, "deleted", &Wckey::deleted));

template <>
inline constexpr auto kFields<SharedLicense::Share> =
    fields<SharedLicense::Share>(field(2, "cluster", &SharedLicense::Share::cluster),
                                 field(3, "Allowed", &SharedLicense::Share::allowed));

template <>
inline constexpr auto kFields<SharedLicense> = fields<SharedLicense>(
    field(2, "id", &SharedLicense::id), field(3, "resource", &SharedLicense::name),
    field(4, "Server", &SharedLicense::server), field(5, "ServerType", &SharedLicense::server_type),
    field(6, "Manager", &SharedLicense::manager),
    field(7, "Description", &SharedLicense::description), field(8, "Count", &SharedLicense::count),
    field(9, "Flags", &SharedLicense::flags),
    field(10, "LastConsumed", &SharedLicense::last_consumed_update),
    field(11, "LastConsumed", &SharedLicense::last_consumed),
    field(12, "Cluster", &SharedLicense::shares));

template <>
inline constexpr auto kFields<ClusterRecord> = fields<ClusterRecord>(
    field(2, "id", &ClusterRecord::id), field(3, "cluster", &ClusterRecord::name),
    field(4, "ControlHost", &ClusterRecord::control_host),
    field(5, "ControlPort", &ClusterRecord::control_port),
    field(12, "PreemptMode", &ClusterRecord::has_gang),
    field(6, "RPC", &ClusterRecord::rpc_version),
    field(7, "Classification", &ClusterRecord::classification),
    field(8, "Flags", &ClusterRecord::flags), field(9, "created", &ClusterRecord::created),
    field(10, "modified", &ClusterRecord::modified), field(11, "deleted", &ClusterRecord::deleted));

template <>
inline constexpr auto kFields<TresKind> = fields<TresKind>(field(2, "id", &TresKind::id),
                                                           field(3, "TRES", &TresKind::name));

template <>
inline constexpr auto kFields<Policy> = fields<Policy>(
    field(2, "version", &Policy::version), field(3, "QOS", &Policy::qos, kPolicyRows),
    field(4, "accounts", &Policy::accounts, kPolicyRows),
    field(5, "users", &Policy::users, kPolicyRows),
    field(6, "associations", &Policy::associations, kPolicyRows),
    field(7, "wckeys", &Policy::wckeys, kPolicyRows),
    field(8, "resources", &Policy::licenses, kPolicyRows),
    field(9, "clusters", &Policy::clusters, kPolicyRows),
    field(10, "TRES", &Policy::tres, kPolicyRows), field(11, "next id", &Policy::next_id));

static_assert(numbers_differ<Account>() && numbers_differ<PolicyUser>() &&
              numbers_differ<Association>());
static_assert(numbers_differ<Wckey>() && numbers_differ<SharedLicense>() &&
              numbers_differ<Policy>());

}  // namespace sluice
