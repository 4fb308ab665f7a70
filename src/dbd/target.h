// dbd/target.h
//
// What slurmdbd's parts need of slurmdbd.conf.
#pragma once

#include <vector>

#include "accounting/service.h"
#include "auth/authenticator.h"
#include "config/slurmdbd_conf.h"

namespace sluice {

Result<sql::Target> target_of(const DbdConfig& config);  // StorageType and the other Storage keys
AuthSettings auth_settings(const DbdConfig& config, UserId slurm_user);
HiddenData hidden_data(const DbdConfig& config);              // PrivateData
std::vector<PurgeRule> purge_rules(const DbdConfig& config);  // Purge...After, Archive...

}  // namespace sluice
