// controller/accounting_requests.h
//
// Answers of slurmctld for sacct, sacctmgr and others, where it has the accounting database itself.
#pragma once

#include "accounting/service.h"
#include "config/config.h"
#include "controller/services.h"
#include "wire.pb.h"

namespace sluice {

// May take long. A change of the policy has its effect before this returns.
wire::Reply accounting_reply(Services& services, UserId caller, const wire::Request& request);

HiddenData hidden_data(const Config& config);  // PrivateData

}  // namespace sluice
