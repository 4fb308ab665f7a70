// agent/scratch.h
//
// A private directory of each job on this node's disk (ScratchDir): $SCRATCH and $SLURM_TMPDIR. It
// is made before the prolog and removed after the epilog. Removing its contents may take long, and
// is the work of a thread that slurmd never waits for.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "agent/run_key.h"
#include "base/queue.h"
#include "base/result.h"

namespace sluice {

std::string scratch_path(const std::string& base, const JobKey& job);  // "<base>/12.0"

class Scratch {
public:
    // `before_removal` gets the path of a directory that is going to be removed.
    using BeforeRemoval = std::function<void(const std::string& path)>;
    explicit Scratch(std::string base, BeforeRemoval before_removal = {});
    ~Scratch();  // does not wait for the thread
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    // Nothing to do if it is there.
    Result<void> make(const JobKey& job, uid_t user, gid_t group);
    // Its path is free at once.
    void remove(const JobKey& job);
    // Removes all others: those of jobs that ended while no slurmd was here.
    void keep_only(const std::set<JobKey>& jobs);

private:
    void want_removal();

    std::string base_;
    BeforeRemoval before_removal_;
    std::shared_ptr<Queue<bool>> wanted_;  // also the thread's: something is to be removed
    bool has_thread_ = false;
};

}  // namespace sluice
