// stepd/pmi.h
//
// How the tasks of a step find each other when they start (srun --mpi). What they tell each other
// goes from node to node by way of srun.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "order.pb.h"
#include "os/process.h"
#include "stepd/environment.h"

namespace sluice {

class Pmi {
public:
    struct Handlers {
        std::function<void(const wire::StepOutput&)> send;  // to srun
        std::function<void(Result<void>)> on_ready;         // tasks may start, or why they cannot
        std::function<void(const std::string&)> say;        // a line for srun's stderr
    };

    virtual ~Pmi() = default;
    virtual Result<void> start() = 0;  // Handlers::on_ready tells the end of it
    // What the task of that local number needs. `spec` is used at once.
    virtual Result<void> add_task(std::size_t local, Environment& environment,
                                  ProcessSpec& spec) = 0;
    virtual void task_started(std::size_t) {}
    virtual Result<void> on_input(const wire::StepInput& input) = 0;  // an Exchanged or a Parcel
    virtual bool on_exit(pid_t) { return false; }  // true: it was a helper of ours
    // Why the task of that local number may have failed; empty: not because of us.
    virtual std::string hint(std::size_t) const { return {}; }
    virtual void read_more(bool) {}                // false: srun has enough to read
    virtual void finish() = 0;                     // the last task has ended
    virtual bool is_gone() const { return true; }  // nothing of ours runs any more
};

}  // namespace sluice
