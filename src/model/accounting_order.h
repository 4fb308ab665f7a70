// model/accounting_order.h
//
// What administrators order of the daemon that has the accounting database.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "model/fields.h"

namespace sluice {

// Rows that are older leave the database.
struct PurgeRule {
    enum class What : std::uint8_t {
        Jobs,
        Steps,
        Events,
        Reservations,
        Suspends,
        Transactions,
        Usage
    } what = What::Jobs;
    Seconds older_than{0};
    bool archive = false;  // after a copy was written to a file
    bool operator==(const PurgeRule&) const = default;
};

struct AccountingOrder {
    enum class Kind : std::uint8_t { Ping, Reconfigure, Shutdown, Purge, LoadArchive };
    Kind kind = Kind::Ping;
    std::vector<PurgeRule> rules;  // of Purge
    std::string path;              // the directory of new archives, or the file to load
    bool operator==(const AccountingOrder&) const = default;
};

template <>
inline constexpr auto kFields<PurgeRule> = fields<PurgeRule>(
    field(2, "what", &PurgeRule::what, at_most(PurgeRule::What::Usage)),
    field(3, "older than", &PurgeRule::older_than), field(4, "archive", &PurgeRule::archive));

template <>
inline constexpr auto kFields<AccountingOrder> = fields<AccountingOrder>(
    field(2, "kind", &AccountingOrder::kind, at_most(AccountingOrder::Kind::LoadArchive)),
    field(3, "rules", &AccountingOrder::rules), field(4, "path", &AccountingOrder::path));

}  // namespace sluice
