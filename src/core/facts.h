// core/facts.h
//
// What accounting is told (model/accounted.h). A batch of decisions gives a fact for each job whose
// accounted values have changed, for each step that began or ended, for each node whose
// availability has changed, and for each changed reservation. The facts are stored together with
// the changed records.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/accounted.h"
#include "model/job.h"
#include "model/reservation.h"

namespace sluice {

class Cluster;
struct Node;

class FactBook {
public:
    void set_time(Time now) { now_ = now; }  // of the current event
    // A run that ended while its job goes on to wait for the next one. `run` is the job before
    // that.
    void run_ended(ShownState state, std::shared_ptr<const Job> run);
    void step_changed(JobId job, std::uint32_t restarts, std::shared_ptr<const Step> step);
    void reservation_gone(const Reservation& reservation);
    void forget(JobId job) { told_.erase(job.value); }
    // slurm.conf was read: the cluster may have other resources now.
    void resources_may_have_changed() { resources_are_told_ = false; }

    // The facts of a batch, in the order of their causes.
    struct Changed {
        const std::vector<std::shared_ptr<const Job>>& jobs;
        const std::vector<NodeIndex>& nodes;
        const std::vector<Reservation>& reservations;
    };
    std::vector<Fact> take(const Cluster& cluster, const Changed& changed);

private:
    struct EndedRun {
        ShownState state;
        std::shared_ptr<const Job> job;
    };
    struct ChangedStep {
        JobId job;
        std::uint32_t restarts;
        std::shared_ptr<const Step> step;
    };

    void tell_job(const Cluster& cluster, const std::shared_ptr<const Job>& job,
                  std::vector<Fact>& facts);
    void tell_node(const Node& node, std::vector<Fact>& facts);
    void tell_resources(const Cluster& cluster, std::vector<Fact>& facts);

    Time now_{};
    std::vector<EndedRun> ended_runs_;
    std::vector<ChangedStep> changed_steps_;
    std::vector<Reservation> gone_reservations_;
    std::unordered_map<std::uint32_t, std::size_t> told_;  // by job: hash of what was told last
    std::map<NodeIndex, AccountedEvent> open_events_;      // of nodes that are not available
    bool resources_are_told_ = false;
};

}  // namespace sluice
