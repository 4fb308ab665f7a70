// cli/sacctmgr/change.h
//
// sacctmgr add, modify and delete: shows what would change, asks, and sends the change.
#pragma once

#include "cli/sacctmgr/sacctmgr.h"
#include "policy/words.h"

namespace sluice {

int change_policy(AccountingCommand& command, PolicyVerb verb, SacctmgrEntity entity);

// An error of the policy's rules, as sacctmgr prints it; the exit code.
int report_refusal(const AccountingCommand& command, const PolicyStep& step, const Error& error);

}  // namespace sluice
