#include "core/node/power.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/job/verbs.h"
#include "core/limits/qos.h"
#include "core/limits/reservations.h"
#include "core/node/verbs.h"
#include "core/schedule/queue.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::uint32_t kRegular = 0, kOnce = 1;  // subjects of the timer
constexpr Seconds kMinute{60};
constexpr std::string_view kResumeFailed = "ResumeTimeout reached";

// What applies to a node: the longest of its partitions.
struct NodeTimes {
    bool is_in_partition = false;
    bool is_excepted = false;
    TimeLimit suspend_time{Seconds{0}};
    Seconds suspend_timeout{0}, resume_timeout{0};
};

TimeLimit time_of(const PartitionConfig& partition, const Settings& settings) {
    return partition.suspend_time.value_or(settings.power.suspend_time);
}

std::vector<NodeTimes> times_of_nodes(const Cluster& cluster) {
    const Settings& settings = cluster.settings();
    const std::vector<std::string>& excepted = settings.power.except_partitions;
    std::vector<NodeTimes> all(cluster.node_count());
    for (const Partition& partition : cluster.partitions()) {
        const PartitionConfig& config = partition.config;
        const bool is_excepted =
            std::find(excepted.begin(), excepted.end(), config.name) != excepted.end();
        for (NodeIndex index : partition.nodes) {
            NodeTimes& times = all[index.value];
            times.is_in_partition = true;
            times.is_excepted = times.is_excepted || is_excepted;
            times.suspend_time = std::max(times.suspend_time, time_of(config, settings));
            times.suspend_timeout =
                std::max(times.suspend_timeout,
                         config.suspend_timeout.value_or(settings.power.suspend_timeout));
            times.resume_timeout = std::max(
                times.resume_timeout, config.resume_timeout.value_or(settings.resume_timeout));
        }
    }
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        if (!all[i].is_in_partition) {
            all[i].suspend_time = settings.power.suspend_time;
            all[i].suspend_timeout = settings.power.suspend_timeout;
            all[i].resume_timeout = settings.resume_timeout;
        }
        const NodeConfig& config = cluster.node(NodeIndex{i}).config;
        if (config.suspend_time) all[i].suspend_time = *config.suspend_time;
    }
    return all;
}

Seconds resume_timeout_of(const Cluster& cluster, NodeIndex index) {
    std::optional<Seconds> longest;
    for (const Partition& partition : cluster.partitions()) {
        const std::vector<NodeIndex>& nodes = partition.nodes;
        if (std::find(nodes.begin(), nodes.end(), index) == nodes.end()) continue;
        const Seconds timeout =
            partition.config.resume_timeout.value_or(cluster.settings().resume_timeout);
        longest = std::max(longest.value_or(timeout), timeout);
    }
    return longest.value_or(cluster.settings().resume_timeout);
}

void move_power(Cluster& cluster, NodeIndex index, PowerState state) {
    cluster.edit_node(index)->power.state = state;
    cluster.mark_stored(index);
    cluster.nodes_were_reweighted();
    cluster.want_pass();
}

bool is_future(const Node& node) {
    return node_base(node) == NodeBase::Future;
}

// Nothing runs there, and nothing that ran there may still be left.
bool is_unused(const Node& node) {
    const bool rebooting = node.reboot.has_value();
    return node.jobs.empty() && !rebooting && (node.orphans.empty() || !node.connected);
}

// One look at all nodes.
class PowerCheck {
public:
    PowerCheck(Cluster& cluster, Time now, Effects& effects)
        : cluster_(cluster),
          now_(now),
          effects_(effects),
          power_(cluster.settings().power),
          times_(times_of_nodes(cluster)) {}

    void run() {
        for (std::uint32_t i = 0; i < cluster_.node_count(); ++i) look_at(NodeIndex{i});
        keep_excepted();
        suspend();
        resume();
        report_failed();
        if (!have_changed_) return;
        unpark_all(cluster_, now_);
        look_after_reservations(cluster_, now_);
    }

private:
    void look_at(NodeIndex index);
    bool is_idle_for_long(const Node& node) const;
    bool has_excepted_state(const Node& node) const;
    void is_switched_off(NodeIndex index);
    void has_not_come_up(NodeIndex index);
    void keep_excepted();
    void suspend();
    void suspend_node(NodeIndex index);
    void resume();
    void report_failed();
    std::size_t room(std::uint32_t rate, std::optional<Time> Power::*ordered) const;
    std::vector<std::string> names_of(const std::vector<NodeIndex>& nodes) const;
    std::vector<ResumedFor> jobs_of(const std::vector<NodeIndex>& nodes) const;

