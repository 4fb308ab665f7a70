// dbd/controllers.h
//
// Tells the slurmctld of each cluster that the policy has changed, so that a change has its effect
// when sacctmgr returns. One that does not answer fetches the policy by itself later.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "auth/authenticator.h"
#include "model/policy.h"

namespace sluice {

class Controllers {
public:
    Controllers(Authenticator& authenticator, UserId slurm_user)
        : authenticator_(authenticator), slurm_user_(slurm_user) {}

    void policy_changed(const Policy& policy, Time now);

private:
    Result<void> tell(const ClusterRecord& cluster) const;

    Authenticator& authenticator_;
    const UserId slurm_user_;
    std::mutex mutex_;
    std::map<std::string, Time> silent_until_;  // by cluster: it did not answer
};

}  // namespace sluice
