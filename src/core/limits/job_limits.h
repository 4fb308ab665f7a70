// core/limits/job_limits.h
//
// Collects the limits that apply to a job in a partition: those of the partition's QOS, of its own
// QOS, of its association and of those above it. A limit of a QOS takes precedence over the same
// limit of an association, and that of the partition's QOS over that of the job's (with OverPartQOS
// the other way round). Limits of groups count at each association that has one.
#pragma once

#include <string>
#include <vector>

#include "core/limits/allowance.h"
#include "core/limits/usage_view.h"

namespace sluice {

// The QOS whose limits apply to the job in the partition, the stronger one first.
std::vector<const Qos*> qos_that_count(const Cluster& cluster, const JobTerms& demand,
                                       const PartitionConfig& partition);

class JobLimits {
public:
    // `now`: absent: as if there were no other jobs and nothing had been used.
    JobLimits(const Cluster& cluster, const Job& job, const Partition& partition,
              std::optional<Time> now, const Holding& held = {});

    void add_of_job();     // on the job by itself
    void add_of_groups();  // on groups of running jobs, and on what was used
    void add_of_submissions(std::uint64_t tasks);

    const std::vector<LimitCheck>& found() const { return found_; }
    const std::vector<const Qos*>& qos() const { return qos_; }

private:
    struct TresRule;
    struct GroupRule;
    // A set of limits of one holder, and what counts against it.
    struct Group {
        const GroupRule* rule;
        LimitHolder holder;
        const Allotment* most;
        const LimitUse* use;         // null: nothing
        const UsedAmounts* amounts;  // null: nothing
        double factor;               // of its limits on TRES
    };
    static const TresRule kQosJobRules[4];
    static const TresRule kAssociationJobRules[3];
    static const GroupRule kQosRules[3];
    static const GroupRule kAssociationRules[2];

    bool knows(LimitKind kind, LimitCheck::Among among, const std::string& tres) const;
    void add(LimitCheck check);
    void add_wall(LimitHolder holder, std::optional<Seconds> most, Reason reason);
    void add_tres(LimitHolder holder, const TresRule& rule, const Tres& most, double factor);
    void add_of_job_by_association();
    void add_fair_share(const Qos& qos);
    std::vector<Group> groups() const;
    void add_group(const Group& group);
    void add_minutes(const Group& group);
    const Tres& limit_of(const LimitHolder& holder, const Tres& most, double factor,
                         Tres& scratch) const;
    std::uint64_t wanted_beside(const LimitUse* use, const std::string& name) const;
    std::uint64_t wanted_seconds(const std::string& tres) const;

    const Cluster& cluster_;
    const Job& job_;
    const std::string& partition_;
    std::optional<Time> now_;
    std::vector<NodeIndex> nodes_;  // if they are chosen
    std::vector<const Qos*> qos_;
    const Qos* own_ = nullptr;  // of the job
    const Association* association_ = nullptr;
    Tres wanted_;
    std::vector<LimitCheck> found_;
};

}  // namespace sluice
