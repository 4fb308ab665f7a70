// core/limits/reservations.h
//
// Who may use a reservation, which ones a job waits for or runs in, and what happens when one
// begins and ends. How they are made and changed: reservation_change.cc. How they keep others from
// their nodes: schedule/planner.cc.
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
bool may_use(const Reservation& reservation, UserId user, const JobTerms& wish);
// Its users and groups alone; which accounts and QOS a user has is not known here.
bool is_open_to(const Reservation& reservation, UserId user);
bool takes_jobs_of(const Reservation& reservation,
                   const std::string& partition);  // AllowedPartitions
// --reservation=a,b: all of them are known, and the user may use them.
Result<void> check_reservations(const Cluster& cluster, UserId user, const JobTerms& wish);

bool names_reservation(const JobTerms& wish, const std::string& name);

// Waits for it or runs in it.
bool uses(const Job& job, const Reservation& reservation);
std::vector<const Reservation*> reservations_wanted(const Cluster& cluster, const JobTerms& wish);
// Those of its wish that the job may use; without one the magnetic ones that it may: "a,b".
std::string usable_reservations(const Cluster& cluster, const Job& job);

// May jobs of it start now?
bool is_open(const Reservation& reservation, Time now);
// When a running job has to leave because its reservation ends.
std::optional<Time> reserved_until(const Cluster& cluster, const Job& job);

// When it is taken from everybody else: now or next, and for a repeating one some times after.
struct Interval {
    Time start;
    Time end;
};
std::vector<Interval> intervals_of(const Reservation& reservation);
bool meet_in_time(const Reservation& a, const Reservation& b);

// A node may be lost to those that have it.
void look_after_reservations(Cluster& cluster, Time now);
// A job waits once more: those that it asked for may be gone since it ran.
void leave_lost_reservations(Cluster& cluster, Time now, JobId id);
// Jobs look again at what there is for them.
void reservations_have_changed(Cluster& cluster, Time now);
void on_reservation_timer(Cluster& cluster, Time now, Effects& effects);
void resolve_nodes(const Cluster& cluster, Reservation& reservation);  // names to indexes

}  // namespace sluice
