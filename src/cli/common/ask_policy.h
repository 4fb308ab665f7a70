// cli/common/ask_policy.h
//
// Accounts, associations, QOS and TRES, as the accounting database has them.
#pragma once

#include <string_view>

#include "cli/client/client.h"
#include "model/policy.h"

namespace sluice {

Result<Policy> ask_policy(Client& client);

// The number of a TRES; 0: it is not known.
std::uint32_t tres_id(const Policy& policy, std::string_view name);

}  // namespace sluice
