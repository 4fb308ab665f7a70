// agent/job_directories.h
//
// The jobs' directories in the spool. Empty ones are kept for the next jobs: to rename one costs a
// tenth of what it takes a file system to make one and to remove it again.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/job_id.h"

namespace sluice {

class JobDirectories {
public:
    static void remove_spare(const std::string& spool);      // that an earlier slurmd had kept
    Result<void> make(const std::string& spool, JobId job);  // nothing to do if it is there
    void remove(const std::string& spool, JobId job);        // with all that is in it

private:
    std::vector<std::string> spare_;  // paths
    std::uint64_t next_ = 0;
};

}  // namespace sluice
