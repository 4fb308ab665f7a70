// policy/change_fields.h
//
// The members of a change of policy. See model/fields.h.
#pragma once

#include "model/policy_fields.h"
#include "policy/change.h"

namespace sluice {

template <>
inline constexpr auto kFields<AssociationChange> =
    fields<AssociationChange>(field(1, "Fairshare", &AssociationChange::shares),
                              field(2, "Priority", &AssociationChange::priority),
                              field(3, "DefaultQOS", &AssociationChange::default_qos),
                              field(4, "QOS", &AssociationChange::qos_replaced),
                              field(5, "QOS", &AssociationChange::qos_added),
                              field(6, "QOS", &AssociationChange::qos_removed),
                              field(7, "MaxTRES", &AssociationChange::max_per_job),
                              field(8, "MaxTRESPerNode", &AssociationChange::max_per_node),
                              field(9, "MaxTRESMins", &AssociationChange::max_minutes_per_job),
                              field(10, "MaxWall", &AssociationChange::max_wall),
                              field(11, "MinPrioThreshold", &AssociationChange::min_priority),
                              field(12, "GrpTRES", &AssociationChange::of_all),
                              field(13, "MaxJobs", &AssociationChange::of_each),
                              field(14, "Comment", &AssociationChange::comment));

template <>
inline constexpr auto kFields<RecordChange> = fields<RecordChange>(
    field(1, "Description", &RecordChange::description),
    field(2, "Organization", &RecordChange::organization),
    field(3, "Parent", &RecordChange::parent),
    field(4, "DefaultAccount", &RecordChange::default_account),
    field(5, "DefaultWCKey", &RecordChange::default_wckey),
    field(6, "NewName", &RecordChange::new_name),
    field(7, "AdminLevel", &RecordChange::admin_level, at_most(AdminLevel::Administrator)),
    field(8, "Classification", &RecordChange::classification));

template <>
inline constexpr auto kFields<ResourceChange> =
    fields<ResourceChange>(field(1, "Count", &ResourceChange::count, at_most(sizes::kAmount)),
                           field(2, "Description", &ResourceChange::description),
                           field(3, "Manager", &ResourceChange::manager),
                           field(4, "ServerType", &ResourceChange::server_type),
                           field(5, "Allowed", &ResourceChange::allowed, at_most(sizes::kAmount)),
                           field(6, "Allowed", &ResourceChange::is_absolute));

template <>
inline constexpr auto kFields<PolicyStep> = fields<PolicyStep>(
    field(2, "verb", &PolicyStep::verb, at_most(PolicyVerb::Delete)),
    field(3, "entity", &PolicyStep::entity, at_most(PolicyEntity::Resource)),
    field(4, "Names", &PolicyStep::names), field(5, "Clusters", &PolicyStep::clusters),
    field(6, "Accounts", &PolicyStep::accounts), field(7, "Partitions", &PolicyStep::partitions),
    field(8, "WCKeys", &PolicyStep::wckeys), field(9, "Parents", &PolicyStep::parents),
    field(10, "DefaultAccounts", &PolicyStep::default_accounts),
    field(11, "Descriptions", &PolicyStep::descriptions),
    field(12, "Organizations", &PolicyStep::organizations),
    field(13, "Servers", &PolicyStep::servers), field(14, "record", &PolicyStep::record),
    field(15, "limits", &PolicyStep::limits), field(16, "QOS", &PolicyStep::qos),
    field(17, "resource", &PolicyStep::resource));

template <>
inline constexpr auto kFields<PolicyChange> =
    fields<PolicyChange>(field(2, "steps", &PolicyChange::steps, kPolicyRows));

static_assert(numbers_differ<PolicyStep>() && numbers_differ<AssociationChange>());

}  // namespace sluice
