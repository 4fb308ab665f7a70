// config/keys.h
//
// Every key of slurm.conf outside the node and partition lines, in the order in which
// `scontrol show config` prints them.
#pragma once

#include <span>

#include "config/config.h"
#include "config/values.h"

namespace sluice {

std::span<const Key<Config>> slurm_conf_keys();

}  // namespace sluice
