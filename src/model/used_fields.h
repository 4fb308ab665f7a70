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
    field(8, "reset", &StoredUsage::last_reset), field(9, "import", &StoredUsage::last_import));

template <>
inline constexpr auto kFields<ImportedUsage> = fields<ImportedUsage>(
    field(2, "association", &ImportedUsage::association), field(3, "QOS", &ImportedUsage::qos),
    field(4, "end", &ImportedUsage::ended), field(5, "usage", &ImportedUsage::amounts));

template <>
inline constexpr auto kFields<UsageImport> = fields<UsageImport>(
    field(2, "number", &UsageImport::number), field(3, "usage", &UsageImport::used));

static_assert(numbers_differ<StoredUsage>() && numbers_differ<UsedAmounts>());
static_assert(numbers_differ<ImportedUsage>() && numbers_differ<UsageImport>());

}  // namespace sluice