    Cluster& cluster_;
    Time now_;
    Effects& effects_;
    const PowerSettings& power_;
    std::vector<NodeTimes> times_;
    std::vector<NodeIndex> idle_, asked_down_, asked_up_, failed_;
    bool have_changed_ = false;
};

void PowerCheck::look_at(NodeIndex index) {
    const Node& node = cluster_.node(index);
    if (node.removed || is_future(node)) return;
    const NodeTimes& times = times_[index.value];
    switch (node.power.state) {
        case PowerState::PoweringDown:
            if (now_ < *node.power.suspended + times.suspend_timeout) return;
            is_switched_off(index);
            break;
        case PowerState::PoweringUp:
            if (now_ >= *node.power.resumed + times.resume_timeout) has_not_come_up(index);
            return;
        case PowerState::Up:
            if (!is_unused(node)) return;
            if (node.power.wanted_down)
                asked_down_.push_back(index);
            else if (is_idle_for_long(node))
                idle_.push_back(index);
            return;
        case PowerState::Down:
            break;
    }
    const Node& off = cluster_.node(index);
    if (off.power.wanted_up || !off.jobs.empty()) asked_up_.push_back(index);
}

bool PowerCheck::is_idle_for_long(const Node& node) const {
    const NodeTimes& times = times_[node.index.value];
    const bool is_known = node.facts || node.down;
    if (!is_known || times.is_excepted || times.suspend_time.unlimited()) return false;
    if (has_excepted_state(node)) return false;
    return node.last_busy && times.suspend_time.reached(*node.last_busy, now_);
}

bool PowerCheck::has_excepted_state(const Node& node) const {
    if (power_.except_down && node.down) return true;
    std::uint32_t flags = node_flags(node);
    if (const auto plan = cluster_.plan(); plan && plan->is_planned(node.index))
        flags |= kNodePlanned;
    for (const Reservation& each : cluster_.reservations()) {
        if (each.is_active(now_) && each.has_node(node.index))
            flags |= each.has(kResvMaint) ? kNodeMaint : kNodeReserved;
    }
    return (flags & power_.except_states) != 0;
}

void PowerCheck::is_switched_off(NodeIndex index) {
    have_changed_ = true;
    {
        const Edit<Node> node = cluster_.edit_node(index);
        node->connected = false;
        node->clock_ahead = Seconds{0};  // measured again when it registers
        node->registered_address.clear();
        node->address_by_hand.clear();
        node->hostname_by_hand.clear();
        node->orphans.clear();
        if (node->power.drained) undrain(*node);
        node->power.drained = false;
    }
    look_at_clock(cluster_, now_, index);
    move_power(cluster_, index, PowerState::Down);
    // If its slurmd still runs, it registers again; that does not mean that it was switched on.
    effects_.push_back(NodeAnswered{cluster_.node(index).config.name,
                                    Error{ErrorCode::Timeout, "the node is switched off"}});
}

// Compat: it counts as switched off again.
void PowerCheck::has_not_come_up(NodeIndex index) {
    have_changed_ = true;
    {
        const Edit<Node> node = cluster_.edit_node(index);
        node->down = true;
        node->power.wanted_up = false;
        node->power.wanted_down = false;
        set_reason(*node, std::string(kResumeFailed), cluster_.settings().slurm_user, now_);
    }
    fail_jobs_on(cluster_, now_, index, effects_);
    move_power(cluster_, index, PowerState::Down);
    failed_.push_back(index);
}

