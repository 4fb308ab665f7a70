// model/preempt.h
//
// PreemptMode of slurm.conf, of a partition and of a QOS: what happens to a preempted job, and the
// words that select the jobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

enum class PreemptMode : std::uint8_t { Off, Cancel, Requeue, Suspend };

// "SUSPEND,GANG" and the like.
struct PreemptWords {
    PreemptMode mode = PreemptMode::Off;
    bool gang = false;
    bool within = false;               // jobs of the same QOS may preempt each other
    bool only_lower_priority = false;  // PRIORITY
    bool operator==(const PreemptWords&) const = default;
};

// Any case; of several modes the last one of the enum counts. Unknown words are ignored: tables of
// keys name the known ones.
PreemptWords parse_preempt_words(std::string_view text);
std::string print(const PreemptWords& words);  // "GANG,SUSPEND", "OFF"

}  // namespace sluice
