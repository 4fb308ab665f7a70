#include "sim/faults/fault_world.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/faults/workload.h"

namespace sluice {
namespace {

constexpr Time kStart = from_unix(1'800'000'000);
constexpr Seconds kFaultyTime{1800};    // jobs arrive and faults happen
constexpr Seconds kPatience{6 * 3600};  // then all must have settled

// PrologFlags: in half of the worlds none.
PrologRules random_prolog_rules(Dice& random, const NodeSettings& node) {
    PrologRules rules;
    rules.at_allocation = random.chance(0.5);
    if (!rules.at_allocation) return rules;
    rules.contains = random.chance(0.7);
    rules.holds = node.has_prolog && (rules.contains || random.chance(0.5));
    rules.holds_for_all = random.chance(0.3);
    rules.force_requeue = random.chance(0.3);
    return rules;
}

}  // namespace

FaultWorld::FaultWorld(FaultOptions options)
    : options_(std::move(options)),
      now_(kStart),
      calm_from_(kStart + kFaultyTime),
      clock_(Seconds{0}),
      stranger_(options_.seed) {
    Dice& random = dice("settings");
    Settings settings = random_settings(random, options_.nodes, options_.with_preemption);
    if (options_.by_qos) settings.preempt.by = PreemptSettings::By::Qos;
    settings.enforce_limits = settings.enforce_qos = options_.by_qos;
    if (options_.wide) widen(random, settings);
    if (options_.wide) settings.power = power_settings();
    const NodeSettings node_settings{.has_prolog = random.chance(0.5),
                                     .has_epilog = random.chance(0.5),
                                     .kill_wait = settings.kill_wait,
                                     .unkillable_step_timeout = Seconds{60},
                                     .group_update_time = Seconds{random.between(0, 300)}};
    settings.has_epilog = node_settings.has_epilog;
    settings.prolog_rules = random_prolog_rules(dice("prolog flags"), node_settings);
    first_settings_ = settings_ = std::make_shared<const Settings>(std::move(settings));
    result_.hash = 0xcbf29ce484222325;
    node_ends_.resize(options_.nodes);
    controller_ends_.resize(options_.nodes);
    reachable_from_.resize(options_.nodes, kStart);
    said_.resize(options_.nodes, kStart);
    boots_.resize(options_.nodes);
    down_until_.resize(options_.controllers);
    database_from_.resize(options_.controllers);
    for (std::uint32_t i = 0; i < options_.nodes; ++i) {
        machines_.push_back(std::make_unique<Machine>(static_cast<MachineHost&>(*this),
                                                      NodeIndex{i}, dice(fmt::format("node {}", i)),
                                                      node_settings));
    }
}

FaultResult FaultWorld::run() {
    start_controller();
    if (options_.controllers > 1) watch_lease();
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        connect(i);
        heartbeat(i);
    }
    if (options_.by_qos) add_qos();
    plan_users();
    plan_faults();
    later(kFaultyTime, [this] {
        calm_ = true;
        log("the faults stop");
        set_clock(Seconds{0});
        look_after_jobs();
    });
    while (!result_.failure && !agenda_.empty() && !is_settled()) {
        now_ = agenda_.next();
        if (now_ > calm_from_ + kPatience) break;
        agenda_.take()();
        ++result_.events;
    }
    if (!result_.failure) check_the_end();
    result_.strangers_refused = stranger_.refusals();
    note_trace();
    return result_;
}

void FaultWorld::note_trace() {
    result_.trace = {.seed = options_.seed,
                     .nodes = options_.nodes,
                     .jobs = options_.jobs,
                     .controllers = options_.controllers,
                     .with_preemption = options_.with_preemption,
                     .by_qos = options_.by_qos,
                     .wide = options_.wide,
                     .rolls = {}};
    for (const auto& [name, dice] : dice_) {
        if (!dice.rolls().empty()) result_.trace.rolls[name] = dice.rolls();
    }
}

Dice& FaultWorld::dice(std::string_view stream) {
    const auto found = dice_.find(stream);
    if (found != dice_.end()) return found->second;
    const auto add = [&](auto source) -> Dice& {
        return dice_.emplace(std::string(stream), Dice(std::move(source))).first->second;
    };
    if (options_.trace) {
        const auto rolls = options_.trace->rolls.find(stream);
        return add(rolls == options_.trace->rolls.end() ? std::vector<std::uint64_t>{}
                                                        : rolls->second);
    }
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : stream) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return add(options_.seed ^ hash);
}