// SuspendExcNodes. Of a set with a count, that many nodes stay on that are switched on, have no
// jobs and could run some.
void PowerCheck::keep_excepted() {
    for (const PowerException& exception : power_.except_nodes) {
        std::uint32_t left = exception.count.value_or(0);
        std::vector<NodeIndex> kept;
        for (const std::string& name : exception.nodes) {
            const auto index = cluster_.find_node(name);
            if (!index) continue;
            const bool is_idle = std::find(idle_.begin(), idle_.end(), *index) != idle_.end();
            if (!exception.count) {
                kept.push_back(*index);
            } else if (left > 0 && may_take_jobs(cluster_.node(*index)) &&
                       cluster_.node(*index).power.state == PowerState::Up &&
                       cluster_.node(*index).jobs.empty()) {
                --left;
                if (is_idle) kept.push_back(*index);
            }
        }
        std::erase_if(idle_, [&](NodeIndex index) {
            return std::find(kept.begin(), kept.end(), index) != kept.end();
        });
    }
}

// How many more nodes may be handed to a program now: of the last minute, each counts.
std::size_t PowerCheck::room(std::uint32_t rate, std::optional<Time> Power::*ordered) const {
    if (rate == 0) return cluster_.node_count();
    std::size_t recent = 0;
    for (std::uint32_t i = 0; i < cluster_.node_count(); ++i) {
        const std::optional<Time>& when = cluster_.node(NodeIndex{i}).power.*ordered;
        recent += when && *when > now_ - kMinute ? 1 : 0;
    }
    return recent < rate ? rate - recent : 0;
}

void PowerCheck::suspend_node(NodeIndex index) {
    {
        const Edit<Node> node = cluster_.edit_node(index);
        node->power.suspended = now_;
        node->power.started = false;
        node->power.wanted_down = false;
        node->power.boot_id = node->facts ? node->facts->boot_id : "";
        node->power.slurmd_start.reset();
        if (node->facts) node->power.slurmd_start = node->facts->slurmd_start_time;
        if (power_.idle_on_suspend) {
            node->down = false;
            undrain(*node);
            node->power.drained = false;
        }
    }
    move_power(cluster_, index, PowerState::PoweringDown);
}

void PowerCheck::suspend() {
    std::vector<NodeIndex> chosen = std::move(asked_down_);
    chosen.insert(chosen.end(), idle_.begin(), idle_.end());
    chosen.resize(std::min(chosen.size(), room(power_.suspend_rate, &Power::suspended)));
    if (chosen.empty()) return;
    have_changed_ = true;
    Seconds limit{0};
    for (NodeIndex index : chosen) {
        limit = std::max(limit, times_[index.value].suspend_timeout);
        suspend_node(index);
    }
    effects_.push_back(RunPowerProgram{PowerProgram::Suspend, names_of(chosen), limit, {}});
}

void PowerCheck::resume() {
    asked_up_.resize(std::min(asked_up_.size(), room(power_.resume_rate, &Power::resumed)));
    if (asked_up_.empty()) return;
    have_changed_ = true;
    Seconds limit{0};
    for (NodeIndex index : asked_up_) {
        limit = std::max(limit, times_[index.value].resume_timeout);
        {
            const Edit<Node> node = cluster_.edit_node(index);
            node->power.resumed = now_;
            node->power.started = false;
            node->power.wanted_up = false;
        }
        move_power(cluster_, index, PowerState::PoweringUp);
    }
    effects_.push_back(
        RunPowerProgram{PowerProgram::Resume, names_of(asked_up_), limit, jobs_of(asked_up_)});
}

void PowerCheck::report_failed() {
    if (failed_.empty() || !power_.has_resume_fail_program) return;
    effects_.push_back(RunPowerProgram{
        PowerProgram::ResumeFail, names_of(failed_), cluster_.settings().resume_timeout, {}});
}

std::vector<std::string> PowerCheck::names_of(const std::vector<NodeIndex>& nodes) const {
    std::vector<std::string> names;
    for (NodeIndex index : nodes) names.push_back(cluster_.node(index).config.name);
    return names;
}

std::vector<ResumedFor> PowerCheck::jobs_of(const std::vector<NodeIndex>& nodes) const {
    std::map<JobId, std::vector<std::string>> by_job;
    for (NodeIndex index : nodes) {
        for (JobId id : cluster_.node(index).jobs)
            by_job[id].push_back(cluster_.node(index).config.name);
    }
    std::vector<ResumedFor> jobs;
    for (auto& [id, names] : by_job) jobs.push_back({cluster_.find_job(id), std::move(names)});
    return jobs;
}

