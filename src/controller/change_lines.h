// controller/change_lines.h
//
// Log lines about jobs and nodes, at level info: docs/admin-guide.md lists them.
#pragma once

#include <string>
#include <vector>

#include "core/cluster.h"

namespace sluice {

// What a batch changed. Compat: the words after Slurm's function names, which log readers search
// for.
std::vector<std::string> change_lines(const Snapshot& before, const Snapshot& after,
                                      const ChangedRecords& changes);

}  // namespace sluice
