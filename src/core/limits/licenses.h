// core/limits/licenses.h
//
// Licences: counted by name, taken when a job starts, given back when its last node is clean.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster.h"
#include "core/limits/count_timeline.h"
#include "model/license.h"

namespace sluice {

// Refuses names that are not in slurm.conf and counts above the total.
Result<void> check_licenses(const Cluster& cluster, std::string_view text);

// The same for licences of a reservation; those of overlapping ones are not available.
Result<void> check_reserved_licenses(const Cluster& cluster, const Reservation& draft);

// Reason::Licenses while too few are free for the job to start: what reservations keep for their
// own jobs during its run time is not free for others.
std::optional<Reason> licenses_missing(const Cluster& cluster, const Job& job, Time now);

// Licences of one name that a reservation keeps from the job while it would run.
struct LicensesKept {
    const Reservation* reservation = nullptr;
    std::uint32_t count = 0;
};
std::vector<LicensesKept> licenses_kept_from(const Cluster& cluster, const Job& job, Time now,
                                             const std::string& name);

// What the job takes now ("matlab:2"): all it asked for, or the first alternative that is free.
std::string choose_licenses(const Cluster& cluster, const Job& job, Time now);
std::vector<LicenseCount> licenses_held_by(const Job& job);
void hold_licenses(Cluster& cluster, const Job& job);  // job.run.licenses_held
void give_licenses(Cluster& cluster, const Job& job);
std::vector<JobId> license_holders(
    const Cluster& cluster);  // any licences, in the order of their ids

// How many will be free over time: holders give theirs back at their time limit, reservations keep
// theirs, and a job with an estimated start takes its own for as long as it may run.
class LicensePlan {
public:
    LicensePlan(const Cluster& cluster, Time now) : cluster_(cluster), now_(now) {}

    // The first time not before `from` at which all it asks for is free until its end; none: never.
    std::optional<Time> earliest(const Job& job, Time from);
    void take(const Job& job, Time start);

private:
    CountTimeline& line_of(const std::string& name);
    std::optional<Time> earliest(const Job& job, const LicenseCount& wanted, Time from);

    const Cluster& cluster_;
    Time now_;
    std::map<std::string, CountTimeline> lines_;
};

}  // namespace sluice