// Without power saving nothing would switch them on again: they are up when they register.
void forget_power_states(Cluster& cluster) {
    for (NodeIndex index{0}; index.value < cluster.node_count(); ++index.value) {
        if (cluster.node(index).power == Power{}) continue;
        cluster.edit_node(index)->power = {};
        cluster.mark_stored(index);
        cluster.nodes_were_reweighted();
    }
}

}  // namespace

TimeLimit suspend_time_of(const Node& node, const std::vector<Partition>& partitions,
                          const Settings& settings) {
    if (node.config.suspend_time) return *node.config.suspend_time;
    std::optional<TimeLimit> longest;
    for (const Partition& partition : partitions) {
        const std::vector<NodeIndex>& nodes = partition.nodes;
        if (std::find(nodes.begin(), nodes.end(), node.index) == nodes.end()) continue;
        const TimeLimit time = time_of(partition.config, settings);
        longest = std::max(longest.value_or(time), time);
    }
    return longest.value_or(settings.power.suspend_time);
}

void watch_power(Cluster& cluster, Time now) {
    if (!cluster.settings().power.enabled) return forget_power_states(cluster);
    for (NodeIndex index{0}; index.value < cluster.node_count(); ++index.value) {
        if (!cluster.node(index).last_busy) cluster.edit_node(index)->last_busy = now;
    }
    if (!cluster.power_watch().is_regular)
        cluster.add_timer({now + cluster.settings().power.interval, TimerKind::Power, kRegular});
    cluster.power_watch().is_regular = true;
    want_power_check(cluster, now);
}

void want_power_check(Cluster& cluster, Time now) {
    PowerWatch& watch = cluster.power_watch();
    const PowerSettings& power = cluster.settings().power;
    if (!power.enabled || watch.is_wanted) return;
    watch.is_wanted = true;
    const Time due = watch.last ? std::max(now, *watch.last + power.min_interval) : now;
    cluster.add_timer({due, TimerKind::Power, kOnce});
}

void on_power_timer(Cluster& cluster, Time now, std::uint32_t subject, Effects& effects) {
    PowerWatch& watch = cluster.power_watch();
    const PowerSettings& power = cluster.settings().power;
    if (subject == kOnce) watch.is_wanted = false;
    if (subject == kRegular) watch.is_regular = power.enabled;
    if (!power.enabled) return;
    if (subject == kRegular) cluster.add_timer({now + power.interval, TimerKind::Power, kRegular});
    watch.last = now;
    PowerCheck(cluster, now, effects).run();
}

Result<void> check_power_command(const Cluster& cluster, NodeCommand command) {
    if (command < NodeCommand::PowerDown || cluster.settings().power.enabled) return {};
    return Error{
        ErrorCode::ConfigInvalid,
        fmt::format("State={}: SuspendProgram and ResumeProgram aren't defined", print(command))};
}

void command_power(Cluster& cluster, Time now, NodeIndex index, NodeCommand command,
                   Effects& effects) {
    const PowerState state = cluster.node(index).power.state;
    const bool is_on = state == PowerState::Up || state == PowerState::PoweringUp;
    const bool ends_jobs = command == NodeCommand::PowerDownForce;
    {
        const Edit<Node> node = cluster.edit_node(index);
        node->power.wanted_up = command == NodeCommand::PowerUp && !is_on;
        node->power.wanted_down = command != NodeCommand::PowerUp && is_on;
        const bool drains = command == NodeCommand::PowerDownAsap || ends_jobs;
        if (drains && is_on && (node->admin_flags & kNodeDrain) == 0) {
            node->admin_flags |= kNodeDrain;
            node->power.drained = true;
        }
        if (ends_jobs) node->down = false;  // Compat: it is idle when it is off
        if (ends_jobs && !is_on) undrain(*node);
    }
    if (ends_jobs && is_on) {
        fail_jobs_on(cluster, now, index, effects);
        if (state == PowerState::PoweringUp) move_power(cluster, index, PowerState::Up);
    }
    cluster.mark_stored(index);
    want_power_check(cluster, now);
}

