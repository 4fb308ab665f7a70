// core/schedule/pass.h
//
// One scheduling pass, and the steps it is made of.
#pragma once

#include "core/limits/allowance.h"
#include "core/plan_view.h"
#include "core/schedule/scheduler.h"
#include "core/schedule/start_finder.h"

namespace sluice {

class Pass {
public:
    Pass(Cluster& cluster, Time now, Effects& effects);

    void run_full(const std::vector<NodeIndex>& touched);
    // Whether all jobs that are new come after those that are booked.
    bool new_ones_come_last();
    // Touched nodes and new jobs only; bookings of the last full plan stand.
    // Whether that was enough: a job without any start is for a full pass to judge.
    bool run_quick(const std::vector<NodeIndex>& touched);

private:
    // A class in one of its partitions, and how far down its jobs we are.
    struct Entry {
        JobClass* job_class;
        JobClass::InPartition* in;
        std::uint32_t tier;
        QueueKey key;
        bool is_fresh;  // its first job has not been looked at before this pass
        std::optional<QueueKey> joined = {};  // the first of those behind it who have not been
        bool is_awaited = false;  // others have made room for its first job, or are about to
        bool stays = false;       // look at the same record once more
        std::uint32_t booked = 0;
        std::uint32_t allowed = kNoLimit;  // so many of its jobs may start under the limits of QOS
        PlanTime last_start = 0;           // of its last booking: the next one is not earlier
        Shortlist shortlist = {};
        const Reservation* reservation = nullptr;  // whose nodes it may use
        std::shared_ptr<const std::vector<NodeIndex>> nodes =
            {};  // of it in the partition; none: all of the partition
    };
    enum class Outcome { Started, Blocked, Skipped, Limited };

    std::vector<Entry> entries();
    static bool comes_first(const Entry& a, const Entry& b);
    // By a magnetic reservation: it may find a place outside yet.
    static bool is_attracted(const Entry& entry) {
        return entry.reservation && entry.job_class->sample->reservation.empty();
    }
    bool advance(Entry& entry) const;
    bool has_more_tasks(const Entry& entry, const Job& job) const;
    Search search_for(const Entry& entry, const Job& job) const;

    bool may_run(const Job& job);
    // Limits of QOS keep the whole class; what it would hold is known once it has a place.
    bool is_limited(Entry& entry, const Job& job, const Holding& held = {});
    void park_here(JobId id, Reason reason, std::string detail);
    Outcome try_start(Entry& entry, JobId id);
    Choice at_once(Entry& entry, const Search& search);
    bool waits_as_before(const Entry& entry, const std::vector<NodeIndex>& touched) const;
    bool try_quickly(Entry& entry, const std::vector<NodeIndex>& touched, int& wide_searches);
    bool start(Entry& entry, JobId id, const Choice& choice,
               std::optional<TimeLimit> shortened = {});
    bool start_shortened(Entry& entry, JobId id);
    void note_blocked(Entry& entry, JobId id);
    void add_entries(JobClass& job_class, JobClass::InPartition& in, std::vector<Entry>& found);
    // blocked.cc: what squeue shows after ReqNodeNotAvail when reservations keep it from starting;
    // empty: they do not.
    std::string kept_for_others(const Entry& entry, const Job& job);
    // blocked.cc: it can never start as things are. Too few nodes are in service, or none will do.
    void note_no_start(const Entry& entry, const Job& job);
    void show_no_starts();
    bool waits_in_vain(JobId id) const;
    // blocked.cc: no nodes will do any more, even if all were free.
    void give_up_on(JobId id);
    void clear_old_reasons();
    std::vector<ClassObstacle> obstacles();
    bool may_book(const Entry& entry) const;
    bool book(Entry& entry, const Job& job);
    // quick_pass.cc: those of the class who have no booking yet. What came of it for the first of
    // them.
    enum class Line { AsBefore, Booked, NoStart };
    Line book_line(Entry& entry);
    // What squeue --start shows: bookings; those behind them in rounds of as many.
    std::shared_ptr<const std::vector<StartEstimate>> estimates();
    // Of those that wait for something other than a place which will come in its time.
    void foretell_parked(std::vector<StartEstimate>& found);
    std::vector<bool> planned_nodes() const;
    std::vector<bool> behind_tier() const;
    void publish(bool with_estimates);
    // preempt.cc: makes room by ending others, if it may and if that is all it takes.
    bool preempt_for(Entry& entry, JobId id);  // whether it has started
    // share.cc: on CPUs that others hold, where all of them share.
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
    bool has_new_parked_ = false;  // who have not been foretold a start yet
    std::vector<bool> stopped_;    // by partition: strictly in order, and one waits
    std::uint32_t booked_ = 0;
    std::vector<std::uint32_t> booked_in_;                        // by partition
    std::unordered_map<std::uint32_t, std::uint32_t> booked_of_;  // by user
    std::uint64_t steps_for_more_ = 0;  // second and later bookings of classes
    int preemption_searches_ = 0;
    int share_searches_ = 0;
};

PlanTime length_of(const JobClass& job_class);
PlanTime length_of(TimeLimit limit);
Time switches_until(const Cluster& cluster, const Job& job);  // how long --switches is insisted on
SelectOptions select_options(const Cluster& cluster, Time now, const Need& need, const Job& job);

// Why jobs of the class may not run in the partition, whatever is free.
std::optional<Reason> partition_forbids(const Cluster& cluster, const JobClass& job_class,
                                        const Need& need);
// The sentence that stands for QosNotAllowed.
std::string qos_not_allowed(const JobTerms& wish, const PartitionConfig& config);
std::vector<NodeIndex> nodes_in(const Choice& choice);
// Whether that for which a job is parked will come as time goes by.
bool comes_in_time(Reason reason);
bool array_limit_reached(const Cluster& cluster, const Job& job);
// Nodes that are named and cannot be had now, as squeue shows them; empty: none.
std::string unavailable_nodes(const Cluster& cluster, const Need& need);

}  // namespace sluice
