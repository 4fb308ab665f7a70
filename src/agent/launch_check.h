// agent/launch_check.h
//
// Is what srun asks for what the controller has signed? The credential says how many tasks each
// node of the step has. What the tasks run is the word of the caller, who has proven to be the
// step's user.
#pragma once

#include <string_view>

#include "base/result.h"
#include "wire.pb.h"

namespace sluice {

const wire::NodeShare* share_of(const wire::LaunchCredential& credential, std::string_view node);

Result<void> check_launch(const wire::LaunchTasks& launch, const wire::LaunchCredential& credential,
                          std::string_view node);

}  // namespace sluice
