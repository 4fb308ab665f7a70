// model/preempt_fields.h
//
// The members of a preemption mode. See fields.h.
#pragma once

#include "model/fields.h"
#include "model/preempt.h"

namespace sluice {

template <>
inline constexpr auto kFields<PreemptWords> = fields<PreemptWords>(
    field(1, "PreemptMode", &PreemptWords::mode, at_most(PreemptMode::Suspend)),
    field(2, "PreemptMode", &PreemptWords::gang), field(3, "PreemptMode", &PreemptWords::within),
    field(4, "PreemptMode", &PreemptWords::only_lower_priority));

}  // namespace sluice
