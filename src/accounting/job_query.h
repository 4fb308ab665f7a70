// accounting/job_query.h
//
// sacct's question to the database.
#pragma once

#include <functional>

#include "accounting/schema.h"
#include "model/accounted_fields.h"

namespace sluice::accounting {

// Calls each(run) in the order of clusters, jobs and runs.
Result<void> find_jobs(sql::Database& database, const JobSelection& selection, Time now,
                       const std::function<Result<void>(AccountedRun)>& each);

Result<std::vector<std::string>> known_clusters(sql::Database& database);

}  // namespace sluice::accounting
