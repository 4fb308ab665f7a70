// cli/common/host_file.h
//
// Lists of hosts in files, and --distribution=arbitrary, which gives every task its host.
#pragma once

#include <string>

#include "cli/common/tool.h"
#include "surface/job_options.h"

namespace sluice {

// A file that lists hosts, by line or comma: as one list.
Result<std::string> hosts_in(const std::string& file);

// The hosts of the tasks: of SLURM_HOSTFILE, or of --nodelist if the distribution is arbitrary. To
// be called before the sizes of the job are derived from its options.
Result<void> complete_arbitrary(JobOptions& options, const Environment& environment);

}  // namespace sluice
