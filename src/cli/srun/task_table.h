// cli/srun/task_table.h
//
// The state of each task of the step, the lines for the user about it, and srun's exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire.pb.h"

namespace sluice {

class TaskTable {
public:
    explicit TaskTable(std::uint32_t tasks) : tasks_(tasks) {}

    void on_started(std::uint32_t task);
    void on_exited(std::uint32_t task, const wire::ExitStatus& exit);

    bool any_exited() const { return exited_ > 0; }
    bool all_exited() const { return exited_ == tasks_.size(); }
    bool any_killed() const { return killed_; }  // by TERM or KILL
    // The highest code of the tasks; 128 + n for one that a signal n ended.
    int exit_code() const;
    // The same as code and signal.
    const wire::ExitStatus& worst() const { return worst_; }
    // "StepId=5.0 tasks 0-1: running": one line per state there is.
    std::vector<std::string> states(const std::string& step_id) const;

private:
    enum class State : std::uint8_t { Waiting, Running, Exited };
    struct Task {
        State state = State::Waiting;
        int code = 0;
    };
    std::vector<Task> tasks_;
    std::size_t exited_ = 0;
    bool killed_ = false;
    wire::ExitStatus worst_;
};

bool is_failure(const wire::ExitStatus& exit);

// What srun exits with if a task aborts the step with this code, which is never a success.
int code_of_abort(std::int32_t code);

// Ends of tasks on one node as lines: "n1: tasks 0-2: Exited with exit code 7".
struct TaskEnd {
    std::uint32_t task = 0;
    wire::ExitStatus exit;
};
std::vector<std::string> exit_lines(const std::string& node, const std::vector<TaskEnd>& ends);

// "task 3", "tasks 0-2,5".
std::string name_tasks(const std::vector<std::uint32_t>& tasks);
// "3", "[0-2,5]".
std::string bracketed_tasks(const std::vector<std::uint32_t>& tasks);

}  // namespace sluice
