// model/trigger.cc: see trigger.h.
#include "model/trigger.h"

#include <iterator>

namespace sluice {

namespace {

struct EventWords {
    TriggerEvent event;
    TriggerResource resource;
    std::string_view name;
};

// clang-format off
constexpr EventWords kEvents[] = {
    {TriggerEvent::NodeDown,                   TriggerResource::Node,      "down"},
    {TriggerEvent::NodeUp,                     TriggerResource::Node,      "up"},
    {TriggerEvent::NodeDrained,                TriggerResource::Node,      "drained"},
    {TriggerEvent::NodeDraining,               TriggerResource::Node,      "draining"},
    {TriggerEvent::NodeFailing,                TriggerResource::Node,      "fail"},
    {TriggerEvent::NodeIdle,                   TriggerResource::Node,      "idle"},
    {TriggerEvent::NodeResumed,                TriggerResource::Node,      "resume"},
    {TriggerEvent::Reconfigured,               TriggerResource::Node,      "reconfig"},
    {TriggerEvent::JobTimeLimit,               TriggerResource::Job,       "time"},
    {TriggerEvent::JobEnded,                   TriggerResource::Job,       "fini"},
    {TriggerEvent::ControllerFailed,           TriggerResource::Slurmctld, "primary_slurmctld_failure"},
    {TriggerEvent::ControllerResumedOperation, TriggerResource::Slurmctld, "primary_slurmctld_resumed_operation"},
    {TriggerEvent::ControllerResumedControl,   TriggerResource::Slurmctld, "primary_slurmctld_resumed_control"},
    {TriggerEvent::AccountingBufferFull,       TriggerResource::Slurmctld, "primary_slurmctld_acct_buffer_full"},
    {TriggerEvent::BackupFailed,               TriggerResource::Slurmctld, "backup_slurmctld_failure"},
    {TriggerEvent::BackupResumedOperation,     TriggerResource::Slurmctld, "backup_slurmctld_resumed_operation"},
    {TriggerEvent::BackupAssumedControl,       TriggerResource::Slurmctld, "backup_slurmctld_assumed_control"},
    {TriggerEvent::SlurmdbdFailed,             TriggerResource::Slurmdbd,  "primary_slurmdbd_failure"},
    {TriggerEvent::SlurmdbdResumed,            TriggerResource::Slurmdbd,  "primary_slurmdbd_resumed_operation"},
    {TriggerEvent::DatabaseFailed,             TriggerResource::Database,  "primary_database_failure"},
    {TriggerEvent::DatabaseResumed,            TriggerResource::Database,  "primary_database_resumed_operation"},
};
// clang-format on

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < std::size(kEvents); ++i) {
        if (static_cast<std::size_t>(kEvents[i].event) != i) return false;
    }
    return std::size(kEvents) == static_cast<std::size_t>(kLastTriggerEvent) + 1;
}
static_assert(is_in_order());

const EventWords& words_of(TriggerEvent event) {
    return kEvents[static_cast<std::size_t>(event)];
}

}  // namespace

TriggerResource resource_of(TriggerEvent event) {
    return words_of(event).resource;
}

std::string_view name_of(TriggerResource resource) {
    switch (resource) {
        case TriggerResource::Node:
            return "node";
        case TriggerResource::Job:
            return "job";
        case TriggerResource::Slurmctld:
            return "slurmctld";
        case TriggerResource::Slurmdbd:
            return "slurmdbd";
        case TriggerResource::Database:
            break;
    }
    return "database";
}

std::string_view name_of(TriggerEvent event) {
    return words_of(event).name;
}

bool is_of_nodes(TriggerEvent event) {
    return resource_of(event) == TriggerResource::Node && event != TriggerEvent::Reconfigured;
}

bool fits(const TriggerChoice& choice, const Trigger& trigger) {
    return (!choice.id || *choice.id == trigger.id) &&
           (!choice.job || choice.job == trigger.wanted.job) &&
           (!choice.user || *choice.user == trigger.user);
}

}  // namespace sluice
