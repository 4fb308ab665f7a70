// What runs on a virtual node: supervisors and the processes that they started; what happens to
// them when slurmd ends, the power fails or a supervisor is killed.
#include <csignal>

#include "model/errors.h"
#include "sim/faults/machine.h"

namespace sluice {

namespace {

constexpr std::int64_t kAwaitedMost = 60;  // seconds that a supervisor waits for its release

}  // namespace

Usage used_on(NodeIndex node) {
    constexpr std::uint32_t kDigits = 15;
    const std::int64_t digit = node.value < kDigits ? std::int64_t{1} << (4 * node.value) : 0;
    return {Microseconds{digit}, Microseconds{100}, 4096, {}};
}

bool counts_nodes_once(const Usage& usage) {
    constexpr std::int64_t kOnes = 0x111111111111111;
    return (usage.cpu_user.count() & ~kOnes) == 0;
}

Machine::Process* Machine::find(const RunKey& run) {
    const auto found = processes_.find(run);
    return found == processes_.end() ? nullptr : &found->second;
}

bool Machine::runs(const RunKey& run) const {
    const auto found = processes_.find(run);
    if (found != processes_.end()) return !found->second.end;
    return is_up() && state_.find(run);
}

bool Machine::is_stopped(const RunKey& run) const {
    const auto found = processes_.find(run);
    return found != processes_.end() && found->second.left;
}

std::vector<RunKey> Machine::running() const {
    std::vector<RunKey> runs;
    for (const auto& [run, process] : processes_) {
        if (process.is_started && !process.end) runs.push_back(run);
    }
    return runs;
}

std::string Machine::rest() const {
    std::string text;
    for (const auto& [run, process] : processes_) text += "process " + to_string(run) + " ";
    for (const auto& [run, mark] : marks_) text += "mark " + to_string(run) + " ";
    // A job without runs may be between two steps: its node need not hear of its end.
    for (const auto& [key, job] : state_.jobs) {
        if (!job.runs.empty() || job.is_closing) text += "job " + to_string(batch_of(key)) + " ";
    }
    for (const RunKey& run : state_.unacknowledged) text += "end of " + to_string(run) + " ";
    return text;
}

void Machine::start_script(const RunKey& run, bool asks) {
    const Script script = host_.script_of(run);
    Process& process = *find(run);
    if (script.cannot_start) {
        RunEnd how{.exit = {.code = 1}, .launch_error = Error{ErrorCode::LaunchFailed, {}}};
        return end(run, process.start, std::move(how));
    }
    process.is_started = true;
    host_.on_started(node_, run);
    if (run.step != kExternStep) plan_end(run, script.duration);
    handle(SupervisorStarted{run, asks});
}

void Machine::plan_end(const RunKey& run, Seconds left) {
    Process& process = *find(run);
    process.left.reset();
    process.ends = host_.now() + left;
    process.plan = ++counter_;
    host_.later(left, [this, run, start = process.start, plan = process.plan] {
        const Process* found = find(run);
        if (!found || found->plan != plan || found->left) return;
        end(run, start, {.exit = host_.script_of(run).exit, .usage = used_on(node_)});
    });
}

void Machine::perform(const PassSignal& effect) {
    Process* process = find(effect.run);
    if (!process || process->end || !process->has_supervisor || !process->is_started) return;
    if (effect.order.signal == SIGSTOP && !process->left)
        process->left = process->ends - host_.now();
    if (effect.order.signal == SIGCONT && process->left) {
        if (effect.run.step == kExternStep)
            process->left.reset();
        else
            plan_end(effect.run, *process->left);
    }
}

void Machine::kill_step(const RunKey& run) {
    if (const Process* process = find(run)) end(run, process->start, {.exit = kBySigkill});
}

// Nothing when that start of it is over already.
void Machine::end(const RunKey& run, std::uint64_t start, RunEnd how) {
    Process* process = find(run);
    if (!process || process->start != start || process->end) return;
    if (process->is_started) host_.on_finished(node_, run, how.exit);
    if (!process->has_supervisor) {
        processes_.erase(run);
        return;
    }
    process->end = how;
    const Seconds patience{dice_.between(1, kAwaitedMost)};
    host_.later(patience, [this, run, start] { leave_mark(run, start); });
    handle(SupervisorEnded{run, std::move(how)});
}

// The supervisor has waited for its release for long enough.
void Machine::leave_mark(const RunKey& run, std::uint64_t start) {
    const Process* process = find(run);
    if (!process || process->start != start) return;
    const std::optional<RunEnd> how = process->end;
    processes_.erase(run);
    if (const auto mark = marks_.find(run); mark != marks_.end()) mark->second.end = how;
    handle(SupervisorGone{run, how});
}

void Machine::kill_processes(const RunKey& run) {
    Process* process = find(run);
    if (!process) return;
    if (process->is_started && !process->end) host_.on_finished(node_, run, kBySigkill);
    processes_.erase(run);
}

// ---- faults

void Machine::kill_supervisor() {
    std::vector<RunKey> runs;
    for (const auto& [run, process] : processes_) {
        if (process.has_supervisor && !process.end) runs.push_back(run);
    }
    if (runs.empty()) return;
    const RunKey run = runs[dice_.below(runs.size())];
    host_.happened("supervisor killed");
    find(run)->has_supervisor = false;
    handle(SupervisorGone{run});
}

void Machine::stop_slurmd() {
    slurmd_ = registered_ = is_deciding_ = false;
    ++incarnation_;
    state_ = {};
    state_.settings = settings_;
    events_.clear();
    outbox_ = {};
}

// Finds in the spool what runs, and what has ended meanwhile or is not known to the controller.
void Machine::start_slurmd() {
    slurmd_ = true;
    SpoolRead spool;
    for (const auto& [run, mark] : marks_) {
        const Process* process = find(run);
        const bool is_supervised = process && process->has_supervisor;
        spool.runs.push_back({run, mark.job, is_supervised, mark.end});
    }
    const std::uint64_t me = incarnation_;
    handle(spool);
    for (const FoundRun& found : spool.runs) {
        if (me != incarnation_) return;  // it has ended already
        const Process* process = find(found.run);
        if (!found.is_supervised || !process) continue;
        const std::optional<RunEnd> how = process->end;
        handle(SupervisorState{found.run, found.job.user, found.job.group});
        if (how) handle(SupervisorEnded{found.run, *how});
    }
}

void Machine::power_off() {
    stop_slurmd();
    powered_ = false;
    for (const auto& [run, process] : processes_) host_.on_swept_away(node_, run);
    processes_.clear();
}

void Machine::power_on(bool disk_is_kept) {
    powered_ = true;
    ++boots_;
    booted_ = host_.now();
    if (!disk_is_kept) {
        // Nobody will ever hear of them.
        for (const auto& [run, mark] : marks_) host_.on_swept_away(node_, run);
        marks_.clear();
    }
    start_slurmd();
}

}  // namespace sluice
