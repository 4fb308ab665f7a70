// accounting/hours.h
//
// What was used in each hour of some time, computed from jobs, events and reservations. Pure: the
// database is read and written by rollup.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "accounting/job_filter.h"
#include "base/time.h"
#include "model/accounted.h"
#include "model/accounting_question.h"

namespace sluice::accounting {

// An amount of each TRES times seconds.
using TresSeconds = std::map<std::string, std::uint64_t, TresLess>;
using UsageById = std::map<std::uint32_t, TresSeconds>;

class Hours {
public:
    Hours(Time from, Time to);  // both are starts of hours

    void add_job(const AccountedJob& job, const std::vector<UsageInterval>& suspended,
                 std::uint32_t wckey);  // its id; 0: none
    void add_cluster(const Tres& tres, UsageInterval when);
    void add_reservation(const AccountedReservation& reservation);
    void add_node_event(const AccountedEvent& event);  // after all reservations

    std::size_t size() const { return hours_.size(); }
    Time start(std::size_t hour) const { return starts_[hour]; }
    const UsageById& associations(std::size_t hour) const { return hours_[hour].associations; }
    const UsageById& wckeys(std::size_t hour) const { return hours_[hour].wckeys; }
    std::vector<ClusterUsageRow> cluster(std::size_t hour) const;

private:
    struct Hour {
        UsageById associations, wckeys;
        TresSeconds total, allocated, down, planned_down, waiting;
        std::map<std::string, TresSeconds> in_reservation;  // by jobs
        std::map<std::string, TresSeconds> reserved;
    };
    // Calls visit(hour, seconds) for the part of the interval in each hour.
    template <typename Visit>
    void for_each_part(UsageInterval interval, Visit visit);

    std::vector<Time> starts_;  // of each hour, and the end of the last one
    std::vector<Hour> hours_;
    struct Maintenance {
        UsageInterval when;
        std::vector<std::string> nodes;  // sorted
    };
    std::vector<Maintenance> maintenances_;
};

// What is left of an interval without others.
std::vector<UsageInterval> without(UsageInterval interval, std::vector<UsageInterval> removed);

}  // namespace sluice::accounting
