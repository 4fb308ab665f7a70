// core/cluster.h
//
// All state of a cluster. One thread changes it, through apply(); readers get snapshots. Records
// are changed through edit_*, which also tells the store what to write.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cow_table.h"
#include "core/effect.h"
#include "core/event.h"
#include "core/interner.h"
#include "core/limits/limit_book.h"
#include "core/plan_view.h"
#include "core/priority_table.h"
#include "core/schedule/fair_share.h"
#include "core/settings.h"
#include "model/stored.h"

namespace sluice {

struct PriorityScale;  // core/schedule/priority.h

// What is in use of a node. CPUs and devices by index: nothing is given out twice.
struct GresPool {
    std::string name;
    std::string type;
    std::uint64_t count = 0;
    bool has_devices = false;
    std::vector<bool> used;  // by device index, when there are devices
    std::uint64_t used_count = 0;
    std::uint32_t first_index = 0;  // of this type among all devices of the name (CUDA numbering)
    std::vector<std::vector<std::uint32_t>>
        cores;  // by device: the cores close to it; empty: unknown
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
    Seconds deaf_before{0};  // Cluster::deaf at that time
    bool watched = false;    // a NodeTimeout timer is set
    Seconds clock_ahead{0};  // relative to the controller's; see core/node/clock.cc
    Seconds clock_steps{0};  // by how much its clock was set since it registered, as reported
    std::optional<Time> last_busy;
    std::string comment;
    bool removed = false;          // no longer in slurm.conf
    std::optional<Reboot> reboot;  // core/node/reboot.cc

    std::vector<std::uint8_t> cpu_used;  // by CPU id: how many jobs run on it
    std::vector<bool> cpu_reserved;      // by CPU id: kept from jobs (CoreSpecCount, CpuSpecList)
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
};

// The base state and flags that are shown, including use by jobs.
NodeBase node_base(const Node& node);
std::uint32_t node_flags(const Node& node);
StoredNode stored_form(const Node& node);
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
    std::shared_ptr<const std::vector<Qos>> qos;
    PriorityTable priorities;  // only those newer than the records
    std::uint32_t next_job_id = 0;
    std::shared_ptr<const std::vector<DamagedRow>> damaged;
};

// Order of waiting jobs: highest priority first.
struct QueueKey {
    std::uint32_t priority = 0;
    JobId job;
    bool operator<(const QueueKey& other) const {
        return priority != other.priority ? priority > other.priority : job < other.job;
    }
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
};

struct Timer {
    Time due;
    TimerKind kind = TimerKind::Begin;
    std::uint32_t subject = 0;  // job id or node index
    auto operator<=>(const Timer&) const = default;
};

// Which awaited job: its id or its array's, and the task; kWholeJob: the job or all of the array.
using AwaitedKey = std::pair<std::uint32_t, std::uint32_t>;
constexpr std::uint32_t kWholeJob = 0xffffffff;

// The jobs of one user and name that have not ended, while a singleton among them waits. Keys are
// the id of the array (or of the job), then the job's id: tasks of one array do not wait for each
// other.
struct NameGroup {
    using Key = std::pair<JobId, JobId>;
    std::set<Key> live;
    std::set<Key> started;
    std::set<JobId> waiting;
    std::set<JobId> let_go;  // need not wait any more, but have not started
};

// The srun that a live step was granted to. It may end before it gets the answer, or before it has
// launched the step on its nodes.
struct StepGrant {
    RequestId request;
    StepId step;
    Time until;                      // the step may not be launched after this
    std::vector<NodeIndex> awaited;  // nodes that have not reported the launch
};

struct Waiter {
    RequestId request;
    WaitFor until = WaitFor::Ended;
    UserId user;
};

struct StepWaiter {
    RequestId request;
    Caller caller;
    StepWish wish;
};

// State of an array that is reported to its user as a whole (core/job/mail.h).
struct ArrayNews {
    bool has_begun = false;
    TaskEndings endings;  // so far; tasks are deleted before the last one has ended
};

