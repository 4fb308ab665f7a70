// core/schedule/queue.h
//
// The jobs that wait for free resources. Jobs that ask for the same form a class: if one job of a
// class cannot start, the others need not be tried. Where other pending jobs wait: waiting.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/job_id_set.h"
#include "core/limits/access.h"
#include "core/place/need.h"

namespace sluice {

// Order of waiting jobs: highest priority first.
struct QueueKey {
    std::uint32_t priority = 0;
    JobId job;
    bool operator<(const QueueKey& other) const {
        return priority != other.priority ? priority > other.priority : job < other.job;
    }
};

using ClassIndex = std::uint32_t;
using LimitGroups = std::vector<std::uint32_t>;  // limit_groups_of()
constexpr Seconds kPlanSoon{2};  // delay of a full pass for jobs without an estimated start
constexpr std::uint32_t kBookingsPerClass = 64;  // later jobs of a class have no booking

// What keeps all jobs of a class from starting, other than priority and free resources.
struct Obstacle {
    Reason reason = Reason::None;  // None: nothing does
    std::string detail = {};
    bool no_start = false;       // until a full pass, which looks at all nodes, finds a start
    bool too_few_nodes = false;  // its partition has too few in service
    bool is_limit = false;  // of a QOS or association: tried again when resources are given back
    bool operator==(const Obstacle&) const = default;
};

// What distinguishes jobs besides what they ask for: the user where nodes belong to users
// (--exclusive=user), user or account where limits are per user or account, the association where
// associations have limits.
struct QueueGrouping {
    bool by_user = false;
    bool by_account = false;
    std::uint64_t associations = 0;  // the version of the associations; 0: they do not matter
    bool operator==(const QueueGrouping&) const = default;
};

struct JobClass {
    ClassIndex index = 0;  // Job::wait_class of its jobs
    Obstacle obstacle;
    std::shared_ptr<const JobTerms> sample;  // one of them: shape, licences etc. are equal
    std::string partition;                   // as in Job::partition: may be a list
    TimeLimit time_limit;
    std::string stage_in;      // JobDetails::stage_in: it matters for placement
    std::string reservations;  // that they may use, requested or magnetic: "a,b"
    UserId user;               // if it matters for placement or limits; else kNobody
    LimitGroups limit_groups;  // of its partitions, if associations matter
    std::set<QueueKey> waiting;
    bool is_fresh = true;  // its first job has not been tried yet
    std::optional<QueueKey>
        joined;  // the first of its later jobs that were not tried and may be booked

    // One for each partition of the list, filled when first looked at; see needs_of().
    struct InPartition {
        std::size_t partition = 0;  // index in Cluster::partitions()
        Need need;
        std::optional<Error> error;  // of need_of(): it can never run there
    };
    std::vector<InPartition> needs;
    std::uint64_t needs_version = 0;  // of the layout they were made for
};

class Queue {
public:
    // Adds a job to its class; returns whether it is the first of it or may be booked, so that a
    // pass is worthwhile.
    bool add(const Job& job, std::uint32_t priority, const std::string& reservations = {},
             const LimitGroups& groups = {});
    void remove(const QueueKey& key);                         // nothing if it is not in the queue
    void move(const QueueKey& from, std::uint32_t priority);  // nothing if it is not in the queue
    // All at once: of(key) is the new priority. Mostly their order is unchanged, and the nodes of
    // the tree are reused.
    template <typename NewPriority>
    void move_all(NewPriority of) {
        for_each_class([&](JobClass& job_class) {
            const QueueKey* before = nullptr;
            bool in_order = true;
            for (const QueueKey& key : job_class.waiting) {
                const_cast<QueueKey&>(key).priority = of(key);
                in_order = in_order && (!before || *before < key);
                before = &key;
            }
            if (!in_order) sort(job_class);
            job_class.is_fresh = true;
        });
    }
    bool empty() const { return by_job_.empty(); }
    std::size_t size() const { return by_job_.size(); }
    bool contains(JobId job) const { return members_.contains(job); }
    // The waiting jobs without their classes: enough for queries (copy_for_questions).
    Queue with_members_only() const {
        Queue copy;
        copy.members_ = members_;
        return copy;
    }
    const JobClass* find_class(JobId job) const;
    // Returns and forgets the jobs that were queued with a reason of their own, which is void
    // unless they are parked again.
    std::set<JobId> take_come_back() { return std::exchange(come_back_, {}); }
    // Visits classes with waiting jobs.
    template <typename Visit>
    void for_each_class(Visit visit) {
        for (auto& entry : classes_) {
            if (entry && !entry->waiting.empty()) visit(*entry);
        }
    }
    QueueGrouping grouping() const { return grouping_; }
    void set_grouping(QueueGrouping grouping) { grouping_ = grouping; }  // while empty

private:
    static void sort(JobClass& job_class);
    ClassIndex index_of(const Job& job, const std::string& reservations, const LimitGroups& groups);
    UserId user_that_matters(const Job& job) const;
    bool is_of(const JobClass& job_class, const Job& job) const;

    QueueGrouping grouping_;
    std::vector<std::unique_ptr<JobClass>> classes_;
    std::unordered_multimap<std::size_t, ClassIndex> by_key_;
    std::unordered_map<std::uint32_t, ClassIndex> by_job_;
    JobIdSet members_;              // the keys of by_job_
    std::vector<ClassIndex> free_;  // places in classes_ that are not in use
    std::set<JobId> come_back_;
    std::size_t empty_ = 0;  // classes without waiting jobs
};

constexpr UserId kNobody{0xffffffff};

// Splits classes by user or account once that matters.
void regroup_queue(Cluster& cluster);

// The needs of a class in each of its partitions, up to date.
std::vector<JobClass::InPartition>& needs_of(Cluster& cluster, JobClass& job_class);

// Puts a pending job where it belongs at `now`: the queue, a Begin timer, or neither (held).
void enqueue(Cluster& cluster, const Job& job, Time now);
void dequeue(Cluster& cluster, const Job& job);
// Takes the job out of the queue until a node, a partition or the configuration changes: it waits
// for something other than free resources.
void park(Cluster& cluster, JobId id, Reason reason, std::string detail);
void unpark_all(Cluster& cluster, Time now);
void unpark_for_licenses(Cluster& cluster, Time now);  // some were given back

std::uint64_t next_sluid(Cluster& cluster, const Job& job);

}  // namespace sluice
