// model/times.h
//
// Times and lengths of time in every form that Slurm documents. Local time depends on TZ; "now" is
// always an argument.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace sluice {

// --time: "m", "m:s", "h:m:s", "d-h", "d-h:m", "d-h:m:s", "UNLIMITED", "INFINITE"; -1 is unlimited
// too. Zero stays zero: its meaning depends on the caller.
Result<TimeLimit> parse_time_limit(std::string_view text);
// Compat: the limits of jobs are counted in minutes, seconds rounded up.
Result<TimeLimit> parse_job_time_limit(std::string_view text);
std::string print_time_limit(TimeLimit limit);  // "1-02:03:04", "02:03:04"; "UNLIMITED": scontrol
// squeue's shorter form: "1:00", "10:00", "1:00:00", "2-00:00:00", "UNLIMITED"
std::string print_duration_short(Seconds length);
std::string print_duration(Seconds length);  // always [D-]HH:MM:SS

// --begin, --deadline, sacct -S: "now", "now+1hour", "tomorrow", "midnight", "noon", "fika",
// "teatime", "elevenses", "16:00", "5pm", "010126", "01/26", "01/26/26", "2026-01-31",
// "2026-01-31T12:00[:30]", "uts1234", and a time with a date in any order. --begin looks ahead: a
// time of day that has passed today means tomorrow, a day of the year next year. sacct looks back.
enum class PassedTime { MeansNext, IsMeant };
// The beginning of an error's detail: "Invalid time specification (pos=4): now+1h", the position
// counted from 0.
constexpr std::string_view kNoMoment = "Invalid time specification (pos=";
Result<Time> parse_moment(std::string_view text, Time now,
                          PassedTime passed = PassedTime::MeansNext);
std::string print_moment(Time time);  // "2026-01-31T12:00:00" in local time
// The same, in the format of SLURM_TIME_FORMAT: "standard", "relative", or a strftime format.
std::string print_moment(Time time, std::string_view slurm_time_format, Time now);

}  // namespace sluice
