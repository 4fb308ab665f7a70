// controller/warm_state.h
//
// A standby's copy of the shared state, kept up to date by the changes of the active controller: a
// takeover then reads the last of them only, however long the queue is.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "store/store.h"

namespace sluice {

class WarmState {
public:
    StateVersion version() const { return version_; }
    void apply(StateChanges changes);
    StoredState take();  // all of it, ordered as load() does

private:
    StateVersion version_ = 0;
    std::map<JobId, StoredJob> jobs_;
    std::map<std::string, StoredNode> nodes_;
    std::map<std::string, Reservation> reservations_;
    std::map<std::string, StoredUsage> usage_;  // by usage_key()
    std::map<std::uint32_t, Trigger> triggers_;
    std::map<std::pair<std::string, std::string>, DamagedRow> damaged_;  // by kind and key
    std::uint32_t next_job_id_ = 0;
    std::shared_ptr<const Policy> policy_;
};

}  // namespace sluice
