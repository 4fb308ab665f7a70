#include "node/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/errors.h"

namespace sluice {

namespace {

// "12.0", and "12.0/1" after a requeue.
std::string print(const RunKey& run) {
    const std::string name = print_run(run);
    return run.job.restarts == 0 ? name : fmt::format("{}/{}", name, run.job.restarts);
}

std::string print(const JobKey& job) {
    const std::string name = std::to_string(job.job.value);
    return job.restarts == 0 ? name : fmt::format("{}/{}", name, job.restarts);
}

std::string print(const std::optional<Error>& error) {
    return error ? fmt::format(": {}", to_string(*error)) : "";
}

std::string print(const RunEnd& end) {
    std::string text = fmt::format(" {}:{}", end.exit.code, end.exit.signal);
    if (end.exit.oom_killed) text += " out of memory";
    if (end.usage.cpu_user.count() != 0) text += fmt::format(" cpu {}", end.usage.cpu_user.count());
    if (end.srun_lost) text += " srun lost";
    return text + print(end.launch_error);
}

std::string print(const std::optional<RunEnd>& end) {
    return end ? print(*end) : "";
}

std::string print(const HookJob& job) {
    std::string text = fmt::format(" of {}:{}", job.user, job.group);
    if (!job.gpus.empty()) text += fmt::format(" gpus {}", fmt::join(job.gpus, ","));
    for (const std::string& variable : job.variables) text += " " + variable;
    return text + (job.syncs ? " syncs" : "");
}

std::string print(const SignalOrder& order) {
    std::string text = fmt::format(" signal {}", order.signal);
    if (order.step) text += " to step " + print_step(*order.step);
    if (order.batch_shell) text += " shell";
    if (order.children) text += " children";
    if (order.steps) text += " steps";
    if (order.if_handled) text += " if handled";
    if (order.suspension) text += " suspension";
    if (!order.message.empty()) text += " message";
    return text;
}

std::string flag(bool is_set, const char* text) {
    return is_set ? text : "";
}

std::string print_end(const RunKey& run, Seconds grace, const std::string& reason_line) {
    return fmt::format("{} within {} s{}{}", print(run), grace.count(),
                       flag(!reason_line.empty(), " "), reason_line);
}

struct Describe {
    std::string operator()(const BatchOrdered& e) const {
        return "launch " + print(batch_of(e.job.key)) + print(e.job) + print(e.refused);
    }
    std::string operator()(const PrepareOrdered& e) const {
        return "prepare " + print(e.job.key) + print(e.job) + flag(e.contain, " contain") +
               print(e.refused);
    }
    std::string operator()(const StepBrought& e) const {
        return "launch " + print(e.run) + print(e.job);
    }
    std::string operator()(const SignalOrdered& e) const { return print(e.job) + print(e.order); }
    std::string operator()(const EndOrdered& e) const {
        return fmt::format("end {} {}", e.only_step ? "step" : "job",
                           print_end(e.run, e.grace, e.reason_line)) +
               (e.job ? " epilog" + print(*e.job) : "");
    }
    std::string operator()(const ReportStored& e) const {
        constexpr const char* kKinds[] = {"job end", "step end", "cleaned"};
        return fmt::format("stored: {} {}", kKinds[static_cast<int>(e.kind)], print(e.run));
    }
    std::string operator()(const PrologEnded& e) const {
        return fmt::format("prolog of {} {}", print(e.job), e.ok ? "done" : "failed");
    }
    std::string operator()(const DataTaskEnded& e) const {
        return "data of " + print(e.job) + (e.error ? print(e.error) : " done");
    }
    std::string operator()(const FinalSyncEnded& e) const { return "synchronised " + print(e.job); }
    std::string operator()(const EpilogEnded& e) const {
        return fmt::format("epilog of {} {}", print(e.job), e.ok ? "done" : "failed");
    }
    std::string operator()(const SpawnFailed& e) const {
        return "not spawned " + print(e.run) + print(e.error);
    }
    std::string operator()(const LeftoversGone& e) const {
        return "nothing left of " + print(e.run);
    }
    std::string operator()(const NodeTimerDue&) const { return "timer"; }
    std::string operator()(const SupervisorStarted& e) const {
        return "started " + print(e.run) + flag(e.has_asked, " with its user");
    }
    std::string operator()(const SupervisorState& e) const {
        return fmt::format("found {} of {}:{}", print(e.run), e.user, e.group);
    }
    std::string operator()(const SupervisorKilling& e) const {
        return "kills " + print(e.run) + print(e.so_far);
    }
    std::string operator()(const SupervisorEnded& e) const {
        return "ended " + print(e.run) + print(e.end);
    }
    std::string operator()(const SupervisorGone& e) const {
        return "gone " + print(e.run) + print(e.end);
    }
    std::string operator()(const SpoolRead& e) const {
        std::string text = "spool";
        for (const FoundRun& found : e.runs) {
            text += fmt::format(" {}{}{}", print(found.run), flag(found.is_supervised, " runs"),
                                print(found.end));
        }
        return text;
    }

    std::string operator()(const SpawnStep& e) const {
        return fmt::format("spawn {}{}{}", print(e.run), print(e.job),
                           flag(e.knows_user, " (known)"));
    }
    std::string operator()(const RefuseLaunch& e) const {
        return "refuse " + print(e.run) + print(e.error);
    }
    std::string operator()(const RunProlog& e) const {
        return "prolog " + print(e.job.key) + print(e.job);
    }
    std::string operator()(const RunDataTask& e) const {
        return fmt::format("data {} {} {}", print(e.job.key), static_cast<int>(e.task.kind),
                           e.task.text);
    }
    std::string operator()(const StopDataTask& e) const { return "stop data " + print(e.job); }
    std::string operator()(const RunFinalSync& e) const {
        return "synchronise " + print(e.job.key);
    }
    std::string operator()(const RunEpilog& e) const {
        return "epilog " + print(e.job.key) + print(e.job);
    }
    std::string operator()(const PassSignal& e) const { return print(e.run) + print(e.order); }
    std::string operator()(const EndRun& e) const {
        return fmt::format("end {}{}", flag(e.only_step, "step "),
                           print_end(e.run, e.grace, e.reason_line));
    }
    std::string operator()(const ReleaseRun& e) const { return "release " + print(e.run); }
    std::string operator()(const KillLeftovers& e) const { return "kill rest of " + print(e.run); }
    std::string operator()(const GiveUpRun& e) const { return "give up " + print(e.run); }
    std::string operator()(const RemoveDirectory& e) const {
        return fmt::format("remove directory {}", e.job.value);
    }
    std::string operator()(const ReportLaunch& e) const {
        return "report launch " + print(e.run) + print(e.error);
    }
    std::string operator()(const ReportJobEnd& e) const {
        return "report job end " + print(e.run) + print(e.end) +
               flag(e.epilog_failed, " epilog failed") + flag(e.is_cleaning, " and synchronises");
    }
    std::string operator()(const ReportStepEnd& e) const {
        return "report step end " + print(e.run) + print(e.end);
    }
    std::string operator()(const ReportCleaned& e) const {
        return "report cleaned " + print(e.job) + flag(e.epilog_failed, " epilog failed");
    }
    std::string operator()(const ReportKillFailed& e) const {
        return "report kill failed " + print(e.run);
    }
};

}  // namespace

std::string describe(const NodeEvent& event) {
    return std::visit(Describe{}, event);
}

std::string describe(const NodeEffect& effect) {
    return std::visit(Describe{}, effect);
}

}  // namespace sluice
