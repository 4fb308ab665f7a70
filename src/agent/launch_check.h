// agent/launch_check.h
//
// Compares launches with the credential that the controller has signed. That of a step contains the
// number of tasks on each of its nodes. The program of the tasks is not in the credential: the
// caller chooses it, and is authenticated as the user of the step.
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

// What the controller calls a script or an environment: its SHA-256 in hex.
std::string blob_name(std::string_view bytes);

// Of a batch job all that the user has asked for is in the credential: request, script,
// environment.
Result<void> check_batch(const wire::LaunchBatch& launch, const wire::LaunchCredential& credential);

}  // namespace sluice
