// config/settings.h
//
// The part of slurm.conf that the core decides by.
#pragma once

#include "base/result.h"
#include "config/config.h"
#include "core/settings.h"

namespace sluice {

// Suspend*, Resume* (power.cc).
Result<PowerSettings> power_settings(const Config& config);

// Resources that limits may name, whether or not a node has them: "gres/gpu".
std::vector<std::string> tracked_tres(const Config& config);

// `slurm_user` is SlurmUser's number: looking it up is the caller's business.
Result<Settings> settings_from(const Config& config, UserId slurm_user);

// The value of "name=value" in a comma list such as SchedulerParameters.
std::optional<std::string_view> find_parameter(std::string_view list, std::string_view name);

}  // namespace sluice
