// slurmd of a virtual node: events come from the network and from its supervisors, effects act on
// the virtual machine.
#include "sim/faults/machine.h"

#include <fmt/format.h>

#include "model/errors.h"
#include "node/describe.h"

namespace sluice {

namespace {

constexpr double kSpawnFails = 0.003, kPrologFails = 0.01, kEpilogFails = 0.01;
constexpr double kUnkillable = 0.005;
constexpr std::int64_t kHookMost = 10;  // seconds
constexpr ExitStatus kTerminated{.code = 0, .signal = 15};

}  // namespace

std::string to_string(const RunKey& run) {
    std::string step = run.step == kBatchStep ? "" : "." + print_step(run.step);
    return fmt::format("{}{}/{}", run.job.job.value, step, run.job.restarts);
}

Machine::Machine(MachineHost& host, NodeIndex node, Dice& dice, NodeSettings settings)
    : host_(host), node_(node), dice_(dice), settings_(settings) {
    state_.settings = settings_;
}

NodeFacts Machine::facts() const {
    NodeFacts facts;
    facts.boot_id = fmt::format("boot{}", boots_);
    facts.boot_time = booted_;
    return facts;
}

// What effects cause is decided after the other effects of the same decision, as in slurmd.
void Machine::handle(NodeEvent event) {
    if (!is_up()) return;
    events_.push_back(std::move(event));
    if (is_deciding_) return;
    is_deciding_ = true;
    const std::uint64_t me = incarnation_;
    while (me == incarnation_ && !events_.empty()) {
        NodeEffects effects;
        const NodeTime now{.steady = host_.now().time_since_epoch(), .wall = host_.now()};
        const std::string what = describe(events_.front());
        apply(state_, now, events_.front(), effects);
        events_.pop_front();
        if (auto broken = broken_invariant(state_))
            host_.fail(fmt::format("node {}, {}: {}", node_.value, what, *broken));
        for (const NodeEffect& effect : effects) {
            if (host_.slurmd_ends(node_)) return;
            std::visit([this](const auto& it) { perform(it); }, effect);
        }
    }
    is_deciding_ = false;
    wake_for_timer();
}

void Machine::wake_for_timer() {
    const std::optional<Moment> next = next_timer(state_);
    if (!next) return;
    const Seconds wait = std::chrono::ceil<Seconds>(*next - host_.now().time_since_epoch());
    host_.later(std::max(wait, Seconds{1}), [this, me = incarnation_] {
        if (me == incarnation_ && is_up()) handle(NodeTimerDue{});
    });
}

// ---- orders

void Machine::on_launch(const HookJob& job) {
    handle(BatchOrdered{job});
}

bool Machine::launch_step(const RunKey& run, const HookJob& job, Time issued) {
    if (!is_up() || !may_launch(state_, run, issued)) return false;
    handle(StepBrought{run, job});
    return true;
}

void Machine::on_signal(const SignalJob& order) {
    SignalOrder signal{.signal = order.signal,
                       .batch_shell = order.batch_shell,
                       .children = order.children,
                       .steps = order.steps,
                       .if_handled = order.if_handled,
                       .suspension = order.suspension};
    if (order.only_step) signal.step = order.run.step;
    handle(SignalOrdered{key_of(order.run).job, signal});
}

// A repeated order is carried out once.
void Machine::on_reboot(Time issued) {
    if (reboot_order_ == issued) return;
    reboot_order_ = issued;
    host_.reboot(node_);
}

void Machine::on_ack(std::uint64_t sequence) {
    using Kind = ReportStored::Kind;
    for (const Report& done : outbox_.acknowledge(sequence)) {
        if (const auto* job = std::get_if<JobEnded>(&done.event); job && !job->is_cleaning)
            handle(ReportStored{Kind::JobEnd, key_of(job->run)});
        if (const auto* step = std::get_if<StepEnded>(&done.event))
            handle(ReportStored{Kind::StepEnd, key_of(step->run)});
        if (const auto* cleaned = std::get_if<NodeCleaned>(&done.event))
            handle(ReportStored{Kind::Cleaned, key_of(cleaned->run)});
    }
}

void Machine::on_welcome() {
    registered_ = true;
    for (const Report& pending : outbox_.pending()) host_.send(node_, pending);
}

std::vector<RunId> Machine::announce() const {
    std::vector<RunId> runs;
    for (const RunKey& run : known_runs(state_)) runs.push_back(run_id(run));
    return runs;
}

// ---- effects

void Machine::perform(const SpawnStep& effect) {
    if (may(kSpawnFails)) {
        host_.happened("spawn failed");
        return handle(SpawnFailed{effect.run, {ErrorCode::NodeUnable, "no space left"}});
    }
    marks_[effect.run] = {effect.job};
    Process& process = processes_[effect.run];
    process = {.start = ++counter_};
    const bool asks = !effect.knows_user;
    const Seconds delay{host_.is_calm() ? 0 : dice_.between(0, 2)};
    host_.later(delay, [this, run = effect.run, start = process.start, asks] {
        const Process* found = find(run);
        const bool can_start = found && found->start == start && found->has_supervisor;
        if (can_start && !found->end) start_script(run, asks);
    });
}

void Machine::perform(const RefuseLaunch& effect) {
    if (effect.run.step == kBatchStep) return;
    host_.happened("step refused");
    host_.on_refused(node_, effect.run);
}

void Machine::run_hook(std::string_view what, double failing, std::function<void(bool)> done) {
    const bool fails = may(failing);
    host_.happened(fmt::format("{}{}", what, fails ? " failed" : ""));
    const Seconds length{host_.is_calm() ? 0 : dice_.between(0, kHookMost)};
    host_.later(length, [this, me = incarnation_, fails, done = std::move(done)] {
        if (me == incarnation_) done(!fails);
    });
}

void Machine::perform(const RunProlog& effect) {
    run_hook("prolog", kPrologFails, [this, job = effect.job.key](bool ok) {
        handle(PrologEnded{job, ok});
    });
}

void Machine::perform(const RunDataTask& effect) {
    run_hook("data", kPrologFails, [this, job = effect.job.key](bool ok) {
        handle(DataTaskEnded{
            job, ok ? std::nullopt : std::optional(Error{ErrorCode::DataUnavailable, {}})});
    });
}

void Machine::perform(const StopDataTask&) {
    host_.happened("data stopped");
}

void Machine::perform(const RunFinalSync& effect) {
    run_hook("last synchronisation", 0,
             [this, job = effect.job.key](bool) { handle(FinalSyncEnded{job}); });
}

void Machine::perform(const RunEpilog& effect) {
    run_hook("epilog", kEpilogFails, [this, job = effect.job.key](bool ok) {
        handle(EpilogEnded{job, ok});
    });
}

void Machine::perform(const EndRun& effect) {
    Process* process = find(effect.run);
    if (!process || process->end || !process->has_supervisor) return;
    if (may(kUnkillable)) process->is_unkillable = true;
    const Seconds delay{dice_.between(0, effect.grace.count())};
    host_.later(delay, [this, run = effect.run, start = process->start] {
        const Process* found = find(run);
        if (!found || found->start != start) return;
        if (found->is_unkillable && found->has_supervisor && !found->end) {
            host_.happened("unkillable");
            return handle(SupervisorKilling{run, {.exit = kBySigkill, .usage = used_on(node_)}});
        }
        const ExitStatus exit = run.step == kExternStep ? ExitStatus{} : kTerminated;
        end(run, start, {.exit = exit, .usage = used_on(node_)});
    });
}

void Machine::perform(const ReleaseRun& effect) {
    if (const Process* process = find(effect.run); process && process->end)
        processes_.erase(effect.run);
    marks_.erase(effect.run);
}

void Machine::perform(const KillLeftovers& effect) {
    host_.happened("leftovers killed");
    const Seconds delay{host_.is_calm() ? 0 : dice_.between(0, 3)};
    host_.later(delay, [this, run = effect.run, me = incarnation_] {
        kill_processes(run);
        if (me == incarnation_) handle(LeftoversGone{run});
    });
}

void Machine::perform(const GiveUpRun& effect) {
    host_.happened("given up");
    kill_processes(effect.run);
}

void Machine::perform(const RemoveDirectory& effect) {
    std::erase_if(marks_, [&](const auto& entry) { return entry.first.job.job == effect.job; });
}

// ---- reports

void Machine::report(Event event) {
    const Report& numbered = outbox_.add({std::move(event)});
    if (registered_) host_.send(node_, numbered);
}

void Machine::perform(const ReportLaunch& effect) {
    report(LaunchReported{node_, run_id(effect.run), effect.error});
}

void Machine::perform(const ReportJobEnd& effect) {
    report(JobEnded{node_, run_id(effect.run), effect.end.exit, effect.end.launch_error,
                    effect.epilog_failed, effect.end.usage, effect.is_cleaning});
}

void Machine::perform(const ReportStepEnd& effect) {
    report(StepEnded{node_, run_id(effect.run), effect.end.exit, effect.end.srun_lost,
                     effect.end.usage});
}

void Machine::perform(const ReportCleaned& effect) {
    report(NodeCleaned{node_, run_id(batch_of(effect.job)), effect.epilog_failed});
}

void Machine::perform(const ReportKillFailed& effect) {
    report(KillFailed{node_, run_id(effect.run)});
}

}  // namespace sluice
