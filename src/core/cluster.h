// core/cluster.h
//
// All state of a cluster. One thread changes it, through apply(); readers get snapshots. Records
// are changed through edit_*, which also tells the store what to write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/cow_table.h"
#include "core/edit.h"
#include "core/effect.h"
#include "core/event.h"
#include "core/facts.h"
#include "core/interner.h"
#include "core/job/arrays.h"
#include "core/job/clients.h"
#include "core/job/gpu_loads.h"
#include "core/job/steps.h"
#include "core/limits/associations.h"
#include "core/limits/licenses_in_use.h"
#include "core/limits/limit_book.h"
#include "core/limits/reservation_table.h"
#include "core/limits/usage_book.h"
#include "core/plan_view.h"
#include "core/priority_table.h"
#include "core/schedule/fair_share.h"
#include "core/settings.h"
#include "core/tally.h"
#include "core/triggers.h"
#include "model/stored.h"

namespace sluice {

struct PriorityScale;  // core/schedule/priority.h

// What is in use of a node. CPUs and devices by index: nothing is given out twice.
struct GresPool {
    std::string name;
    std::string type;
    std::uint64_t count = 0;
    bool has_devices = false;
    bool no_consume = false;     // requests are compared with the count, and take nothing
    bool only_if_asked = false;  // Flags=explicit: not given with a whole node
    std::vector<bool> used;      // by device index, when there are devices
    std::uint64_t used_count = 0;
    std::uint32_t first_index = 0;  // of this type among all devices of the name (CUDA numbering)
    std::vector<std::vector<std::uint32_t>>
        cores;  // by device: the cores close to it; empty: unknown
    std::vector<std::vector<std::int32_t>>
        links;  // by device: its connections with each device of the name; empty: unknown
    struct Part {
        std::uint64_t count = 0, used = 0;
        bool operator==(const Part&) const = default;
    };
    std::vector<Part> parts;    // shard, mps: of each GPU of the type
    bool one_gpu = false;       // parts: of one GPU of the node at a time
    std::vector<bool> drained;  // by device: out of service; empty: none
    bool operator==(const GresPool&) const = default;
};

struct Node {
    NodeIndex index;
    NodeConfig config;
    std::optional<NodeFacts> facts;  // absent: has never registered with this controller
    bool connected = false;
    bool down = false;              // by timeout, by the administrator or by a bad registration
    std::uint32_t admin_flags = 0;  // NodeFlag: drain, fail, maint
    std::string reason;
    std::optional<Time> reason_time;
    UserId reason_user;
    std::optional<Time> last_seen;
    Seconds blocked_before{0};  // Cluster::blocked_time() at that time
    bool watched = false;       // a NodeTimeout timer is set
    Seconds clock_ahead{0};     // relative to the controller's; see core/node/clock.cc
    Seconds clock_steps{0};     // by how much its clock was set since it registered, as reported
    std::optional<Time> last_busy;
    std::string comment;
    bool removed = false;          // no longer in slurm.conf
    std::optional<Reboot> reboot;  // core/node/reboot.cc
    Power power;                   // core/node/power.cc
    std::optional<Time> resume_after;
    std::string registered_address;                 // of a CLOUD or dynamic node, while it is up
    std::string address_by_hand, hostname_by_hand;  // changed with scontrol

