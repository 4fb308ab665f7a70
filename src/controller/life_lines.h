// controller/life_lines.h
//
// What the log says of the lives of jobs and nodes, at level info: docs/admin-guide.md lists the
// lines.
#pragma once

#include <string>
#include <vector>

#include "core/cluster.h"

namespace sluice {

// What a batch changed in what was so before it. Compat: the words after Slurm's function names,
// which log readers look for.
std::vector<std::string> life_lines(const Snapshot& before, const Snapshot& after,
                                    const ChangedRecords& changes);

}  // namespace sluice
