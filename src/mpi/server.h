// mpi/server.h
//
// The PMIx server of one step on one node. The library calls us on a thread of its own when tasks
// fence, ask for another task's data or abort; answers come from the other nodes by slurmstepd.
#pragma once

#include <pmix.h>
#include <pmix_server.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "mpi/line.h"
#include "mpi/step_layout.h"

namespace sluice {

class PmixServer {
public:
    PmixServer(Line& line, StepLayout layout, std::string directory);

    // Once per process. The variables of each local task.
    Result<wire::PmixReady> start();
    void on_input(const wire::StepInput& input);

    // Called by the library.
    void fence(const pmix_proc_t* tasks, std::size_t count, std::string data,
               pmix_modex_cbfunc_t done, void* argument);
    pmix_status_t ask(const pmix_proc_t& task, pmix_modex_cbfunc_t done, void* argument);
    void abort(const pmix_proc_t& task, int status, const char* message);
    void finalized(const pmix_proc_t& task);
    void lost(const pmix_proc_t& task);

private:
    struct Waiting {
        pmix_modex_cbfunc_t done = nullptr;
        void* argument = nullptr;
        std::string data;  // what has come so far
    };
    bool is_ours(const pmix_proc_t& task) const;
    pmix_proc_t process(std::uint32_t task) const;
    Result<void> start_library();
    Result<void> describe_step();
    void on_exchanged(const wire::Exchanged& result);
    void on_parcel(const wire::Parcel& parcel);
    void answer(const wire::Parcel& question);

    Line& line_;
    const StepLayout layout_;
    const std::string directory_;
    std::mutex mutex_;                             // for all that follows
    std::map<std::string, std::uint64_t> fences_;  // how many there were, by name
    std::map<std::string, Waiting> fencing_;       // by key
    std::map<std::uint64_t, Waiting> asking_;      // by number
    std::uint64_t questions_ = 0;
    std::set<std::uint32_t> finalized_;
};

}  // namespace sluice
