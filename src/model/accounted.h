// model/accounted.h
//
// What accounting keeps: runs of jobs, their steps, events of nodes, reservations. The core makes
// these facts with each decision that matters; they are stored in the same transaction (the
// outbox), and delivered in order to the accounting database. A later fact with the same key
// replaces the earlier one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/job_id.h"
#include "model/quantity.h"
#include "model/run.h"
#include "model/states.h"
#include "model/usage.h"

namespace sluice {

enum AccountedFlag : std::uint32_t {
    kStartedByMain = 1 << 0,
    kStartedByBackfill = 1 << 1,
    kStartReceived = 1 << 2,
};

// A run of a job; key: cluster, job, restarts. An array that waits is one of them.
struct AccountedJob {
    JobId job;
    std::uint32_t restarts = 0;
    std::uint64_t sluid = 0;
    std::optional<JobId> array_job;
    std::optional<std::uint32_t> array_task;
    TaskSet array_tasks;  // of an array that waits
    std::uint32_t array_limit = 0;
    std::string name;
    UserId user;
    GroupId group;
    std::string account;
    std::uint32_t association = 0;  // id; 0: none
    std::string qos;
    std::string qos_requested;
    std::string partition;  // in use; the list while it waits
    std::string wckey;
    std::string reservation;
    std::string reservation_requested;
    ShownState state = ShownState::Pending;
    Reason reason =
        Reason::None;  // of the state: while it waits, the last one; after, why it ended
    Time submit{}, eligible{};
    std::optional<Time> start, end;
    Seconds suspended{0};
    std::optional<Time> suspend_time;  // suspended since; only in that state
    TimeLimit time_limit;
    std::uint32_t priority = 0;
    std::uint32_t cpus_requested = 0, nodes_requested = 0;
    Tres tres_requested, tres_allocated;  // with billing; "mem" in MB
    std::optional<Megabytes> memory_per_node, memory_per_cpu;
    std::string node_names;  // compact
    std::uint32_t node_count = 0;
    ExitStatus exit, derived_exit;
    std::optional<UserId> killed_by;
    std::string failed_node;
    std::string comment, admin_comment, system_comment, extra;
    std::string work_dir, submit_line, constraint, licenses, container;
    std::string std_in, std_out, std_err;       // with their % patterns
    std::uint32_t flags = 0;                    // AccountedFlag
    bool is_batch = false;                      // has a .batch step
    std::string script_hash, environment_hash;  // AccountingStoreFlags; in the script table
    std::optional<GpuSummary> gpu_use;          // of the nodes that have reported
    bool operator==(const AccountedJob&) const = default;
};

// Key: cluster, job, restarts, step. The batch script (kBatchStep) and the external step are steps.
struct AccountedStep {
    JobId job;
    std::uint32_t restarts = 0;
    StepId step;
    std::string name;
    UserId user;
    ShownState state = ShownState::Running;
    ExitStatus exit;
    std::optional<UserId> killed_by;
    Time start{};
    std::optional<Time> end;
    Seconds suspended{0};
    TimeLimit time_limit;
    std::uint32_t tasks = 0;
    std::uint32_t cpus = 0;
    std::uint32_t node_count = 0;
    std::string node_names;
    Tres tres_allocated;
    Usage usage;
    std::string layout;  // "Block", "Cyclic"
    std::string submit_line, work_dir, container, std_in, std_out, std_err;
    bool operator==(const AccountedStep&) const = default;
};

// A time in which a node (or, with an empty name, the whole cluster) had other resources than
// usable ones; key: cluster, node, start.
struct AccountedEvent {
    std::string node;  // empty: the cluster; its TRES have changed
    Time start{};
    std::optional<Time> end;
    std::string state;  // "DOWN*", "DRAIN": as sinfo prints it
    std::string reason;
    UserId reason_user;
    Tres tres;
    std::string cluster_nodes;  // of the cluster
    bool operator==(const AccountedEvent&) const = default;
};

// Key: cluster, id, start.
struct AccountedReservation {
    std::uint32_t id = 0;
    std::string name;
    Time start{}, end{};
    std::vector<std::uint32_t> associations;
    std::string node_names;
    std::uint32_t flags = 0;
    Tres tres;
    std::string comment;
    bool operator==(const AccountedReservation&) const = default;
};

using Fact = std::variant<AccountedJob, AccountedStep, AccountedEvent, AccountedReservation>;

struct NumberedFact {
    std::uint64_t sequence = 0;  // without gaps per cluster, from 1
    Fact fact;
};

// ---- questions

struct JobSelection {                   // sacct
    std::vector<std::string> clusters;  // empty: that of the answering controller; "*": all
    std::vector<std::string> jobs;      // as written: "12", "12_3", "12.batch"
    std::vector<UserId> users;
    std::vector<GroupId> groups;
    std::vector<std::string> accounts, partitions, qos, names, wckeys, reasons, constraints;
    std::vector<ShownState> states;
    std::string nodes;               // host list
    std::optional<Time> start, end;  // a job counts if it was in one of the states in this time,
                                     // or, without states, known at all
    std::optional<std::uint32_t> cpus_min, cpus_max, nodes_min, nodes_max;
    std::optional<Seconds> limit_min, limit_max;
    bool all_runs = false;   // -D: also requeued runs
    bool no_steps = false;   // -X
    bool only_live = false;  // runaway jobs: without an end
    bool scripts = false, environments = false;
    bool operator==(const JobSelection&) const = default;
};

struct AccountedRun {  // an answer to it
    std::string cluster;
    AccountedJob job;
    std::vector<AccountedStep> steps;  // batch, extern, then by number
    std::string script, environment;   // if asked for
    bool operator==(const AccountedRun&) const = default;
};

}  // namespace sluice
