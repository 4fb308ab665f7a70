// cli/common/allocate.h
//
// Interactive jobs, as srun and salloc make them: asked for, waited for, given back.
#pragma once

#include <functional>

#include "cli/client/client.h"
#include "cli/common/job_setup.h"
#include "cli/common/tool.h"
#include "os/fd.h"

namespace sluice {

// Signals that end a wait: blocked for the process, readable from fd().
class SignalWatch {
public:
    SignalWatch();  // INT TERM HUP QUIT
    int fd() const { return fd_.get(); }
    int take();  // the next one, 0: none

private:
    Fd fd_;
};

struct AllocationTexts {
    std::string_view failed;       // "Unable to allocate resources"
    bool says_pending = false;     // "Pending job allocation N" before the wait
    std::string_view revoked_end;  // how the line "Job allocation N has been revoked" ends
    std::string_view on_signal;    // what follows it; {} is the job id
};

// The allocation, or the exit code if there is none; errors have been printed then.
struct Allocated {
    bool ok = false;
    int exit_code = 1;
    wire::JobAllocation allocation;
};
Allocated allocate_job(JobOptions& options, const AllocationTexts& texts,
                       const Invocation& invocation, Client& client, Streams& streams,
                       SignalWatch& signals);

// The job ends as what ran in it did: COMPLETED or FAILED.
void give_back(std::uint32_t job, const wire::ExitStatus& exit, Client& client);
void cancel_job(std::uint32_t job, Client& client);

}  // namespace sluice
