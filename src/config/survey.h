// config/survey.h
//
// What becomes of each key of an existing slurm.conf: for sites that come from Slurm.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace sluice {

enum class KeyFate : std::uint8_t {
    Used,
    Partly,   // some of its words have no effect
    Idle,     // without effect
    Refused,  // slurmctld does not start with it
};

struct SurveyedKey {
    std::string table;  // "NodeName": of a line that begins with this key; empty: a key by itself
    std::string key;    // as it is spelled in the manual, if it is known
    std::string value;  // of the first line that has it
    std::string where;  // "slurm.conf line 12"
    std::size_t lines = 1;  // that have it
    KeyFate fate = KeyFate::Used;
    std::string why;  // unless it is used
};

// About no single key.
struct SurveyedNote {
    std::string text;
    KeyFate fate;  // of what it is about
};

struct Survey {
    std::vector<SurveyedKey> keys;  // in the order of the file, those of a table once
    std::vector<SurveyedNote> others;
};

// The file with those that it includes. An error: it cannot be read, or is no such file.
Result<Survey> survey_slurm_conf(const std::string& path);

}  // namespace sluice
