// agent/launch_check.h
//
// Compares the launch that srun asks for with the credential that the controller has signed, which
// contains the number of tasks on each node of the step. The program of the tasks is not in the
// credential: the caller chooses it, and is authenticated as the user of the step.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "wire.pb.h"

namespace sluice {

// What a credential says, whether or not it is true.
Result<wire::LaunchCredential> claimed_by(const std::string& credential);

const wire::NodeShare* share_of(const wire::LaunchCredential& credential, std::string_view node);

Result<void> check_launch(const wire::LaunchTasks& launch, const wire::LaunchCredential& credential,
                          std::string_view node);

}  // namespace sluice
