// core/schedule/planner.h
//
// The plan of this cluster: what runs, until when, and the bookings. The timeline of a node is
// rebuilt from the records whenever the node was touched, so it always agrees with them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/place/select.h"
#include "core/schedule/plan.h"

namespace sluice {

struct Booking {
    JobId job;
    std::size_t partition = 0;  // index in Cluster::partitions()
    PlanTime start = 0, end = 0;
    Choice nodes;
    bool hidden = false;  // ignored for the moment
};

class Planner {
public:
    using Number = std::uint32_t;  // of a booking

    // Starts from what runs now; no bookings.
    void reset(const Cluster& cluster, Time now);
    // The same, if only `touched` nodes have changed since: rebuilds those and the booked ones.
    void begin_anew(const Cluster& cluster, Time now, const std::vector<NodeIndex>& touched);
    // Nodes have changed without being reported to the planner: the next plan starts from scratch.
    void lose_track() { is_whole_ = false; }
    // Rebuilds the timeline of a node.
    void refresh(const Cluster& cluster, NodeIndex node, Time now);

    void book(Booking booking);
    // The earliest of a job; a waiting array is one record and may have several.
    std::optional<Number> find_booking(JobId job) const;
    std::vector<Number> bookings_of(JobId job) const;  // the latest first
    bool has_bookings() const { return !of_job_.empty(); }
    const Booking& booking(Number number) const { return bookings_[number]; }
    void hide(Number number);  // hides a booking until
    void show(Number number);  // it is shown again
    void drop_hidden(Number number);
    // The same for a running job: all it holds, or its CPUs only.
    enum class Hide : std::uint8_t { All, Cpus };
    void hide_job(const Cluster& cluster, const Job& job, Hide what, Time now);
    void show_job(const Cluster& cluster, const Job& job, Time now);
    // Adds CPUs for an interval: other jobs hold them and would share. Lasts until the next
    // refresh().
    void add_cpus(NodeIndex node, std::uint32_t cpus, PlanTime from, PlanTime until);
    // Reservations keep their nodes from all jobs. The nodes of the open reservation (nullptr:
    // none) are as free as running jobs and bookings leave them. One is open at a time.
    // `delays`: as a job sees them that may overlap the beginning of others (--signal=R:...).
    void open_reservation(const Cluster& cluster, const Reservation* reservation, Time now,
                          bool delays = false);
    // Whether the node is reserved for others in the interval, given the open reservation; and what
    // for.
    enum class Kept : std::uint8_t { No, ForOthers, ForMaintenance };
    Kept kept(NodeIndex node, PlanTime from, PlanTime until) const;
    template <typename Visit>
    void for_each_booking(Visit visit) const {
        for (const Booking& booking : bookings_) {
            if (!booking.nodes.empty()) visit(booking);
        }
    }

    const std::vector<Number>& bookings_on(NodeIndex node) const { return on_node_[node.value]; }
    // The bookings that are not hidden and that `wanted` selects.
    template <typename Wanted>
    std::vector<Number> shown_bookings(Wanted wanted) const {
        std::vector<Number> found;
        for (Number i = 0; i < bookings_.size(); ++i) {
            const Booking& booking = bookings_[i];
            if (!booking.nodes.empty() && !booking.hidden && wanted(booking)) found.push_back(i);
        }
        return found;
    }

    const Plan& plan() const { return plan_; }
    PlanTime tick(Time time) const { return plan_.tick(time); }
    Time time(PlanTime tick) const { return plan_.time(tick); }
    // The user that has the node exclusively, and until when.
    struct Owner {
        std::optional<UserId> user;
        PlanTime until = 0;
    };
    const Owner& owner(NodeIndex node) const { return owners_[node.value]; }

private:
    void take_running(const Cluster& cluster, const Node& node, Time now);
    void take_drained(const Cluster& cluster, const Node& node);

    Plan plan_;
    bool is_whole_ = false;  // the timelines of all nodes are known
    std::uint64_t layout_version_ = 0;
    std::set<NodeIndex> restless_;   // nodes with overdue jobs: their timelines move with the clock
    std::vector<Booking> bookings_;  // in the order of booking; empty ones are gone
    std::vector<std::vector<Number>> on_node_;
    std::unordered_map<std::uint32_t, std::vector<Number>> of_job_;  // earliest last
    std::vector<Owner> owners_;
    std::map<JobId, Hide> hidden_jobs_;

    struct Fence {  // a reservation, as the plan sees it
        std::string name;
        bool maintenance = false;
        std::vector<NodeIndex> nodes;
        std::vector<std::pair<PlanTime, PlanTime>> times;
        // For jobs that may delay its jobs (MaxStartDelay); absent: there is no difference.
        std::optional<std::vector<std::pair<PlanTime, PlanTime>>> late_times;
        std::vector<std::int32_t> cpus;  // by node, where it has only some of them
        bool caps = true;                // its jobs have these CPUs and no others
    };
    struct Use {
        PlanTime from, until;
        std::int32_t cpus;
    };
    std::vector<std::pair<PlanTime, PlanTime>> late_times_of(const Reservation& reservation,
                                                             Time now) const;
    void fence_in(const Cluster& cluster, NodeIndex node, std::uint32_t number, Time now);
    std::vector<Use> uses_by(const Cluster& cluster, NodeIndex node, const std::string& reservation,
                             bool its_own, Time now) const;
    bool is_up(const Fence& fence, NodeIndex node) const;
    const std::vector<std::pair<PlanTime, PlanTime>>& times_of(const Fence& fence) const {
        return delays_ && fence.late_times ? *fence.late_times : fence.times;
    }
    std::vector<Fence> fences_;
    std::vector<std::vector<std::uint32_t>> fences_on_node_;  // empty: there are no reservations
    std::optional<std::uint32_t> open_fence_;
    bool delays_ = false;  // the job that is planned may delay those of a reservation
};

// --signal=R:...: it may overlap the beginning of reservations that have a MaxStartDelay.
inline bool may_delay_others(const JobTerms& terms) {
    return terms.warn_signal && terms.warn_signal->allow_reservation;
}
inline bool may_delay_others(const Job& job) {
    return may_delay_others(*job.request);
}

// When a running job gives its nodes back, as far as is known.
Time expected_end(const Cluster& cluster, const Job& job, Time now);
// How long it may run; without a limit, the longest time that is planned.
Seconds longest_run(const Job& job);

}  // namespace sluice
