// core/schedule/pass.h
//
// One scheduling pass, and the steps it is made of.
#pragma once

#include "core/limits/allowance.h"
#include "core/plan_view.h"
#include "core/schedule/scheduler.h"
#include "core/schedule/start_finder.h"
#include "core/schedule/waiting.h"

namespace sluice {

class Pass {
public:
    Pass(Cluster& cluster, Time now, Effects& effects);

    void run_full(const std::vector<NodeIndex>& touched);
    // Whether all new jobs come after the booked ones.
    bool new_ones_come_last();
    // Looks at touched nodes and new jobs only; bookings of the last full plan stand. Returns false
    // if a full pass is needed because a job has no start at all.
    bool run_quick(const std::vector<NodeIndex>& touched);
    PassReport report() const;  // of the run

private:
    // A class in one of its partitions, and how far down its jobs we are.
    struct Entry {
        JobClass* job_class;
        JobClass::InPartition* in;
        std::uint32_t tier;
        QueueKey key;
        bool is_fresh;                        // its first job was not tried before this pass
        std::optional<QueueKey> joined = {};  // first of its later jobs that were not tried
        bool is_awaited = false;              // jobs are or will be preempted for its first job
        bool stays = false;                   // look at the same record once more
        std::uint32_t booked = 0;
        std::uint32_t allowed = kNoLimit;  // how many of its jobs limits of QOS let start
        PlanTime last_start = 0;           // of its last booking: the next one is not earlier
        Shortlist shortlist = {};
        const Reservation* reservation = nullptr;  // whose nodes it uses
        std::shared_ptr<const std::vector<NodeIndex>> nodes =
            {};  // of it in the partition; none: all of the partition
    };
    enum class Outcome { Started, Blocked, Skipped, Limited };

    std::vector<Entry> entries();
    static bool comes_first(const Entry& a, const Entry& b);
    // Whether a magnetic reservation offers the entry: the job may still start outside of it.
    static bool is_attracted(const Entry& entry) {
        return entry.reservation && entry.job_class->sample->reservation.empty();
    }
    bool advance(Entry& entry) const;
    bool has_more_tasks(const Entry& entry, const Job& job) const;
    Search search_for(const Entry& entry, const Job& job) const;

    bool may_run(const Job& job);
    // Limits of QOS block the whole class; `held` is what it would hold, once a placement is known.
    bool is_limited(Entry& entry, const Job& job, const Holding& held = {});
    void park_here(JobId id, Reason reason, std::string detail);
    Outcome try_start(Entry& entry, JobId id);
    Choice at_once(Entry& entry, const Search& search);
    bool waits_as_before(const Entry& entry, const std::vector<NodeIndex>& touched) const;
    bool try_quickly(Entry& entry, const std::vector<NodeIndex>& touched, int& wide_searches);
    bool start(Entry& entry, JobId id, const Choice& choice,
               std::optional<TimeLimit> shortened = {});
    bool start_shortened(Entry& entry, JobId id);
    bool overtakes(const Entry& entry) const;
    void note_blocked(Entry& entry, JobId id);
    void add_entries(JobClass& job_class, JobClass::InPartition& in, std::vector<Entry>& found);
    // blocked.cc: what squeue shows after ReqNodeNotAvail when reservations block the job; empty:
    // they do not.
    std::string kept_for_others(const Entry& entry, const Job& job);
    // blocked.cc: it cannot start at present: too few nodes are in service, or none fits.
    void note_no_start(const Entry& entry, const Job& job);
    void show_no_starts();
    bool waits_in_vain(JobId id) const;
    // blocked.cc: no node would fit, even if all were free.
    void give_up_on(JobId id);
    void clear_old_reasons();
    std::vector<ClassObstacle> obstacles();
    bool may_book(const Entry& entry) const;
    bool book(Entry& entry, const Job& job);
    // quick_pass.cc: books the jobs of the class that have no booking. NoStart: the first of them
    // cannot start.
    enum class Line { AsBefore, Booked, NoStart };
    Line book_line(Entry& entry);
    // What squeue --start shows: bookings; jobs behind them start in rounds of as many.
    std::shared_ptr<const std::vector<StartEstimate>> estimates();
    // Estimated starts of jobs that are parked for a reason that passes with time.
    void estimate_parked(std::vector<StartEstimate>& found);
    std::vector<bool> planned_nodes() const;
    std::vector<bool> behind_tier() const;
    void publish(bool with_estimates);
    // preempt.cc: whether to try that for a job that could not start.
    bool may_preempt_for(const Entry& entry, Outcome outcome) const;
    // preempt.cc: preempts other jobs if it may and if that is enough to start the job.
    bool preempt_for(Entry& entry, JobId id);  // whether it has started
    // share.cc: starts it on CPUs that other jobs hold, where all of them share.
    bool start_shared(Entry& entry, JobId id);
    bool breaks_no_booking(const Allocation& allocation, const Search& search) const;

    Cluster& cluster_;
    Scheduler& scheduler_;
    Time now_;
    Effects& effects_;
    Detail detail_;
    StartFinder finder_;
    std::vector<std::optional<JobId>> first_blocked_;  // by partition
    std::map<std::string, JobId> first_in_reservation_;
    std::map<ClassIndex, Obstacle> no_start_;
    std::vector<std::optional<JobId>>
        heads_;  // by partition: first in line, even if it waits in vain
    bool is_full_ = false;
    bool has_new_parked_ = false;  // without an estimated start
    std::vector<bool> stopped_;    // by partition: jobs start strictly in order, and one waits
    std::uint32_t booked_ = 0;
    std::vector<std::uint32_t> booked_in_;                        // by partition
    std::unordered_map<std::uint32_t, std::uint32_t> booked_of_;  // by user
    std::uint64_t steps_for_more_ = 0;  // second and later bookings of classes
    int preemption_searches_ = 0;
    int share_searches_ = 0;
    PassReport report_;  // what is counted of it while it runs
};

PlanTime length_of(const JobClass& job_class);
PlanTime length_of(TimeLimit limit);
Time switches_until(const Cluster& cluster, const Job& job);  // how long --switches is insisted on
SelectOptions select_options(const Cluster& cluster, Time now, const Need& need, const Job& job);

// Why jobs of the class may not run in the partition, whatever is free.
std::optional<Reason> partition_forbids(const Cluster& cluster, const JobClass& job_class,
                                        const Need& need);
// The text that is shown for QosNotAllowed.
std::string qos_not_allowed(const JobTerms& demand, const PartitionConfig& config);
std::vector<NodeIndex> nodes_in(const Choice& choice);
// Whether the reason for which a job is parked will pass with time.
bool comes_in_time(Reason reason);
bool array_limit_reached(const Cluster& cluster, const Job& job);
// Nodes that the job names and that are not available now, as squeue shows them; empty: none.
std::string unavailable_nodes(const Cluster& cluster, const Need& need);

}  // namespace sluice
