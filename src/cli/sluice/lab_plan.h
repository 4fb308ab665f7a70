// cli/sluice/lab_plan.h
//
// A lab is an account with a cap on GPUs, whose members may also use the account overcap. The
// changes of the policy that add, change and remove one. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/policy.h"
#include "policy/change.h"

namespace sluice {

struct Lab {
    std::string name;
    std::optional<std::uint64_t> cap;  // GrpTRES=gres/gpu; absent: it is not a lab yet
    std::vector<std::string> users;    // each once, in the order of the alphabet
};
// Those with a cap, in the order of the alphabet.
std::vector<Lab> labs_of(const Policy& policy, const std::string& cluster);

struct LabRequest {
    std::string name;  // lower case
    std::optional<std::uint64_t> gpus;
    std::vector<std::string> joining, leaving;  // users
};

// An error names what is wrong. All steps are about the one cluster.
Result<PolicyChange> plan_lab_add(const Policy& policy, const std::string& cluster,
                                  const LabRequest& request);
Result<PolicyChange> plan_lab_set(const Policy& policy, const std::string& cluster,
                                  const LabRequest& request);
Result<PolicyChange> plan_lab_remove(const Policy& policy, const std::string& cluster,
                                     const LabRequest& request);

// "sacctmgr -i add user name=ann account=kira-lab cluster=sky": the command that makes the step.
std::string sacctmgr_line(const PolicyStep& step);

}  // namespace sluice