Dice& FaultWorld::network_of(std::size_t node) {
    return dice(fmt::format("network {}", node));
}

HookJob FaultWorld::hook_job(const JobKey& job) const {
    return {.key = job,
            .user = 1000 + job.job.value % 2,
            .group = 100,
            .syncs = job.job.value % 3 == 0};
}

void FaultWorld::happened(std::string_view what) {
    const auto known = result_.happened.find(what);
    if (known != result_.happened.end())
        ++known->second;
    else
        result_.happened.emplace(what, 1);
}

void FaultWorld::later(Seconds delay, std::function<void()> what) {
    agenda_.add(now_ + delay, std::move(what));
}

void FaultWorld::log(std::string what) {
    std::string line = fmt::format("{} {}", (now_ - kStart).count(), what);
    for (char c : line)
        result_.hash = (result_.hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    if (options_.on_event) options_.on_event(line);
}

void FaultWorld::fail(std::string what) {
    if (!result_.failure)
        result_.failure = fmt::format("after {} s: {}", (now_ - kStart).count(), what);
}

// ---- what the machines tell us

Script FaultWorld::script_of(const RunKey& run) {
    return random_script(options_.seed, run, options_.wide);
}

// A node that is lost may still run, or even start, what runs elsewhere by now.
bool FaultWorld::given_up(const Machine& machine, const RunKey& run) const {
    auto index = cluster_->find_node(first_settings_->nodes[machine.node().value].name);
    if (!index) return true;  // not in slurm.conf
    const Node& node = cluster_->node(*index);
    auto is_same = [&](const RunId& orphan) { return key_of(orphan).job == run.job; };
    return node.down || !node.connected || node.removed ||
           std::any_of(node.orphans.begin(), node.orphans.end(), is_same);
}

// A script is executed once, unless a reboot ended it before it was reported; and a job runs on one
// set of nodes at a time, as far as the controller can see.
void FaultWorld::on_started(NodeIndex node, const RunKey& run) {
    log(fmt::format("node {} starts {}", node.value, to_string(run)));
    if (run.step != kBatchStep) return;
    auto before = executions_.find(run);
    if (before != executions_.end() &&
        !(before->second.swept_away && before->second.node == node)) {
        fail(fmt::format("run {} is executed twice", to_string(run)));
    }
    executions_[run] = {node};
    if (options_.wide) plan_sruns(run.job, Srun::Home::Script, node.value, script_of(run).duration);
    if (!cluster_ || given_up(*machines_[node.value], run)) return;
    for (const auto& machine : machines_) {
        for (const RunKey& other : machine->running()) {
            if (other.job.job != run.job.job || other.job == run.job || given_up(*machine, other))
                continue;
            fail(fmt::format("job {} starts on node {} while it still runs on node {}",
                             run.job.job.value, node.value, machine->node().value));
        }
    }
}

void FaultWorld::on_finished(NodeIndex node, const RunKey& run, ExitStatus exit) {
    log(fmt::format("node {} ends {}", node.value, to_string(run)));
    if (run.step == kBatchStep) finished_[run] = exit;
}

void FaultWorld::on_swept_away(NodeIndex, const RunKey& run) {
    const auto execution = executions_.find(run);
    if (execution != executions_.end()) execution->second.swept_away = true;
}

// srun hears of it, and ends the step on its other nodes.
void FaultWorld::on_refused(NodeIndex, const RunKey& step) {
    if (step.step == kExternStep) return;  // it has no srun
    later(Seconds{0}, [this, step] { cancel_step(step); });
}

bool FaultWorld::slurmd_ends(NodeIndex node) {
    Dice& dice = network_of(node.value);
    if (calm_ || slurmd_end_chance_ == 0 || !dice.chance(slurmd_end_chance_)) return false;
    happened("slurmd ended between two effects");
    restart_slurmd(dice, node.value);
    return true;
}

// RebootProgram does not always do what it should.
void FaultWorld::reboot(NodeIndex node) {
    Dice& dice = network_of(node.value);
    if (!calm_ && dice.chance(0.2)) return;
    restart_machine(dice, node.value, true, Seconds{dice.chance(0.8) ? 40 : 120});
}

}  // namespace sluice
