// agent/private_dirs.h
//
// JobContainerType=job_container/tmpfs: /tmp and /dev/shm of a job are its own. They are
// directories below BasePath, made before the prolog and removed after the epilog; each slurmstepd
// of the job shows them to its tasks in a mount namespace.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "agent/scratch.h"
#include "agent/site.h"
#include "order.pb.h"
#include "os/private_directories.h"

namespace sluice {

// What the steps of a job see instead of the directories of the node; none without
// job_container.conf.
std::vector<PrivateDirectory> private_directories(const Site& site, const JobKey& job);
// As words for stepd/enter.h.
void add_directories(std::vector<std::string>& argv,
                     const std::vector<PrivateDirectory>& directories, bool shared);

class PrivateDirs {
public:
    explicit PrivateDirs(const Site& site);

    Result<void> make(const Site& site, const JobKey& job);
    void describe(const Site& site, const JobKey& job, wire::StepOrder& order) const;
    void remove(const JobKey& job);
    void keep_only(const std::set<JobKey>& jobs);

private:
    std::string base_;
    Scratch jobs_;
};

}  // namespace sluice
