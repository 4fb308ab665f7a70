// core/schedule/queue.h
//
// Who waits. Jobs that could run as far as they themselves are concerned and that ask for the same
// form a class: if one of a class finds no place, the others need not be looked at. All other
// pending jobs wait for a timer, a release or a change (parked).
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
#include "core/place/need.h"

namespace sluice {

using ClassIndex = std::uint32_t;
constexpr Seconds kPlanSoon{
    2};  // those who cannot be told at once when they may start are told before long
constexpr std::uint32_t kBookingsPerClass =
    64;  // those behind them have no place in the plan of their own

// What keeps all jobs of a class from starting, other than their turn and a free place.
struct Obstacle {
    Reason reason = Reason::None;  // None: nothing does
    std::string detail = {};
    bool no_start =
        false;  // as things are; only a full pass, which looks at all nodes, takes it back
    bool too_few_nodes = false;  // its partition has too few in service
    bool is_limit = false;       // of a QOS: looked at again when others give something back
    bool operator==(const Obstacle&) const = default;
};

// What tells jobs apart besides what they ask for: where nodes belong to users (--exclusive=user),
// and where limits are those of users or accounts.
struct QueueGrouping {
    bool by_user = false;
    bool by_account = false;
    bool operator==(const QueueGrouping&) const = default;
};

struct JobClass {
    ClassIndex index = 0;  // Job::wait_class of its jobs
    Obstacle obstacle;
    std::shared_ptr<const JobTerms> sample;  // one of them: shape, licences, ... are those of all
    std::string partition;                   // as in Job::partition: may be a list
    TimeLimit time_limit;
    std::string reservations;  // that they may use, asked for or magnetic: "a,b"
    UserId user;  // whose, where that matters for the place or for limits; else kNobody
    std::set<QueueKey> waiting;
    bool is_fresh = true;  // its first job has not been looked at yet
    std::optional<QueueKey>
        joined;  // the first of those behind it who have not been, and may be booked

    // One for each partition of the list, filled when first looked at; see needs_of().
    struct InPartition {
        std::size_t partition = 0;  // index in Cluster::partitions()
        Need need;
        std::optional<Error> error;  // it can never run there, as far as names go
    };
    std::vector<InPartition> needs;
    std::uint64_t needs_version = 0;  // of the layout they were made for
};

class Queue {
public:
    // Adds a job to its class; whether it is the first of it or may be booked, so that a pass is
    // worth the while.
    bool add(const Job& job, std::uint32_t priority, const std::string& reservations = {});
    void remove(const QueueKey& key);                         // nothing if it is not in the queue
    void move(const QueueKey& from, std::uint32_t priority);  // nothing if it is not in the queue
    // All at once: of(key) is the new priority. Mostly they have all grown older and stay in their
    // order, and so do the nodes of the tree.
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
    // The waiting jobs without their classes: all that questions need (copy_for_questions).
    Queue with_members_only() const {
        Queue copy;
        copy.members_ = members_;
        return copy;
    }
    const JobClass* find_class(JobId job) const;
    // Jobs that came with a reason of their own, which is void unless they are parked again; and
    // forgets them.
    std::set<JobId> take_come_back() { return std::exchange(come_back_, {}); }
    // Classes that somebody waits in.
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
    ClassIndex index_of(const Job& job, const std::string& reservations);
    UserId user_that_matters(const Job& job) const;
    bool is_of(const JobClass& job_class, const Job& job) const;

    QueueGrouping grouping_;
    std::vector<std::unique_ptr<JobClass>> classes_;
    std::unordered_multimap<std::size_t, ClassIndex> by_key_;
    std::unordered_map<std::uint32_t, ClassIndex> by_job_;
    JobIdSet members_;              // the keys of by_job_
    std::vector<ClassIndex> free_;  // places in classes_ that are not in use
    std::set<JobId> come_back_;
    std::size_t empty_ = 0;  // classes that nobody waits in
};

constexpr UserId kNobody{0xffffffff};

// Once users or accounts matter, those who wait are told apart by them.
void regroup_queue(Cluster& cluster);

// The needs of a class in each of its partitions, up to date.
std::vector<JobClass::InPartition>& needs_of(Cluster& cluster, JobClass& job_class);

// Puts a pending job where it belongs at `now`: the queue, or a Begin timer, or nowhere (held).
void enqueue(Cluster& cluster, const Job& job, Time now);
void dequeue(Cluster& cluster, const Job& job);
// It waits for something other than a free place: out of the queue until a node, a partition or the
// configuration changes.
void park(Cluster& cluster, JobId id, Reason reason, std::string detail);
void unpark_all(Cluster& cluster, Time now);

std::vector<std::string> partitions_of(const Job& job);
std::uint64_t next_sluid(Cluster& cluster, const Job& job);

}  // namespace sluice
