// core/schedule/singletons.h
//
// --dependency=singleton: one job of a user and name at a time, in the order of their ids. A group
// is kept only while one of its singletons has not started, so that other jobs cost nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/cow_table.h"
#include "model/job.h"

namespace sluice {

class Singletons {
public:
    // The id of the array (or of the job), then the job's id: tasks of one array do not wait for
    // each other.
    using Key = std::pair<JobId, JobId>;
    static Key key_of(const Job& job) { return {job.array_job.value_or(job.id), job.id}; }

    bool empty() const { return groups_.empty(); }
    // The jobs of its user and name that have not ended; none: they are not counted.
    const std::set<Key>* live_beside(const Job& job) const;

    // Whether the singleton is the first of its group, and no other job of the group runs. It is
    // in the group from now on.
    bool may_run(const Job& job, const CowTable<Job>& jobs);
    // New, split off, started or requeued. Nothing happens if there is no group.
    void put(const Job& job);
    // It has ended, or has another name now.
    void drop(const Job& job);
    // The singletons of the job's group that may be next.
    std::vector<JobId> next(const Job& job) const;

    // Groups have exactly the jobs of their user and name that have not ended.
    std::optional<std::string> broken(const CowTable<Job>& jobs) const;

private:
    // The jobs of one user and name that have not ended.
    struct Group {
        std::set<Key> live;
        std::set<Key> started;
        std::set<JobId> waiting;
        std::set<JobId> let_go;  // need not wait any more, but have not started

        void put(const Job& job);
        bool is_first(const Job& job) const;
        std::optional<std::string> broken(const CowTable<Job>& jobs) const;
    };
    using GroupKey = std::pair<UserId, std::string>;  // user and name
    static GroupKey group_of(const Job& job);
    Group& make(const Job& job, const CowTable<Job>& jobs);

    std::map<GroupKey, Group> groups_;
};

}  // namespace sluice
