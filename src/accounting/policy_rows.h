// accounting/policy_rows.h
//
// The policy as rows: one for each record, so that a change writes little.
#pragma once

#include <vector>

#include "accounting/schema.h"
#include "model/accounting_question.h"
#include "model/policy_fields.h"

namespace sluice::accounting {

// QOS, associations, wckeys, licenses, clusters and TRES are in the order of their ids, except that
// a parent comes before its children; accounts and users by name.
Result<Policy> load_policy(sql::Database& database);
// Inside of a transaction. See Accounting::set_policy.
Result<void> save_policy(sql::Database& database, const Policy& policy, std::uint64_t based_on,
                         const std::vector<Transaction>& why);
Result<std::vector<Transaction>> load_transactions(sql::Database& database,
                                                   std::optional<Time> start,
                                                   std::optional<Time> end);
Result<void> put_transaction(sql::Database& database, const Transaction& transaction);

}  // namespace sluice::accounting
