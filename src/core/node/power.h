// core/node/power.h
//
// Power saving. SuspendProgram switches idle nodes off, ResumeProgram switches them on when jobs
// have been allocated to them. Such a job is CONFIGURING until all its nodes have registered after
// their boot. All that is asked for is part of the node's record, so it continues after a restart
// of the controller.
#pragma once

#include "core/cluster.h"

namespace sluice {

// At the start and when slurm.conf was read again: nodes are looked at every power_save_interval.
void watch_power(Cluster& cluster, Time now);
void on_power_timer(Cluster& cluster, Time now, std::uint32_t subject, Effects& effects);
// Something is to be switched on or off: they are looked at soon.
void want_power_check(Cluster& cluster, Time now);

// State=POWER_UP, POWER_DOWN, ... of scontrol update.
Result<void> check_power_command(const Cluster& cluster, NodeCommand command);
void command_power(Cluster& cluster, Time now, NodeIndex index, NodeCommand command,
                   Effects& effects);

// The node has registered. Returns the jobs that waited for its boot, and may wait for other nodes.
std::vector<JobId> power_after_registration(Cluster& cluster, Time now, NodeIndex index);
void on_power_program_started(Cluster& cluster, const PowerProgramStarted& event);

// One of its nodes is switched off, or is not up yet.
bool awaits_boot(const Cluster& cluster, const Job& job);
// Its last node is up: its time begins.
void continue_after_boot(Cluster& cluster, Time now, JobId id, Effects& effects);
// PowerDownOnIdle.
void power_down_after(Cluster& cluster, Time now, const Job& job, NodeIndex index);

// ResumeAfter= of scontrol update.
void set_resume_after(Cluster& cluster, Time now, NodeIndex index, const TimeLimit& length);
void on_resume_after(Cluster& cluster, Time now, NodeIndex index);

}  // namespace sluice
