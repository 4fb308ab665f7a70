// stepd/work.h
//
// What a supervisor looks after: a batch script, or the tasks of a step.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "order.pb.h"
#include "stepd/sampler.h"

namespace sluice {

class Work {
public:
    // The start has failed, with the reason: files could not be opened.
    using OnFailed = std::function<void(const Error&)>;

    virtual ~Work() = default;

    // Waits for nothing that belongs to the user. `preface` comes before all else on the stderr of
    // the script or of the first task.
    virtual Result<void> start(const std::string& preface) = 0;
    virtual void start_no_more() {}                             // it is being ended
    virtual void on_exit(pid_t pid, int wait_status) = 0;       // of any child, ours or adopted
    virtual std::vector<TaskProcess> processes() const = 0;     // of tasks that run
    virtual bool finished() const = 0;                          // the rest may be killed
    virtual wire::ExitStatus exit() const = 0;                  // the worst
    virtual void say(const std::string& line) = 0;              // to the job's stderr
    virtual void announce(const std::string& reason_line) = 0;  // the controller ends it
    virtual void signal(const wire::SignalJob& order) = 0;
    // Everything is dead: send out what is left. True once all of it has gone.
    virtual void wind_up(const wire::StepEnd& end) = 0;
    virtual bool wound_up() = 0;
};

wire::ExitStatus exit_status(int wait_status);
void set_out_of_memory(wire::ExitStatus& exit);  // Compat: shown as "0:125"

}  // namespace sluice