    std::vector<std::uint8_t> cpu_used;  // by CPU id: how many jobs run on it
    std::vector<bool> cpu_reserved;      // by CPU id: kept from jobs (CoreSpecCount, CpuSpecList)
    std::vector<bool> cpu_for_gpus;      // by CPU: only jobs with GPUs may use it; empty: all may
    std::uint32_t cpus_used = 0;
    Megabytes memory_used = 0;
    std::vector<GresPool> gres;
    std::vector<JobId> jobs;       // running or completing here
    std::uint32_t completing = 0;  // how many of them are completing
    std::optional<UserId> exclusive_user;
    bool exclusive = false;      // one job holds all of it
    std::vector<RunId> orphans;  // runs that were given up and that it may still have
    // Changed with scontrol: take precedence over slurm.conf, and survive a restart.
    std::optional<std::uint32_t> weight_by_hand;
    std::optional<std::vector<std::string>> features_by_hand;
    std::optional<std::string> gres_by_hand;
    std::vector<GresDevices> devices;           // of a dynamic node, as last reported
    std::vector<DrainedGpu> drained_gpus = {};  // get no new jobs (core/node/gpus.cc)
};

// Nodes are used in this order: by weight, and those that are switched on first.
std::uint64_t preference_of(const Node& node);
// The base state and flags that are shown, including use by jobs.
NodeBase node_base(const Node& node);
std::uint32_t node_flags(const Node& node);
struct Partition;
// SuspendTime of a node: its own, else the longest of its partitions, else the cluster's.
TimeLimit suspend_time_of(const Node& node, const std::vector<Partition>& partitions,
                          const Settings& settings);
// As changed by scontrol, or where a CLOUD or dynamic node has registered from, or as configured.
const std::string& address_of(const Node& node);
const std::string& hostname_of(const Node& node);
StoredNode stored_form(const Node& node);
bool is_cloud(const Node& node);       // State=CLOUD
bool is_dynamic(const Node& node);     // no NodeName line has it, and it was not deleted
bool clock_differs(const Node& node);  // so much that it would refuse orders
bool may_take_jobs(
    const Node& node);  // registered, connected or recently so, not down, not draining

struct Partition {
    PartitionConfig config;
    std::vector<NodeIndex> nodes;  // by weight, then by place in slurm.conf
    std::uint32_t total_cpus = 0;
    std::set<UserId> barred_users =
        {};  // users with jobs here that AllowGroups, as changed by scontrol, excludes
};

template <>
struct ChunkSummary<Job> {
    std::vector<UserId> users;       // few
    std::uint32_t shown_states = 0;  // bit per ShownState
    void add(const Job& job);
};

// An immutable view of everything, shared with readers.
struct Snapshot {
    std::uint64_t version = 0;
    Time time;
    CowTable<Job> jobs;
    CowTable<Node> nodes;  // by NodeIndex
    std::shared_ptr<const std::vector<Partition>> partitions;
    std::shared_ptr<const Settings> settings;
    std::shared_ptr<const PlanView> plan;  // may be absent: no job waits
    std::map<std::string, std::uint32_t> licenses_used;
    std::shared_ptr<const PriorityScale> priority_scale;
    std::shared_ptr<const std::vector<Reservation>> reservations;
    std::shared_ptr<const Policy> policy;
    std::shared_ptr<const AssociationTree> associations;
    PriorityTable priorities;  // only those newer than the records
    std::uint32_t next_job_id = 0;
    std::uint64_t last_import = 0;  // of usage: UsageImport
    std::shared_ptr<const std::vector<Trigger>> triggers;
    std::shared_ptr<const std::vector<DamagedRow>> damaged;
};

enum class TimerKind : std::uint8_t {
    Begin,
    TimeLimit,
    Warn,
    Forget,
    NodeTimeout,
    Plan,
    Preempt,
    Dependency,
    Deadline,
    Priority,
    Reservation,
    TimeSlice,
    Reboot,
    Launch,
    Silence,
    LimitMail,
    BatchStart,
    UsedMinutes,
    Configure,
    HealthCheck,
    StepLimit,
    Power,
    ResumeAfter,
    Trigger,
};

struct Timer {
    Time due;
    TimerKind kind = TimerKind::Begin;
    std::uint32_t subject = 0;  // job id or node index
    auto operator<=>(const Timer&) const = default;
};

// When nodes are looked at for power saving (core/node/power.cc).
struct PowerWatch {
    bool is_regular = false;  // every power_save_interval
    bool is_wanted = false;   // once more, soon
    std::optional<Time> last;
};

// What a scheduling pass is wanted for.
enum class WantedPass : std::uint8_t { None, NewJobs, Any };

struct Layout;
struct Scheduler;
class WaitingJobs;

class Cluster {
public:
    explicit Cluster(std::shared_ptr<const Settings> settings, Time now);
    ~Cluster();
    Cluster(Cluster&&) noexcept;
    Cluster& operator=(Cluster&&) noexcept;

