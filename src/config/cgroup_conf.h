// config/cgroup_conf.h
//
// The keys of cgroup.conf, in the order in which `scontrol show config` prints them.
#pragma once

#include <span>

#include "config/config.h"
#include "config/values.h"

namespace sluice {

std::span<const Key<CgroupConfig>> cgroup_conf_keys();

}  // namespace sluice
