// core/query/listing.h
//
// Answers to squeue, sinfo and scontrol show, from a snapshot: the rows that match the filter, the
// columns that were asked for. Runs in reader threads.
#pragma once

#include <vector>

#include "core/cluster.h"
#include "core/query/viewer.h"
#include "model/columns.h"
#include "model/filter.h"
#include "model/table.h"

namespace sluice {

// Unknown column ids are an error that names them. A single job id that does not exist is an error
// too (InvalidJobId); in a list it is skipped, as in Slurm. What PrivateData hides from the viewer
// is treated as if it did not exist.
Result<Table> list_rows(const Snapshot& snapshot, TableKind kind,
                        const std::vector<ColumnId>& columns, const Filter& filter,
                        const Viewer& viewer);

// The memory in force, per CPU or per node: as requested, else the default of its partition or of
// the cluster.
std::optional<Megabytes> memory_in_force(const Job& job, const Snapshot& snapshot, bool per_cpu);

}  // namespace sluice
