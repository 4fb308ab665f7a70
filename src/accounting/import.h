// accounting/import.h
//
// Runs that another cluster manager has recorded (sluice import history), into rows. What they used
// is kept as numbered parts, which slurmctld adds to the usage of fair share, each once.
#pragma once

#include <string>
#include <vector>

#include "accounting/schema.h"
#include "model/accounting_order.h"
#include "model/used.h"

namespace sluice::accounting {

// Inside of a transaction. A run that the database has (same job, submission, start and end) is
// skipped; one whose place another run has is reported.
Result<ImportOutcome> import_runs(sql::Database& database, const std::string& cluster,
                                  const std::vector<AccountedRun>& runs, bool only_check);

// Some of those with a higher number, the lowest first.
Result<std::vector<UsageImport>> imports_after(sql::Database& database, const std::string& cluster,
                                               std::uint64_t number);

}  // namespace sluice::accounting
