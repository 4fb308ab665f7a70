// cli/common/find_job.h
//
// The number of a job that is named as an array task, such as 12_3.
#pragma once

#include <cstdint>
#include <string>

#include "cli/client/client.h"

namespace sluice {

Result<std::uint32_t> find_job(const std::string& reference, Client& client);

}  // namespace sluice