    // Takes over what the store kept. Nodes are expected to register before they time out.
    void restore(const StoredState& stored, Time now);

    const Settings& settings() const { return *settings_; }
    std::shared_ptr<const Settings> settings_ptr() const { return settings_; }

    std::shared_ptr<const Job> find_job(JobId id) const { return jobs_.find(id.value); }
    const Job& job(JobId id) const;
    Edit<Job> edit_job(JobId id);    // marks it changed
    Edit<Job> edit_shown(JobId id);  // only derived values: readers see them, the store does not
    // The same for many at once: for all that changes(job), in chunks that want(summary).
    template <typename Want, typename Changes, typename Change>
    void edit_shown_where(Want want, Changes changes, Change change) {
        job_edit_.check_free();
        visible_change_ = true;
        jobs_.edit_where(want, changes, change);
    }
    const Job& add_job(Job job);
    void forget_job(JobId id);
    // What accounting is told (core/facts.h). Changes of jobs and nodes need no call.
    FactBook& facts() { return facts_; }
    void facts_were_delivered(std::uint64_t last) { delivered_facts_ = last; }
    void jobs_changed_state(JobId id) { jobs_.widen(id.value, job(id)); }  // for searches by state
    JobId next_job_id() const;  // the result of the next take_job_id()
    JobId take_job_id();
    // Returns the value of an equal job, or a copy: thousands of jobs that differ only in their ids
    // share their request.
    std::shared_ptr<const JobTerms> shared(const JobTerms& terms) { return terms_.share(terms); }
    std::shared_ptr<const PackedDetails> shared(PackedDetails details) {
        return details_.share(std::move(details));
    }
    const CowTable<Job>& jobs() const { return jobs_; }

    std::optional<NodeIndex> find_node(std::string_view name) const;
    const Node& node(NodeIndex index) const;
    Edit<Node> edit_node(NodeIndex index);  // visible to readers; see also mark_stored
    void mark_stored(NodeIndex index);      // something of it must survive a restart
    std::uint32_t node_count() const { return static_cast<std::uint32_t>(node_names_.size()); }

    const std::vector<Partition>& partitions() const { return *partitions_; }
    std::shared_ptr<const std::vector<Partition>> partitions_ptr() const { return partitions_; }
    const Partition* find_partition(std::string_view name) const;
    const Partition* default_partition() const;
    std::vector<Partition>& edit_partitions();
    void nodes_were_reweighted();  // partitions sort their nodes again, before the next pass
    // A node that no NodeName line has. It replaces one of that name that was removed.
    NodeIndex add_dynamic_node(const NodeConfig& config, Time now);
    void remove_dynamic_node(NodeIndex index);
    // slurm.conf was read again: node indexes of known names stay.
    void apply_settings(std::shared_ptr<const Settings> settings, Time now);

    // In the order of creation (core/limits/reservations.h).
    const std::vector<Reservation>& reservations() const { return reservations_.all(); }
    const ReservationTable& reservation_table() const { return reservations_; }
    void put_reservation(Reservation reservation);  // replaces the one of that name, if any
    void drop_reservation(const std::string& name);

    // What accounting decides about users and limits: the last that it sent, which survives a
    // restart. The QOS are in the order of creation, `normal` is always among them.
    const Policy& policy() const { return *policy_; }
    std::shared_ptr<const Policy> policy_ptr() const { return policy_; }
    const std::vector<Qos>& qos() const { return policy_->qos; }
    const AssociationTree& associations() const { return *associations_; }
    std::shared_ptr<const AssociationTree> associations_ptr() const { return associations_; }
    std::uint64_t associations_version() const { return associations_version_; }  // grows
    void set_policy(Policy policy);

    Arrays& arrays() { return arrays_; }
    const Arrays& arrays() const { return arrays_; }
    // Clients that wait for jobs and for steps.
    Clients& clients() { return clients_; }
    const Clients& clients() const { return clients_; }
    Steps& steps() { return steps_; }
    const Steps& steps() const { return steps_; }

