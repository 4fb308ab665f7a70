// model/trigger.h
//
// strigger: a program that the controller runs when something happens to nodes, to a job, or to a
// daemon. The values, and the words for events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/job_id.h"

namespace sluice {

// Stored and sent: append, never renumber.
enum class TriggerEvent : std::uint8_t {
    // of nodes, and of the nodes of a job
    NodeDown,
    NodeUp,
    NodeDrained,
    NodeDraining,
    NodeFailing,
    NodeIdle,
    NodeResumed,
    Reconfigured,
    // of a job
    JobTimeLimit,
    JobEnded,
    // of daemons and databases
    ControllerFailed,
    ControllerResumedOperation,
    ControllerResumedControl,
    AccountingBufferFull,
    BackupFailed,
    BackupResumedOperation,
    BackupAssumedControl,
    SlurmdbdFailed,
    SlurmdbdResumed,
    DatabaseFailed,
    DatabaseResumed,
};
constexpr TriggerEvent kLastTriggerEvent = TriggerEvent::DatabaseResumed;

enum class TriggerResource : std::uint8_t { Node, Job, Slurmctld, Slurmdbd, Database };

TriggerResource resource_of(TriggerEvent event);
std::string_view name_of(TriggerResource resource);  // as strigger --get prints it
std::string_view name_of(TriggerEvent event);        // likewise
bool is_of_nodes(TriggerEvent event);                // Reconfigured is not

// strigger --set.
struct TriggerRequest {
    TriggerEvent event = TriggerEvent::NodeDown;
    std::optional<JobId> job;  // this job, or the nodes of this job
    std::string nodes;         // names; empty: all of the cluster, or those of the job
    Seconds offset{0};         // negative: before the event
    std::string program;       // an absolute path, and arguments
    bool permanent = false;    // stays after the event
    bool operator==(const TriggerRequest&) const = default;
};

// strigger --get, --clear: all that are given must fit.
struct TriggerChoice {
    std::optional<std::uint32_t> id;
    std::optional<JobId> job;
    std::optional<UserId> user;
    bool operator==(const TriggerChoice&) const = default;
};

struct Trigger {
    std::uint32_t id = 0;
    UserId user;
    GroupId group;
    TriggerRequest wanted;
    // The event has happened: the program is to run at that time, with the names as its argument.
    std::optional<Time> due;
    std::vector<std::string> happened_to;  // nodes
    bool operator==(const Trigger&) const = default;
};

bool fits(const TriggerChoice& choice, const Trigger& trigger);

}  // namespace sluice
