// surface/accounted_line.h
//
// One line of sacct: a run of a job, or a step of it, and what its fields are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/accounted.h"
#include "surface/names.h"
#include "surface/usage_fields.h"

namespace sluice {

// What options and the environment say about how values look.
struct AccountedLooks {
    Time now{};
    std::string time_format;          // SLURM_TIME_FORMAT
    std::size_t array_text_max = 64;  // SLURM_BITSTR_LEN; 0: no limit
    UnitStyle units;                  // --units, --noconvert
    bool expand_patterns = false;     // --expand-patterns
    std::optional<Time> from, until;  // -T: times before and after are shown as these
    // From the policy, only where a field shows them.
    std::map<std::string, std::uint32_t> qos_ids, wckey_ids, tres_ids, reservation_ids;
    Names* names = nullptr;
};

struct AccountedLine {
    const AccountedRun* run = nullptr;
    const AccountedStep* step = nullptr;  // nullptr: the job itself
    const AccountedLooks* looks = nullptr;
    std::optional<std::uint32_t> task = {};  // --array: one task of an array that waits

    const AccountedJob& job() const { return run->job; }
};

// When it ran, as it is shown.
struct ShownTimes {
    std::optional<Time> start, end;
    Seconds elapsed{0};    // without the time in which it was suspended
    Seconds suspended{0};  // in total, until now
};
ShownTimes times_of(const AccountedLine& line);

// How long the job waited from its eligible time to its start, or waits now. Nothing: it is
// eligible only later.
std::optional<Seconds> planned_time(const AccountedLine& line);

std::uint32_t allocated_cpus(const AccountedLine& line);
// Of a job: of all its steps.
Usage usage_of(const AccountedLine& line);

ShownState shown_state(const AccountedLine& line);
std::string job_id_text(const AccountedLine& line);      // "3_4.batch", "7_[1-9%3]"
std::string raw_job_id_text(const AccountedLine& line);  // "14.batch"
std::string exit_text(const ExitStatus& exit);           // "0:9"
int shown_signal(const ExitStatus& exit);
// The name of a file of standard input or output, with its patterns replaced if that is wanted.
std::string file_name_text(const AccountedLine& line, const std::string& pattern, bool expanded);

// "billing=1,cpu=1,mem=100M,node=1". Compat: in the order of the alphabet, unlike squeue.
std::string accounted_tres_text(const Tres& tres, const UnitStyle& units);
std::string accounted_memory_text(Megabytes megabytes, const UnitStyle& units);
std::string accounted_flags_text(std::uint32_t flags);  // "SchedMain,StartReceived"

}  // namespace sluice