    GpuLoads& gpu_loads() { return gpu_loads_; }

    LicensesInUse& licenses() { return licenses_; }
    const LicensesInUse& licenses() const { return licenses_; }
    LimitBook& limits() { return limits_; }
    const LimitBook& limits() const { return limits_; }
    // What associations and QOS have used (core/limits/usage.h).
    UsageBook& usage() { return usage_; }
    const UsageBook& usage() const { return usage_; }

    TriggerBook& triggers() { return triggers_; }
    const TriggerBook& triggers() const { return triggers_; }
    void triggers_changed() { visible_change_ = true; }  // for readers

    void add_timer(Timer timer) { timers_.insert(timer); }
    void shift_times(Seconds by);  // the clock was set; not timers by the wall clock
    std::optional<Time> next_timer() const;
    std::vector<Timer> due_timers(Time now);
    std::set<std::uint32_t> subjects_of(TimerKind kind) const;  // of all timers of that kind
    bool is_end_awaited() const;  // whether a client or a job waits for the end of a job

    // Where jobs wait (core/schedule/waiting.h).
    WaitingJobs& waiting() { return *waiting_; }
    const WaitingJobs& waiting() const { return *waiting_; }
    // The plan (core/schedule/scheduler.h).
    Scheduler& scheduler() { return *scheduler_; }
    const Scheduler& scheduler() const { return *scheduler_; }
    // Nodes that were edited since the last call.
    std::vector<NodeIndex> take_touched_nodes();
    void touch_nodes_of(const Job& job);  // its end, or what it holds of them, has changed
    const Tres& total_tres() const { return total_tres_; }  // only if a QOS has Relative limits
    const Layout& layout() const;  // the nodes by kind (core/place/layout.h)
    // Features, devices or partitions have changed: what was computed from them is void.
    void layout_has_changed() { layout_is_old_ = true; }
    void refresh_layout();
    void publish_plan(std::shared_ptr<const PlanView> plan);
    std::shared_ptr<const PlanView> plan() const { return plan_; }

    // The current priority; the record may still have an older one.
    std::uint32_t priority(JobId id) const { return priorities_.of(job(id)); }
    const PriorityTable& priorities() const { return priorities_; }
    void set_priorities(PriorityTable newer) { priorities_ = std::move(newer); }
    // What priorities are measured against (core/schedule/priority.cc), and data of accounting.
    const PriorityScale& priority_scale() const { return *priority_scale_; }
    void set_priority_scale(std::shared_ptr<const PriorityScale> scale);
    const std::shared_ptr<const FairShare>& fair_share() const { return fair_share_; }
    void set_fair_share(std::shared_ptr<const FairShare> shares) {
        fair_share_ = std::move(shares);
        visible_change_ = true;
    }
    std::optional<Time> priorities_due() const { return priorities_due_; }  // if they change
    void set_priorities_due(std::optional<Time> due) { priorities_due_ = due; }

    void want_pass() { wanted_pass_ = WantedPass::Any; }  // a change may let a job start
    void want_pass_for_new_jobs() { wanted_pass_ = std::max(wanted_pass_, WantedPass::NewJobs); }
    WantedPass take_wanted_pass() { return std::exchange(wanted_pass_, WantedPass::None); }

    // The controller handled no messages for so long, until now.
    void was_blocked(Time now, Seconds length);
    Time blocked_until() const { return blocked_until_; }
    Seconds blocked_time() const { return blocked_time_; }  // in total

    // The job of an earlier submission with this key.
    std::optional<JobId> find_submission(const std::string& key) const;
    // Whether nodes may belong to a user, or users may be excluded from a partition: from the first
    // time on.
    bool depends_on_users() const { return depends_on_users_; }
    void now_depends_on_users() { depends_on_users_ = true; }

    PowerWatch& power_watch() { return power_watch_; }

    // Nodes whose reboot is requested and not ordered yet.
    const std::set<NodeIndex>& wanted_reboots() const { return wanted_reboots_; }
    void want_reboot(NodeIndex node) { wanted_reboots_.insert(node); }
    void want_no_reboot(NodeIndex node) { wanted_reboots_.erase(node); }

