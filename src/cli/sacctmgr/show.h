// cli/sacctmgr/show.h
//
// sacctmgr show and list. Each function prints one entity and returns the exit code.
#pragma once

#include "cli/sacctmgr/sacctmgr.h"
#include "model/policy.h"
#include "policy/words.h"

namespace sluice {

int show_associations(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);
int show_accounts(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);
int show_users(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);
int show_clusters(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);
int show_problems(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);
int show_qos(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);
int show_tres(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);
int show_wckeys(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);
int show_resources(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);

// These ask for rows of their own.
int show_transactions(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);
int show_events(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);
int show_reservations(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);
int show_runaway_jobs(AccountingCommand& command, const Policy& policy, const SacctmgrWords& words);

int show_configuration(AccountingCommand& command);

// The field of a QOS that a key means: "grptres" is GrpTRES; empty: none.
std::string_view qos_key_name(std::string_view key);

}  // namespace sluice