struct Scheduler;

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
    Job& edit_job(JobId id);    // marks it changed
    Job& edit_shown(JobId id);  // only derived values: readers see them, the store does not
    // The same for many at once: for all that changes(job), in chunks that want(summary).
    template <typename Want, typename Changes, typename Edit>
    void edit_shown_where(Want want, Changes changes, Edit edit) {
        visible_change_ = true;
        jobs_.edit_where(want, changes, edit);
    }
    Job& add_job(Job job);
    void forget_job(JobId id);
    // The store keeps a row of it for accounting. The last run of a job needs no call: it is
    // recorded when the job has ended.
    void record_end(EndedRun run) { ended_runs_.push_back(std::move(run)); }
    void record_end(EndedStep step) { ended_steps_.push_back(std::move(step)); }
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
    Node& edit_node(NodeIndex index);   // visible to readers; see also mark_stored
    void mark_stored(NodeIndex index);  // something of it must survive a restart
    std::uint32_t node_count() const { return static_cast<std::uint32_t>(node_names_.size()); }

    const std::vector<Partition>& partitions() const { return *partitions_; }
    std::shared_ptr<const std::vector<Partition>> partitions_ptr() const { return partitions_; }
    const Partition* find_partition(std::string_view name) const;
    const Partition* default_partition() const;
    std::vector<Partition>& edit_partitions();
    void nodes_were_reweighted();  // partitions sort their nodes again
    // slurm.conf was read again: node indexes of known names stay.
    void apply_settings(std::shared_ptr<const Settings> settings, Time now);

    // In the order of creation (core/limits/reservations.h).
    const std::vector<Reservation>& reservations() const { return *reservations_; }
    void put_reservation(Reservation reservation);  // replaces the one of that name, if any
    void drop_reservation(const std::string& name);

    const std::vector<Qos>& qos() const {
        return *qos_;
    }  // in the order of creation (core/limits/qos.h)
    void set_qos(std::vector<Qos> qos);

    void add_timer(Timer timer) { timers_.insert(timer); }
    void shift_timers(Seconds by);  // except timers by the wall clock
    std::optional<Time> next_timer() const;
    std::vector<Timer> due_timers(Time now);
    bool is_end_awaited() const;  // whether a client or a job waits for the end of a job

    // The queue and the plan (core/schedule/scheduler.h).
    Scheduler& scheduler() { return *scheduler_; }
    const Scheduler& scheduler() const { return *scheduler_; }
    // Nodes that were edited since the last call.
    std::vector<NodeIndex> take_touched_nodes();
    void touch_nodes_of(const Job& job);  // its end, or what it holds of them, has changed
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
    std::shared_ptr<const FairShare> fair_share = std::make_shared<FairShare>();
    std::optional<Time> priorities_due;  // the next calculation

    std::set<JobId> parked;        // wait for something other than free resources
    bool schedule_wanted = false;  // something changed that may let a job start
    bool has_new_jobs = false;     // only new jobs were queued: a pass for these

    std::unordered_map<std::uint32_t, std::vector<Waiter>> waiters;           // by job id
    std::unordered_map<std::uint32_t, std::vector<StepWaiter>> step_waiters;  // by job id
    std::unordered_map<std::uint32_t, std::vector<StepGrant>> step_grants;    // by job id
    Time listening_since{};  // end of the last time in which the controller was blocked
    Seconds deaf{0};         // how long it was blocked in total; not counted as silence of nodes
    std::unordered_map<std::uint32_t, Time>
        deserted;  // live jobs whose salloc is gone: when they end
    std::unordered_map<std::string, JobId> submissions;  // by idempotency key
    std::unordered_map<std::uint32_t, std::vector<JobId>>
        array_members;  // array id: records of tasks that were split off
    std::unordered_map<std::uint32_t, std::uint32_t>
        array_running;  // array id: tasks that hold nodes

    std::unordered_map<std::uint32_t, ArrayNews> array_news;  // by array id
    std::unordered_map<std::uint32_t, std::set<JobId>>
        array_waiting;  // array id: parked for its %limit

    // Kept by core/job/dependency.cc and singleton.cc.
    std::map<AwaitedKey, std::set<JobId>> dependents;                 // by awaited job
    std::map<std::pair<UserId, std::string>, NameGroup> name_groups;  // by user and job name
    std::map<std::string, std::uint32_t> licenses_used;               // core/limits/licenses.cc
    LimitBook limits;                                                 // core/limits/allowance.h
    std::set<JobId> license_waiting;                                  // parked for a licence
    bool users_own_nodes = false;        // or are barred from a partition
    std::set<NodeIndex> reboots_wanted;  // requested, not ordered yet

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
    void set_restored_qos(std::vector<Qos> table);

    std::shared_ptr<const Settings> settings_;
    CowTable<Job> jobs_;
    CowTable<Node> nodes_;
    std::unordered_map<std::string, NodeIndex> node_index_;
    std::vector<std::string> node_names_;
    std::shared_ptr<std::vector<Partition>> partitions_;
    std::set<Timer> timers_;
    std::unique_ptr<Scheduler> scheduler_;
    std::shared_ptr<const PlanView> plan_;
    std::set<std::uint32_t> touched_nodes_;
    bool layout_is_old_ = true;
    Interner<JobTerms> terms_;
    Interner<PackedDetails> details_;
    std::uint32_t next_job_id_ = 1;
    std::shared_ptr<const std::vector<DamagedRow>> damaged_ =
        std::make_shared<const std::vector<DamagedRow>>();
    std::set<std::uint32_t> damaged_jobs_;  // their ids are not given to new jobs
    bool next_job_id_changed_ = false;
    std::set<std::uint32_t> changed_jobs_;
    std::vector<JobId> forgotten_jobs_;
    std::vector<EndedRun> ended_runs_;
    std::vector<EndedStep> ended_steps_;
    std::vector<RunId> accounted_;
    std::set<std::uint32_t> changed_nodes_;
    bool visible_change_ = true;
    std::shared_ptr<const PriorityScale> priority_scale_;
    PriorityTable priorities_;  // only those newer than the records
    std::shared_ptr<const std::vector<Reservation>> reservations_ =
        std::make_shared<std::vector<Reservation>>();
    std::set<std::string> changed_reservations_;  // by name, including deleted ones
    std::shared_ptr<const std::vector<Qos>> qos_;
    bool qos_changed_ = false;
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
void schedule(Cluster& cluster, Time now, Effects& effects);
// Checks what must hold after every event; the text says what does not.
std::optional<std::string> broken_invariant(const Cluster& cluster);

}  // namespace sluice