    // Jobs since the last take_tally().
    JobTally& tally() { return tally_; }
    JobTally take_tally() { return std::exchange(tally_, {}); }

    ChangedRecords take_changes();
    // A snapshot, when something readers can see has changed since the last one.
    std::shared_ptr<const Snapshot> take_snapshot(Time now);
    // All that questions about the plan need (core/question.h), in its current state. Other threads
    // may read it. Returns the same copy as before if nothing has changed since.
    std::shared_ptr<const Cluster> copy_for_questions();

private:
    Cluster();  // empty, to be filled by copy_for_questions()
    void build_nodes(Time now);
    void build_partitions();
    void order_nodes(Partition& partition) const;
    void restore_damaged(const StoredState& stored, Time now);

    std::shared_ptr<const Settings> settings_;
    CowTable<Job> jobs_;
    EditLock job_edit_;
    CowTable<Node> nodes_;
    EditLock node_edit_;
    std::unordered_map<std::string, NodeIndex> node_index_;
    std::vector<std::string> node_names_;
    std::shared_ptr<std::vector<Partition>> partitions_;
    std::set<Timer> timers_;
    WantedPass wanted_pass_ = WantedPass::None;
    Time blocked_until_{};
    Seconds blocked_time_{0};
    std::unordered_map<std::string, JobId> submissions_;  // by idempotency key
    bool depends_on_users_ = false;
    std::set<NodeIndex> wanted_reboots_;
    PowerWatch power_watch_;
    std::shared_ptr<const FairShare> fair_share_ = std::make_shared<FairShare>();
    std::optional<Time> priorities_due_;
    std::unique_ptr<WaitingJobs> waiting_;
    std::unique_ptr<Scheduler> scheduler_;
    std::shared_ptr<const PlanView> plan_;
    std::set<std::uint32_t> touched_nodes_;
    bool layout_is_old_ = true;
    bool nodes_are_unsorted_ = false;
    Tres total_tres_;
    Interner<JobTerms> terms_;
    Interner<PackedDetails> details_;
    std::uint32_t next_job_id_ = 1;
    std::shared_ptr<const std::vector<DamagedRow>> damaged_ =
        std::make_shared<const std::vector<DamagedRow>>();
    std::set<std::uint32_t> damaged_jobs_;  // their ids are not given to new jobs
    bool next_job_id_changed_ = false;
    std::set<std::uint32_t> changed_jobs_;
    std::vector<JobId> forgotten_jobs_;
    FactBook facts_;
    JobTally tally_;
    std::uint64_t delivered_facts_ = 0;
    std::set<std::uint32_t> changed_nodes_;
    bool visible_change_ = true;
    std::shared_ptr<const PriorityScale> priority_scale_;
    PriorityTable priorities_;  // only those newer than the records
    ReservationTable reservations_;
    Arrays arrays_;
    Clients clients_;
    Steps steps_;
    GpuLoads gpu_loads_;
    LicensesInUse licenses_;
    LimitBook limits_;
    UsageBook usage_;
    TriggerBook triggers_;
    std::shared_ptr<const Policy> policy_;
    std::shared_ptr<const AssociationTree> associations_;
    std::uint64_t associations_version_ = 0;
    bool policy_changed_ = false;
    std::uint64_t version_ = 0;
    struct CopyState {
        std::uint64_t version, passes, layout_version;
        bool operator==(const CopyState&) const = default;
    };
    CopyState copied_state_{};
    std::shared_ptr<const Cluster> copied_;  // null: something visible has changed since
};

// core/apply.cc: applies one event.
void apply(Cluster& cluster, Time now, const Event& event, Effects& effects);
// core/clock_step.cc
void on_clock_stepped(Cluster& cluster, Time now, const ClockStepped& event, Effects& effects);
// Starts what can start, after a batch of events. Bounded by what changed.
PassReport schedule(Cluster& cluster, Time now, Effects& effects);
// Checks what must hold after every event; the text says what does not.
std::optional<std::string> broken_invariant(const Cluster& cluster);

}  // namespace sluice
