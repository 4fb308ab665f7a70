#include "cli/srun/task_table.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <map>

namespace sluice {

namespace {

int code_of(const wire::ExitStatus& exit) {
    return exit.signal() ? 128 + static_cast<int>(exit.signal()) : static_cast<int>(exit.code());
}

}  // namespace

void TaskTable::on_started(std::uint32_t task) {
    if (task < tasks_.size() && tasks_[task].state == State::Waiting) {
        tasks_[task].state = State::Running;
    }
}

void TaskTable::on_exited(std::uint32_t task, const wire::ExitStatus& exit) {
    if (task >= tasks_.size() || tasks_[task].state == State::Exited) return;
    int code = code_of(exit);
    bool oom_killed = worst_.oom_killed() || exit.oom_killed();
    if (code > code_of(worst_)) worst_ = exit;
    worst_.set_oom_killed(oom_killed);
    killed_ = killed_ || exit.signal() == SIGTERM || exit.signal() == SIGKILL;
    tasks_[task] = {State::Exited, code};
    ++exited_;
}

int TaskTable::exit_code() const {
    int highest = 0;
    for (const Task& task : tasks_) highest = std::max(highest, task.code);
    return std::min(highest, 255);
}

std::vector<std::string> TaskTable::states(const std::string& step_id) const {
    struct Word {
        State state;
        std::string_view text;
    };
    constexpr Word kWords[] = {
        {State::Waiting, "unknown"}, {State::Running, "running"}, {State::Exited, "exited"}};
    std::vector<std::string> lines;
    for (const Word& word : kWords) {
        std::vector<std::uint32_t> tasks;
        for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
            if (tasks_[i].state == word.state) tasks.push_back(i);
        }
        if (tasks.empty()) continue;
        lines.push_back(fmt::format("StepId={} {}: {}", step_id, name_tasks(tasks), word.text));
    }
    return lines;
}

bool is_failure(const wire::ExitStatus& exit) {
    return exit.code() != 0 || exit.signal() != 0 || exit.oom_killed();
}

int code_of_abort(std::int32_t code) {
    const int low = code & 0xff;  // all that an exit code can hold
    return low == 0 ? 1 : low;
}

namespace {

// "0-2,5".
std::string fold_tasks(const std::vector<std::uint32_t>& tasks) {
    std::vector<std::uint32_t> sorted = tasks;
    std::sort(sorted.begin(), sorted.end());
    std::string text;
    for (std::size_t i = 0; i < sorted.size();) {
        std::size_t end = i;
        while (end + 1 < sorted.size() && sorted[end + 1] == sorted[end] + 1) ++end;
        if (!text.empty()) text += ',';
        text +=
            end == i ? fmt::format("{}", sorted[i]) : fmt::format("{}-{}", sorted[i], sorted[end]);
        i = end + 1;
    }
    return text;
}

}  // namespace

std::string name_tasks(const std::vector<std::uint32_t>& tasks) {
    return fmt::format("{} {}", tasks.size() == 1 ? "task" : "tasks", fold_tasks(tasks));
}

std::string bracketed_tasks(const std::vector<std::uint32_t>& tasks) {
    const std::string text = fold_tasks(tasks);
    return tasks.size() == 1 ? text : fmt::format("[{}]", text);
}

std::vector<std::string> exit_lines(const std::string& node, const std::vector<TaskEnd>& ends) {
    std::map<std::string, std::vector<std::uint32_t>> by_words;
    for (const TaskEnd& end : ends) {
        if (!is_failure(end.exit)) continue;
        std::string words = fmt::format("Exited with exit code {}", end.exit.code());
        if (end.exit.oom_killed()) {
            words = "Out Of Memory";
        } else if (end.exit.signal() != 0) {
            words = strsignal(static_cast<int>(end.exit.signal()));
        }
        by_words[words].push_back(end.task);
    }
    std::vector<std::string> lines;
    for (const auto& [words, tasks] : by_words) {
        lines.push_back(fmt::format("{}: {}: {}", node, name_tasks(tasks), words));
    }
    return lines;
}

}  // namespace sluice
