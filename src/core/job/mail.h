// core/job/mail.h
//
// What users hear of their jobs by mail (--mail-type). Of an array they hear as a whole, once when
// its first task starts and once when its last one is over, unless they have asked for ARRAY_TASKS.
#pragma once

#include "core/cluster.h"

namespace sluice {

// If the job's user wants to hear of it.
void mail(MailType type, Time now, const Job& job, Effects& effects);

void mail_start(Cluster& cluster, const Job& job, Effects& effects);
// It is over, and its nodes are clean.
void mail_end(Cluster& cluster, const Job& job, Effects& effects);
// It waits again; its record still tells of the run that was.
void mail_requeue(Cluster& cluster, Time now, const Job& job, Effects& effects);

// Parts of the time limit that the user wants to hear of.
void set_mail_clocks(Cluster& cluster, const Job& job);
void on_limit_mail_timer(Cluster& cluster, Time now, JobId id, Effects& effects);

// After a restart: what a task says of its array. Those that are forgotten say nothing any more.
void recall_news(Cluster& cluster, const Job& job);
bool is_array_over(const Cluster& cluster, JobId array);

}  // namespace sluice
