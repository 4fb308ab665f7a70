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
#include "model/accounted.h"
#include "model/job.h"
#include "model/node.h"
#include "model/policy.h"
#include "model/reservation.h"
#include "model/trigger.h"
#include "model/used.h"

namespace sluice {

// ---- from the core to the store. Records are immutable, indexes are those of the cluster.

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
    std::shared_ptr<const Policy> policy;  // when it has changed
    std::vector<StoredUsage> usage;
    std::vector<Trigger> triggers;
    std::vector<std::uint32_t> triggers_gone;
    std::vector<Fact> facts;      // for accounting; the store numbers them
    std::uint64_t delivered = 0;  // facts up to this one are in the accounting database
    bool empty() const {
        return jobs.empty() && forgotten.empty() && nodes.empty() && !next_job_id &&
               reservations.empty() && reservations_gone.empty() && !policy && usage.empty() &&
               triggers.empty() && triggers_gone.empty() && facts.empty() && delivered == 0;
    }
};

// ---- records as they are stored

using NodeNames = std::vector<std::string>;

struct StoredJob {
    NodeNames nodes;
    Job job;
};

// `names`: by the NodeIndex of the cluster.
StoredJob stored_form(const Job& job, const NodeNames& names);

Result<void> validate(const StoredJob& stored);

// A row of the store that could not be read when the controller started. It is kept apart, with its
// bytes; the cluster runs without it.
struct DamagedRow {
    std::string kind;  // "job", "node", "reservation", "policy", "usage" or "trigger"
    std::string key;   // the job's number, else the name
    std::string why;
    bool operator==(const DamagedRow&) const = default;
};

// ---- from the store to the core, at the start

struct StoredState {
    std::vector<StoredJob> jobs;
    std::vector<StoredNode> nodes;
    std::uint32_t next_job_id = 0;
    std::vector<Reservation> reservations;
    std::shared_ptr<const Policy> policy;  // null: accounting never sent one
    std::vector<StoredUsage> usage;
    std::vector<Trigger> triggers;
    std::vector<DamagedRow> damaged;
};

}  // namespace sluice
