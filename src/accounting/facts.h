// accounting/facts.h
//
// Facts of a cluster into rows, each exactly once.
#pragma once

#include <string>
#include <vector>

#include "accounting/schema.h"
#include "model/accounted_fields.h"

namespace sluice::accounting {

// Both run inside of a transaction.
Result<std::uint64_t> apply_facts(sql::Database& database, const std::string& cluster,
                                  const std::vector<NumberedFact>& facts);
// Writes the row of one fact; also used for those of an archive.
Result<void> put_fact(sql::Database& database, const std::string& cluster, const Fact& fact);

Result<std::uint64_t> last_applied(sql::Database& database, const std::string& cluster);

// The first moment whose usage is different between two versions of a record; none: it is equal.
// Without an earlier version the whole record is new.
std::optional<Time> first_difference(const AccountedJob* before, const AccountedJob& after);
std::optional<Time> first_difference(const AccountedEvent* before, const AccountedEvent& after);
std::optional<Time> first_difference(const AccountedReservation* before,
                                     const AccountedReservation& after);

}  // namespace sluice::accounting
