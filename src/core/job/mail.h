// core/job/mail.h
//
// Mail to users about their jobs (--mail-type). An array is reported as a whole, once when its
// first task starts and once when its last one has ended, unless ARRAY_TASKS was asked for.
#pragma once

#include "core/cluster.h"

namespace sluice {

// If the job asks for this type.
void mail(MailType type, Time now, const Job& job, Effects& effects);

// Whichever types the job asks for.
void mail_of_policy(MailType type, const Job& job, const std::string& line, Effects& effects);

void mail_start(Cluster& cluster, const Job& job, Effects& effects);
// It has ended, and its nodes are clean.
void mail_end(Cluster& cluster, const Job& job, Effects& effects);
// It waits again; its record still describes the last run.
void mail_requeue(Cluster& cluster, Time now, const Job& job, Effects& effects);

// Timers for the parts of the time limit that the user wants mail about.
void set_mail_clocks(Cluster& cluster, const Job& job);
void on_limit_mail_timer(Cluster& cluster, Time now, JobId id, Effects& effects);

// After a restart: restores the array's state from a task. Deleted tasks are not counted.
void recall_news(Cluster& cluster, const Job& job);
bool is_array_over(const Cluster& cluster, JobId array);

}  // namespace sluice
