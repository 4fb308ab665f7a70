// stepd/task_hooks.h
//
// The programs around a task: TaskProlog and TaskEpilog of slurm.conf, --task-prolog and
// --task-epilog of srun. They run as the user, where the task runs. Prologs run in the process that
// becomes the task, and so can take any time: the supervisor does not wait for them, and they end
// with the task.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "order.pb.h"
#include "os/event_loop.h"
#include "os/fd.h"
#include "os/process.h"
#include "stepd/environment.h"
#include "stepd/oci_task.h"

namespace sluice {

// How long an epilog may take where nothing else ends it.
constexpr std::chrono::seconds kEpilogTime{5};

bool has_epilogs(const wire::StepOrder& order);

// Makes the program of `spec` begin with its prologs. One that fails takes the task's place: it is
// named on the task's standard error, and its exit code is the task's.
void add_prologs(ProcessSpec& spec, const wire::StepOrder& order);

// What a prolog printed: "export NAME=value" and "unset NAME" change the environment, and what
// follows "print" is returned. All other lines mean nothing.
std::string apply_prolog_output(Environment& environment, std::string_view output);

struct TaskHook {
    std::string name;  // "TaskEpilog"
    std::string program;
    std::function<void(int wait_status)> action;  // instead of a program: runs in the new process
};

// What runs after one task, one after the other, and began as the task did: nothing that its
// prologs changed is known to them.
class TaskEpilogs {
public:
    // Errors are reported with `say`, not through the pipes of the task: these may be full, and the
    // process that runs the epilogs is the one that reads them.
    TaskEpilogs(EventLoop& loop, const wire::StepOrder& order, const ProcessSpec& task,
                std::function<void(const std::string& line)> say);
    ~TaskEpilogs() { loop_.cancel(limit_); }

    void begin_with(std::shared_ptr<const OciTask> container);  // removes it before all others
    void set_error(int fd);  // the task's standard error, where the task opened it itself

    // The task, or the epilog that followed it, has ended: the next one's process; none: that was
    // the last.
    std::optional<pid_t> next(int wait_status);
    bool begun() const { return started_ > 0; }

private:
    std::optional<pid_t> start(const TaskHook& epilog);

    EventLoop& loop_;
    std::function<void(const std::string&)> say_;
    std::vector<TaskHook> epilogs_;
    ProcessSpec spec_;
    Fd err_;  // the task's, for as long as one of them may speak
    std::size_t started_ = 0;
    int task_status_ = 0;  // how the task ended
    EventLoop::TimerId limit_ = 0;
};

}  // namespace sluice
