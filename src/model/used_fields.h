// model/used_fields.h
//
// The members of a row of usage. See fields.h. Number 1 of a stored record is the schema of its
// row.
#pragma once

#include "model/fields.h"
#include "model/sizes.h"
#include "model/used.h"

namespace sluice {

template <>
inline constexpr auto kFields<UsedAmounts> =
    fields<UsedAmounts>(field(1, "TRES", &UsedAmounts::tres_seconds),
                        field(2, "wall time", &UsedAmounts::wall_seconds));

template <>
inline constexpr auto kFields<StoredUsage> = fields<StoredUsage>(
    field(2, "kind", &StoredUsage::of, at_most(UsageOf::Qos)), field(3, "id", &StoredUsage::id),
    field(4, "usage", &StoredUsage::amounts), field(5, "time", &StoredUsage::as_of),
    field(6, "decays", &StoredUsage::decays), field(7, "half-life", &StoredUsage::half_life),
    field(8, "reset", &StoredUsage::last_reset));

static_assert(numbers_differ<StoredUsage>() && numbers_differ<UsedAmounts>());

}  // namespace sluice
