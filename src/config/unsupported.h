// config/unsupported.h
//
// Keys and words of slurm.conf that Sluice does not act on. Most of them tune Slurm's own machinery
// and give a warning. Those that decide who may do what, or what happens to jobs, are refused by
// slurmctld: a site must not lose such a rule without noticing it. With
// SlurmctldParameters=ignore_unsupported they are warnings, too.
#pragma once

#include "config/config.h"
#include "config/keys.h"
#include "config/lines.h"

namespace sluice {

// To be called after the line's key was applied: `warned` tells whether its value has no effect.
void note_unsupported(Config& config, const Key<Config>& key, const Line& line, bool warned);

// Keys that Slurm itself refuses in this release; the error names the replacement, if there is one.
Result<void> check_obsolete(const Line& line);

// Once the whole file was read: several controllers need a state that they share.
void note_backup_controllers(Config& config);

// Turns refusals into warnings if the file asks for it.
void check_unsupported(Config& config);

}  // namespace sluice
