// core/limits/reservations.h
//
// Which jobs may use a reservation, which ones a job waits for or runs in, and what happens at
// their start and end. How they are made and changed: reservation_change.cc. How they keep other
// jobs from their nodes: schedule/planner.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster.h"

namespace sluice {

// scontrol create, update and delete reservation (reservation_change.cc).
void on_change_reservation(Cluster& cluster, Time now, const ChangeReservation& event,
                           Effects& effects);

const Reservation* find_reservation(const Cluster& cluster, std::string_view name);
// By user, group, account and QOS.
bool may_use(const Reservation& reservation, UserId user, const JobTerms& demand);
// By users and groups only; which accounts and QOS a user has is not known here.
bool is_open_to(const Reservation& reservation, UserId user);
bool takes_jobs_of(const Reservation& reservation,
                   const std::string& partition);  // AllowedPartitions
// --reservation=a,b: whether all of them exist and the user may use them.
Result<void> check_reservations(const Cluster& cluster, UserId user, const JobTerms& demand);

bool names_reservation(const JobTerms& demand, const std::string& name);

// Whether the job waits for it or runs in it.
bool uses(const Job& job, const Reservation& reservation);
std::vector<const Reservation*> reservations_wanted(const Cluster& cluster, const JobTerms& demand);
// The requested reservations that the job may use; without a request the magnetic ones: "a,b".
std::string usable_reservations(const Cluster& cluster, const Job& job);

// Whether jobs of it may start now.
bool is_open(const Reservation& reservation, Time now);
// When a running job has to end because its reservation ends.
std::optional<Time> reserved_until(const Cluster& cluster, const Job& job);

// When it is closed to other jobs: now or next, and for a repeating one some later occurrences.
struct Interval {
    Time start;
    Time end;
};
std::vector<Interval> intervals_of(const Reservation& reservation);
bool meet_in_time(const Reservation& a, const Reservation& b);

// Checks soon whether reservations have lost a node.
void look_after_reservations(Cluster& cluster, Time now);
// A job waits again: removes reservations from its request that were deleted while it ran.
void leave_lost_reservations(Cluster& cluster, Time now, JobId id);
// Queues jobs again whose usable reservations have changed.
void reservations_have_changed(Cluster& cluster, Time now);
void on_reservation_timer(Cluster& cluster, Time now, Effects& effects);
void resolve_nodes(const Cluster& cluster, Reservation& reservation);  // names to indexes

}  // namespace sluice
