// model/trigger_fields.h
//
// The members of triggers. See fields.h. Number 1 of a Trigger is the schema of its row.
#pragma once

#include "model/fields.h"
#include "model/sizes.h"
#include "model/trigger.h"

namespace sluice {

template <>
inline constexpr auto kFields<TriggerRequest> = fields<TriggerRequest>(
    field(1, "event", &TriggerRequest::event, at_most(kLastTriggerEvent)),
    field(2, "jobid", &TriggerRequest::job),
    field(3, "node", &TriggerRequest::nodes, bytes_at_most(sizes::kNodeList)),
    field(4, "offset", &TriggerRequest::offset),
    field(5, "program", &TriggerRequest::program, bytes_at_most(sizes::kPath)),
    field(6, "flags", &TriggerRequest::permanent));

template <>
inline constexpr auto kFields<TriggerChoice> = fields<TriggerChoice>(
    field(1, "id", &TriggerChoice::id), field(2, "jobid", &TriggerChoice::job),
    field(3, "user", &TriggerChoice::user));

template <>
inline constexpr auto kFields<Trigger> =
    fields<Trigger>(field(2, "id", &Trigger::id), field(3, "user", &Trigger::user),
                    field(4, "group", &Trigger::group), field(5, "trigger", &Trigger::wanted),
                    field(6, "due", &Trigger::due),
                    field(7, "nodes", &Trigger::happened_to, entries_at_most(sizes::kNodeCount)));

static_assert(numbers_differ<Trigger>() && numbers_differ<TriggerRequest>());
static_assert(numbers_differ<TriggerChoice>());

}  // namespace sluice
