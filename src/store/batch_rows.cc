// store/batch_rows.cc
#include "store/batch_rows.h"

#include "store/records.h"

namespace sluice {

BatchRows rows_of(const Batch& batch) {
    static const NodeNames kNoNames;
    const NodeNames& names = batch.node_names ? *batch.node_names : kNoNames;
    const ChangedRecords& changes = batch.changes;
    BatchRows rows;
    for (const auto& job : changes.jobs) rows.jobs[job->id.value] = to_record(*job, names);
    for (const JobId job : changes.forgotten) rows.jobs.erase(job.value);
    for (const ChangedNode& node : changes.nodes) {
        rows.nodes[node.record.name] = to_record(node.record);
    }
    for (const Reservation& reservation : changes.reservations) {
        rows.reservations[reservation.name] = to_record(reservation);
    }
    for (const std::string& name : changes.reservations_gone) rows.reservations.erase(name);
    for (const StoredUsage& used : changes.usage) {
        rows.usage[usage_key(used)] = is_gone(used) ? "" : to_record(used);
    }
    for (const Trigger& trigger : changes.triggers) rows.triggers[trigger.id] = to_record(trigger);
    for (const std::uint32_t id : changes.triggers_gone) rows.triggers.erase(id);
    for (const Fact& fact : changes.facts) rows.facts.emplace_back(fact.index(), to_record(fact));
    if (changes.policy) rows.policy = to_record(*changes.policy);
    return rows;
}

}  // namespace sluice
