// core/cluster.cc: the records, their indexes, and what readers and the store get of them.
#include "core/cluster.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "core/limits/qos.h"
#include "core/limits/reservations.h"
#include "core/limits/tres.h"
#include "core/node/power.h"
#include "core/node/verbs.h"
#include "core/place/use.h"
#include "core/schedule/priority.h"
#include "core/schedule/scheduler.h"
#include "core/schedule/waiting.h"

namespace sluice {

void ChunkSummary<Job>::add(const Job& job) {
    if (std::find(users.begin(), users.end(), job.user) == users.end()) users.push_back(job.user);
    shown_states |= 1u << static_cast<unsigned>(shown_state(job));
    shown_states |= 1u << static_cast<unsigned>(job.state);
}

// The resources of all nodes, for QOS with limits that are percentages of them.
static bool needs_total(const std::vector<Qos>& table) {
    return std::any_of(table.begin(), table.end(),
                       [](const Qos& qos) { return qos.has(kQosRelative); });
}

static Tres tres_of_all_nodes(const Cluster& cluster) {
    Tres total;
    for (NodeIndex index{0}; index.value < cluster.node_count(); ++index.value) {
        if (cluster.node(index).removed) continue;
        for (const auto& [name, amount] : cfg_tres(cluster.node(index))) total[name] += amount;
        ++total["node"];
    }
    return total;
}

Cluster::Cluster(std::shared_ptr<const Settings> settings, Time now)
    : settings_(std::move(settings)),
      partitions_(std::make_shared<std::vector<Partition>>()),
      waiting_(std::make_unique<WaitingJobs>()),
      scheduler_(std::make_unique<Scheduler>()),
      next_job_id_(settings_->first_job_id) {
    set_policy({});
    policy_changed_ = false;
    build_nodes(now);
    build_partitions();
    refresh_layout();
    set_priority_scale(std::make_shared<const PriorityScale>(make_scale(*this, now)));
    watch_priorities(*this, now);
    watch_power(*this, now);
}

Cluster::Cluster() = default;
Cluster::~Cluster() = default;
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;

void Cluster::apply_settings(std::shared_ptr<const Settings> settings, Time now) {
    const Seconds old_timeout = settings_->slurmd_timeout;
    settings_ = std::move(settings);
    build_nodes(now);
    build_partitions();
    layout_has_changed();
    for (Reservation reservation :
         std::vector(reservations())) {  // PART_NODES, nodes added or removed
        resolve_nodes(*this, reservation);
        put_reservation(std::move(reservation));
    }
    if (!waiting_->parked().empty()) want_pass();
    visible_change_ = true;
    if (settings_->slurmd_timeout != old_timeout) {
        std::erase_if(timers_,
                      [](const Timer& timer) { return timer.kind == TimerKind::NodeTimeout; });
        watch_nodes_anew(*this, now);
    }
    reprioritize_all(*this, now, true);
    watch_priorities(*this, now);
}

// Nodes that are not in slurm.conf stay.
void Cluster::build_nodes(Time now) {
    const bool is_start = node_count() == 0;
    std::vector<bool> were_removed(node_count());
    for (std::uint32_t i = 0; i < node_count(); ++i) {
        const Edit<Node> node = edit_node(NodeIndex{i});
        const bool is_removed = node->config.origin == NodeOrigin::File || node->removed;
        were_removed[i] = std::exchange(node->removed, is_removed);
    }
    for (const NodeConfig& config : settings_->nodes) {
        auto known = node_index_.find(config.name);
        if (known == node_index_.end()) {
            NodeIndex index{node_count()};
            node_index_.emplace(config.name, index);
            node_names_.push_back(config.name);
            Node added{.index = index};
            configure_node(added, config, *settings_, now);
            nodes_.insert(index.value, std::move(added));
            // The store may have a record of the same name, from before it was removed.
            if (!is_start) mark_stored(index);
        } else {
            const Edit<Node> node = edit_node(known->second);
            if (node->config.origin != NodeOrigin::File) mark_stored(known->second);
            node->removed = false;
            if (were_removed[known->second.value]) node_is_heard(*this, *node, now);
            configure_node(*node, config, *settings_, now);
        }
    }
}

NodeIndex Cluster::add_dynamic_node(const NodeConfig& config, Time now) {
    const auto [place, is_new] = node_index_.try_emplace(config.name, NodeIndex{node_count()});
    const NodeIndex index = place->second;
    Node added{.index = index};
    configure_node(added, config, *settings_, now);
    added.last_busy = now;
    if (is_new) {
        node_names_.push_back(config.name);
        nodes_.insert(index.value, std::move(added));
    } else {
        CHECK(node(index).removed && node(index).jobs.empty());
        *edit_node(index) = std::move(added);
    }
    touched_nodes_.insert(index.value);
    mark_stored(index);
    nodes_were_reweighted();
    return index;
}

void Cluster::remove_dynamic_node(NodeIndex index) {
    edit_node(index)->removed = true;
    mark_stored(index);
    nodes_were_reweighted();
}

// Whether a partition with these NodeSets has a node that is not in slurm.conf.
static bool has_in_sets(const PartitionConfig& partition, const Settings& settings,
                        const NodeConfig& node) {
    const auto contains = [](const std::vector<std::string>& list, const std::string& word) {
        return std::find(list.begin(), list.end(), word) != list.end();
    };
    for (const std::string& name : partition.node_sets) {
        if (equals_ignoring_case(name, "ALL")) return true;
        for (const NodeSetConfig& set : settings.node_sets) {
            if (set.name != name) continue;
            if (set.has_all || contains(set.nodes, node.name)) return true;
            if (!set.feature.empty() && contains(node.features, set.feature)) return true;
        }
    }
    return false;
}

void Cluster::order_nodes(Partition& partition) const {
    partition.nodes.clear();
    for (const std::string& name : partition.config.nodes) {
        auto index = find_node(name);
        if (index && !node(*index).removed) partition.nodes.push_back(*index);
    }
    for (std::uint32_t i = 0; i < node_count() && !partition.config.node_sets.empty(); ++i) {
        const Node& each = node(NodeIndex{i});
        if (each.removed || each.config.origin == NodeOrigin::File) continue;
        if (has_in_sets(partition.config, *settings_, each.config))
            partition.nodes.push_back(each.index);
    }
    std::stable_sort(partition.nodes.begin(), partition.nodes.end(), [&](NodeIndex a, NodeIndex b) {
        return preference_of(node(a)) < preference_of(node(b));
    });
    partition.total_cpus = std::accumulate(
        partition.nodes.begin(), partition.nodes.end(), 0u,
        [&](std::uint32_t sum, NodeIndex index) { return sum + node(index).config.cpus; });
}

void Cluster::nodes_were_reweighted() {
    nodes_are_unsorted_ = true;
    layout_has_changed();
}

void Cluster::build_partitions() {
    std::vector<Partition>& partitions = edit_partitions();
    partitions.clear();
    for (const PartitionConfig& config : settings_->partitions) {
        Partition partition{.config = config, .nodes = {}};
        order_nodes(partition);
        if (config.exclusive == PartitionExclusive::User) now_depends_on_users();
        partitions.push_back(std::move(partition));
    }
}

const Job& Cluster::job(JobId id) const {
    const Job* found = jobs_.peek(id.value);
    CHECK(found);
    return *found;
}

Edit<Job> Cluster::edit_job(JobId id) {
    changed_jobs_.insert(id.value);
    triggers_.note_job(id);
    return edit_shown(id);
}

Edit<Job> Cluster::edit_shown(JobId id) {
    job_edit_.check_free();
    Job* job = jobs_.edit(id.value);
    CHECK(job);
    priorities_.move_to(*job);
    visible_change_ = true;
    return {*job, job_edit_};
}

void Cluster::set_priority_scale(std::shared_ptr<const PriorityScale> scale) {
    priority_scale_ = std::move(scale);
    visible_change_ = true;
}

const Job& Cluster::add_job(Job job) {
    JobId id = job.id;
    if (!job.idempotency_key.empty()) submissions_.emplace(job.idempotency_key, id);
    if (is_task_record(job)) arrays_.add_task(*job.array_job, id);
    const Job& added = jobs_.insert(id.value, std::move(job));
    changed_jobs_.insert(id.value);
    visible_change_ = true;
    return added;
}

void Cluster::forget_job(JobId id) {
    job_edit_.check_free();
    auto found = jobs_.find(id.value);
    if (!found) return;
    if (!found->idempotency_key.empty()) submissions_.erase(found->idempotency_key);
    if (is_task_record(*found)) arrays_.remove_task(*found->array_job, id);
    priorities_.forget(id);
    clients_.forget(id);
    jobs_.erase(id.value);
    changed_jobs_.erase(id.value);
    forgotten_jobs_.push_back(id);
    facts_.forget(id);
    triggers_.note_job(id);
    visible_change_ = true;
}

JobId Cluster::next_job_id() const {
    std::uint32_t id = next_job_id_;
    while (true) {
        if (id < settings_->first_job_id || id > settings_->max_job_id)
            id = settings_->first_job_id;
        if (!jobs_.peek(id) && arrays_.tasks(JobId{id}).empty() && !damaged_jobs_.contains(id))
            break;
        ++id;
    }
    return JobId{id};
}

JobId Cluster::take_job_id() {
    const JobId id = next_job_id();
    next_job_id_ = id.value + 1;
    next_job_id_changed_ = true;
    return id;
}

std::optional<NodeIndex> Cluster::find_node(std::string_view name) const {
    auto found = node_index_.find(std::string(name));
    if (found == node_index_.end()) return {};
    return found->second;
}

const Node& Cluster::node(NodeIndex index) const {
    const Node* found = nodes_.peek(index.value);
    CHECK(found);
    return *found;
}

Edit<Node> Cluster::edit_node(NodeIndex index) {
    node_edit_.check_free();
    Node* node = nodes_.edit(index.value);
    CHECK(node);
    touched_nodes_.insert(index.value);
    triggers_.note_node(index);
    visible_change_ = true;
    return {*node, node_edit_};
}

void Cluster::mark_stored(NodeIndex index) {
    changed_nodes_.insert(index.value);
}

const Partition* Cluster::find_partition(std::string_view name) const {
    for (const Partition& partition : *partitions_) {
        if (partition.config.name == name) return &partition;
    }
    return nullptr;
}

const Partition* Cluster::default_partition() const {
    for (const Partition& partition : *partitions_) {
        if (partition.config.is_default) return &partition;
    }
    return nullptr;
}

std::vector<Partition>& Cluster::edit_partitions() {
    if (partitions_.use_count() > 1) {
        partitions_ = std::make_shared<std::vector<Partition>>(*partitions_);
    }
    std::atomic_thread_fence(std::memory_order_acquire);  // a reader may just have released it
    visible_change_ = true;
    layout_is_old_ = true;
    return *partitions_;
}

std::optional<Time> Cluster::next_timer() const {
    if (timers_.empty()) return {};
    return timers_.begin()->due;
}

std::vector<Timer> Cluster::due_timers(Time now) {
    std::vector<Timer> due;
    while (!timers_.empty() && timers_.begin()->due <= now) {
        due.push_back(*timers_.begin());
        timers_.erase(timers_.begin());
    }
    return due;
}

std::set<std::uint32_t> Cluster::subjects_of(TimerKind kind) const {
    std::set<std::uint32_t> subjects;
    for (const Timer& timer : timers_) {
        if (timer.kind == kind) subjects.insert(timer.subject);
    }
    return subjects;
}

void Cluster::was_blocked(Time now, Seconds length) {
    blocked_until_ = now;
    blocked_time_ += length;
}

std::optional<JobId> Cluster::find_submission(const std::string& key) const {
    auto found = submissions_.find(key);
    if (found == submissions_.end()) return {};
    return found->second;
}

bool Cluster::is_end_awaited() const {
    return waiting_->any() || clients_.any_waits() || steps_.are_awaited() ||
           !wanted_reboots_.empty();
}

ChangedRecords Cluster::take_changes() {
    ChangedRecords changes;
    changes.jobs.reserve(changed_jobs_.size());
    for (std::uint32_t id : changed_jobs_) {
        auto job = jobs_.find(id);
        if (!job) continue;
        changes.jobs.push_back(std::move(job));
    }
    std::vector<NodeIndex> nodes;
    for (std::uint32_t index : changed_nodes_) {
        nodes.emplace_back(index);
        changes.nodes.push_back({NodeIndex{index}, stored_form(node(NodeIndex{index}))});
    }
    changes.forgotten = std::move(forgotten_jobs_);
    if (next_job_id_changed_) changes.next_job_id = next_job_id_;
    changed_jobs_.clear();
    changed_nodes_.clear();
    forgotten_jobs_.clear();
    next_job_id_changed_ = false;
    for (const std::string& name : reservations_.take_changed()) {
        if (const Reservation* known = reservations_.find(name))
            changes.reservations.push_back(*known);
        else
            changes.reservations_gone.push_back(name);
    }
    if (policy_changed_) changes.policy = policy_;
    policy_changed_ = false;
    changes.usage = usage_.take_changes();
    for (const std::uint32_t id : triggers_.take_changed()) {
        if (const Trigger* known = triggers_.find(id))
            changes.triggers.push_back(*known);
        else
            changes.triggers_gone.push_back(id);
    }
    changes.facts = facts_.take(*this, {changes.jobs, nodes, changes.reservations});
    changes.delivered = std::exchange(delivered_facts_, 0);
    return changes;
}

std::shared_ptr<const Snapshot> Cluster::take_snapshot(Time now) {
    job_edit_.check_free();
    node_edit_.check_free();
    if (!visible_change_) return nullptr;
    visible_change_ = false;
    copied_ = nullptr;  // it would keep old records in memory
    return std::make_shared<Snapshot>(
        Snapshot{++version_, now, jobs_, nodes_, partitions_, settings_, plan_, licenses_.all(),
                 priority_scale_, reservations_.shared(), policy_, associations_, priorities_,
                 next_job_id_, usage_.last_import(), triggers_.shared(), damaged_});
}

void Cluster::set_policy(Policy policy) {
    const auto is_default = [](const Qos& qos) { return qos.name == kDefaultQos; };
    std::erase_if(policy.qos, [](const Qos& qos) { return qos.deleted; });
    if (std::none_of(policy.qos.begin(), policy.qos.end(), is_default))
        policy.qos.insert(policy.qos.begin(), default_qos());
    policy_ = std::make_shared<const Policy>(std::move(policy));
    associations_ = std::make_shared<const AssociationTree>(policy_);
    ++associations_version_;
    policy_changed_ = true;
    visible_change_ = true;
}

void Cluster::put_reservation(Reservation reservation) {
    reservations_.put(std::move(reservation));
    visible_change_ = true;
}

void Cluster::drop_reservation(const std::string& name) {
    if (const Reservation* known = reservations_.find(name)) facts_.reservation_gone(*known);
    reservations_.drop(name);
    visible_change_ = true;
}

void Cluster::touch_nodes_of(const Job& job) {
    for (const NodeShare& share : job.run.allocation->nodes)
        touched_nodes_.insert(share.node.value);
}

std::vector<NodeIndex> Cluster::take_touched_nodes() {
    std::vector<NodeIndex> touched;
    for (std::uint32_t index : touched_nodes_) touched.push_back(NodeIndex{index});
    touched_nodes_.clear();
    return touched;
}

const Layout& Cluster::layout() const {
    return scheduler_->layout;
}

void Cluster::refresh_layout() {
    if (!layout_is_old_) return;
    if (std::exchange(nodes_are_unsorted_, false)) {
        for (Partition& partition : edit_partitions()) order_nodes(partition);
    }
    layout_is_old_ = false;
    scheduler_->layout = layout_of(*this);
    total_tres_ = needs_total(qos()) ? tres_of_all_nodes(*this) : Tres{};
    ++scheduler_->layout_version;
    scheduler_->is_planned = false;
}

void Cluster::publish_plan(std::shared_ptr<const PlanView> plan) {
    if (!plan && !plan_) return;
    plan_ = std::move(plan);
    visible_change_ = true;
}

}  // namespace sluice
