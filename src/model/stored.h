// model/stored.h
//
// What the core gives the store after each batch, and what the store gives back after a restart.
//
// A stored record names its nodes, because their indexes change with slurm.conf: it has a list of
// names, and a NodeIndex inside of the record is a position in that list. stored_form() makes such
// a record; the core resolves it once (core/restore.cc).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "model/node.h"
#include "model/qos.h"
#include "model/reservation.h"

namespace sluice {

// ---- from the core to the store. Records are immutable, indexes are those of the cluster.

// A run that has ended, for accounting. A later EndedRun of the same run replaces the first.
struct EndedRun {
    ShownState state = ShownState::Requeued;  // how it ended; Requeued: to run again
    std::shared_ptr<const Job> job;           // as it was then; job->run is the run
};

// A step that has ended, for accounting. It is recorded again when a node reports more later.
struct EndedStep {
    JobId job;
    std::uint32_t restarts = 0;  // the job's run
    std::shared_ptr<const Step> step;
};

struct ChangedNode {
    NodeIndex index;
    StoredNode record;
};

// What a batch changed.
struct ChangedRecords {
    std::vector<std::shared_ptr<const Job>> jobs;
    std::vector<JobId> forgotten;  // past MinJobAge
    std::vector<ChangedNode> nodes;
    std::optional<std::uint32_t> next_job_id;
    std::vector<Reservation> reservations;
    std::vector<std::string> reservations_gone;
    std::shared_ptr<const std::vector<Qos>> qos;  // all of them, when one has changed
    std::vector<EndedRun> ended_runs;
    std::vector<EndedStep> ended_steps;
    // The rows of these runs, of earlier runs of their jobs, and of their steps are deleted.
    std::vector<RunId> accounted;
    bool empty() const {
        return jobs.empty() && forgotten.empty() && nodes.empty() && !next_job_id &&
               reservations.empty() && reservations_gone.empty() && !qos && ended_runs.empty() &&
               ended_steps.empty() && accounted.empty();
    }
};

// ---- records as they are stored

using NodeNames = std::vector<std::string>;

struct StoredJob {
    NodeNames nodes;
    Job job;
};

struct StoredRun {
    NodeNames nodes;
    ShownState state = ShownState::Requeued;
    Job job;  // as it was when the run ended, without steps
};

struct StoredStep {
    NodeNames nodes;
    JobId job;
    std::uint32_t restarts = 0;
    Step step;
};

// `names`: by the NodeIndex of the cluster.
StoredJob stored_form(const Job& job, const NodeNames& names);
StoredRun stored_form(const EndedRun& run, const NodeNames& names);
StoredStep stored_form(const EndedStep& ended, const NodeNames& names);

Result<void> validate(const StoredJob& stored);
Result<void> validate(const StoredRun& stored);
Result<void> validate(const StoredStep& stored);

// A row of the store that could not be read when the controller started. It is kept apart, with its
// bytes; the cluster runs without it.
struct DamagedRow {
    std::string kind;  // "job", "node", "reservation" or "qos"
    std::string key;   // the job's or QOS's number, else the name
    std::string why;
    bool operator==(const DamagedRow&) const = default;
};

// ---- from the store to the core, at the start

struct StoredState {
    std::vector<StoredJob> jobs;
    std::vector<StoredNode> nodes;
    std::uint32_t next_job_id = 0;
    std::vector<Reservation> reservations;
    std::vector<Qos> qos;  // none: there were never others than `normal`
    std::vector<DamagedRow> damaged;
};

}  // namespace sluice
