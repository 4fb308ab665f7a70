// surface/script.h
//
// Batch scripts: may this be one at all, and which options does it carry in its #SBATCH lines?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "surface/job_options.h"

namespace sluice {

// The words sbatch refuses a script with; the code is never BadArgument (exit code 1).
Result<void> check_script(std::string_view script);

// One line of options. Directives end at the first line that is neither blank nor a comment.
struct Directive {
    enum class Kind : unsigned char { Sbatch, Pbs, Bsub };
    Kind kind = Kind::Sbatch;
    unsigned line = 0;               // counted from 1
    std::vector<std::string> words;  // quotes removed, comment cut off

    bool operator==(const Directive&) const = default;
};
// `name` is the script's, for messages.
Result<std::vector<Directive>> directives_in(std::string_view script, std::string_view name);

// Applies them all. Compat: #PBS and #BSUB lines are read too, unless --ignore-pbs is given.
Result<void> apply_directives(JobOptions& options, std::string_view script, std::string_view name,
                              bool ignore_pbs, Time now);

}  // namespace sluice
