// cli/sacctmgr/commands.h
//
// Commands of sacctmgr that are about no single entity.
#pragma once

#include "cli/sacctmgr/sacctmgr.h"
#include "model/policy.h"
#include "policy/words.h"

namespace sluice {

int dump_policy(AccountingCommand& command);  // dump CLUSTER [file=NAME]
int load_policy(AccountingCommand& command);  // load [file=]NAME [clean] [cluster=NAME]
// orders.cc
int archive(AccountingCommand& command);          // archive dump|load
int ping_accounting(AccountingCommand& command);  // is the database there?
int reconfigure_accounting(AccountingCommand& command);
int shut_accounting_down(AccountingCommand& command);
int show_accounting_statistics(AccountingCommand& command);  // show stats [ave_time|total_time]
int clear_accounting_statistics(AccountingCommand& command);

// modify_jobs.cc: modify job where jobid=LIST set Comment=TEXT
int modify_jobs(AccountingCommand& command);

// show ... --json
int print_policy_json(AccountingCommand& command, SacctmgrEntity entity, const Policy& policy,
                      const SacctmgrWords& words);

}  // namespace sluice