std::vector<JobId> power_after_registration(Cluster& cluster, Time now, NodeIndex index) {
    const Node& known = cluster.node(index);
    if (known.power.state == PowerState::Up) return {};
    const bool is_same = known.power.boot_id == known.facts->boot_id &&
                         known.power.slurmd_start == known.facts->slurmd_start_time;
    if (known.power.state == PowerState::PoweringDown) {
        const Edit<Node> node = cluster.edit_node(index);
        node->power.boot_id = node->facts->boot_id;
        node->power.slurmd_start = node->facts->slurmd_start_time;
        cluster.mark_stored(index);
        return {};
    }
    if (is_same) return {};
    std::vector<JobId> waiting;
    for (JobId id : known.jobs) {
        if (is_configuring(cluster.job(id))) waiting.push_back(id);
    }
    {
        const Edit<Node> node = cluster.edit_node(index);
        node->last_busy = now;
        node->power.wanted_up = false;
        node->power.started = false;
    }
    move_power(cluster, index, PowerState::Up);
    return waiting;
}

void on_power_program_started(Cluster& cluster, const PowerProgramStarted& event) {
    const PowerState state =
        event.program == PowerProgram::Suspend ? PowerState::PoweringDown : PowerState::PoweringUp;
    for (const std::string& name : event.nodes) {
        const auto index = cluster.find_node(name);
        if (!index || cluster.node(*index).power.state != state) continue;
        cluster.edit_node(*index)->power.started = true;
        cluster.mark_stored(*index);
    }
}

bool awaits_boot(const Cluster& cluster, const Job& job) {
    if (!is_configuring(job) || !job.run.allocation) return false;
    const std::vector<NodeShare>& nodes = job.run.allocation->nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](const NodeShare& share) {
        return cluster.node(share.node).power.state != PowerState::Up;
    });
}

// Compat: the boot is not part of its time.
void continue_after_boot(Cluster& cluster, Time now, JobId id, Effects& effects) {
    if (!is_configuring(cluster.job(id)) || awaits_boot(cluster, cluster.job(id))) return;
    cluster.edit_job(id)->run.start_time = now;
    count_job(cluster, cluster.job(id));
    set_clocks(cluster, cluster.job(id));
    prepare_job(cluster, now, id, effects);
}

Seconds boot_time_left(const Cluster& cluster, const Job& job) {
    if (!is_configuring(job) || !awaits_boot(cluster, job)) return Seconds{0};
    Seconds longest{0};
    for (const NodeShare& share : job.run.allocation->nodes) {
        if (cluster.node(share.node).power.state != PowerState::Up)
            longest = std::max(longest, resume_timeout_of(cluster, share.node));
    }
    return longest;
}

void power_down_after(Cluster& cluster, Time now, const Job& job, NodeIndex index) {
    if (cluster.node(index).power.wanted_down) return want_power_check(cluster, now);
    const Partition* partition = cluster.find_partition(job.partition);
    if (!partition || !partition->config.power_down_on_idle) return;
    if (!cluster.settings().power.enabled || cluster.node(index).power.state != PowerState::Up)
        return;
    cluster.edit_node(index)->power.wanted_down = true;
    cluster.mark_stored(index);
    want_power_check(cluster, now);
}

void set_resume_after(Cluster& cluster, Time now, NodeIndex index, const TimeLimit& length) {
    const Edit<Node> node = cluster.edit_node(index);
    node->resume_after.reset();
    if (length.unlimited()) return;
    node->resume_after = now + length.length();
    cluster.add_timer({*node->resume_after, TimerKind::ResumeAfter, index.value});
}

void on_resume_after(Cluster& cluster, Time now, NodeIndex index) {
    const Node& node = cluster.node(index);
    if (node.removed || !node.resume_after || *node.resume_after > now) return;
    resume_node(*cluster.edit_node(index));
    cluster.mark_stored(index);
    cluster.want_no_reboot(index);
    watch_node(cluster, index);
    look_after_reservations(cluster, now);
    unpark_all(cluster, now);
    cluster.want_pass();
}

}  // namespace sluice
