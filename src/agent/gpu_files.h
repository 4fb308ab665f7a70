// agent/gpu_files.h
//
// Files that other programs read to learn which job has a GPU: those of jobstats ("JOBID UID" in
// GpuStatDir, named by number and by UUID) and of NVIDIA's DCGM exporter (a job id a line in
// GpuJobMappingDir, named by number).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/gpu_book.h"

namespace sluice {

class GpuFiles {
public:
    // Removes all such files that are there; called with other directories when they change.
    void open(const std::string& stat_directory, const std::string& mapping_directory);
    // Writes what has changed. `names`: of parts of GPUs, by UUID.
    void update(const GpuBook& book, const std::vector<GpuHere>& gpus,
                const std::map<std::string, std::string>& names);

private:
    using Files = std::map<std::string, std::string>;  // content by path
    Files wanted(const GpuBook& book, const std::vector<GpuHere>& gpus,
                 const std::map<std::string, std::string>& names) const;

    std::string stat_, mapping_;
    bool is_open_ = false;
    Files written_;
};

}  // namespace sluice
