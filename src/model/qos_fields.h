// model/qos_fields.h
//
// The members of a quality of service. See fields.h. Number 1 is the schema of a row.
#pragma once

#include "model/fields.h"
#include "model/preempt_fields.h"
#include "model/qos.h"
#include "model/sizes.h"

namespace sluice {

template <>
inline constexpr auto kFields<Allotment> = fields<Allotment>(  //
    field(1, "TRES", &Allotment::tres),                        //
    field(2, "jobs", &Allotment::running),                     //
    field(3, "submitted jobs", &Allotment::submitted),         //
    field(4, "TRESMins", &Allotment::minutes),                 //
    field(5, "TRESRunMins", &Allotment::run_minutes),          //
    field(6, "accruing jobs", &Allotment::accruing),           //
    field(7, "GrpWall", &Allotment::wall));

template <>
inline constexpr auto kFields<Qos> = fields<Qos>(            //
    field(2, "id", &Qos::id),                                //
    field(3, "QOS name", &Qos::name),                        //
    field(4, "Description", &Qos::description),              //
    field(5, "Priority", &Qos::priority),                    //
    field(6, "Preempt", &Qos::preempt),                      //
    field(7, "PreemptMode", &Qos::preempt_mode),             //
    field(8, "GraceTime", &Qos::grace_time),                 //
    field(9, "PreemptExemptTime", &Qos::exempt_time),        //
    field(10, "Flags", &Qos::flags, at_most(kQosFlagsAll)),  //
    field(11, "MaxTRES", &Qos::max_per_job),                 //
    field(12, "MaxTRESPerNode", &Qos::max_per_node),         //
    field(13, "MinTRES", &Qos::min_per_job),                 //
    field(14, "MaxWall", &Qos::max_wall),                    //
    field(15, "GrpTRES", &Qos::of_all),                      //
    field(16, "MaxTRESPerUser", &Qos::of_user),              //
    field(17, "MaxTRESPerAccount", &Qos::of_account),        //
    field(18, "MaxTRESMins", &Qos::max_minutes_per_job),     //
    field(19, "MinPrioThreshold", &Qos::min_priority),       //
    field(20, "UsageFactor", &Qos::usage_factor),            //
    field(21, "UsageThreshold", &Qos::usage_threshold),      //
    field(22, "LimitFactor", &Qos::limit_factor),            //
    field(23, "deleted", &Qos::deleted));

template <typename Value>
inline constexpr auto kFields<LimitChange<Value>> =
    fields<LimitChange<Value>>(field(1, "limit", &LimitChange<Value>::value));

template <>
inline constexpr auto kFields<AllotmentChange> = fields<AllotmentChange>(
    field(1, "TRES", &AllotmentChange::tres), field(2, "jobs", &AllotmentChange::running),
    field(3, "submitted jobs", &AllotmentChange::submitted),
    field(4, "TRESMins", &AllotmentChange::minutes),
    field(5, "TRESRunMins", &AllotmentChange::run_minutes),
    field(6, "accruing jobs", &AllotmentChange::accruing),
    field(7, "GrpWall", &AllotmentChange::wall));

template <>
inline constexpr auto kFields<QosChange> = fields<QosChange>(
    field(1, "Description", &QosChange::description), field(2, "Priority", &QosChange::priority),
    field(3, "Preempt", &QosChange::preempt_replaced),
    field(4, "Preempt", &QosChange::preempt_added),
    field(5, "Preempt", &QosChange::preempt_removed),
    field(6, "PreemptMode", &QosChange::preempt_mode),
    field(7, "GraceTime", &QosChange::grace_time),
    field(8, "PreemptExemptTime", &QosChange::exempt_time),
    field(9, "Flags", &QosChange::flags_replaced),
    field(10, "Flags", &QosChange::flags_set, at_most(kQosFlagsAll)),
    field(11, "Flags", &QosChange::flags_cleared, at_most(kQosFlagsAll)),
    field(12, "MaxTRES", &QosChange::max_per_job),
    field(13, "MaxTRESPerNode", &QosChange::max_per_node),
    field(14, "MinTRES", &QosChange::min_per_job), field(15, "MaxWall", &QosChange::max_wall),
    field(16, "GrpTRES", &QosChange::of_all), field(17, "MaxTRESPerUser", &QosChange::of_user),
    field(18, "MaxTRESPerAccount", &QosChange::of_account),
    field(19, "MaxTRESMins", &QosChange::max_minutes_per_job),
    field(20, "MinPrioThreshold", &QosChange::min_priority),
    field(21, "UsageFactor", &QosChange::usage_factor),
    field(22, "UsageThreshold", &QosChange::usage_threshold),
    field(23, "LimitFactor", &QosChange::limit_factor));

static_assert(numbers_differ<Qos>() && numbers_differ<Allotment>());

}  // namespace sluice
