// cli/sdata/sync_command.h
//
// sdata sync: checkpoints are copied from time to time, once, or back. slurmd runs it, as the user,
// for --sync of a job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/common/tool.h"

namespace sluice {

struct SyncOptions {
    Seconds every{600};
    std::optional<std::uint32_t> keep;
    bool once = false;
    bool is_final = false;  // once, and no file is waited for
    bool restores = false;
    bool expands = false;         // variables in the names of the directories
    bool reports = false;         // lines for slurmd
    bool may_be_missing = false;  // the source
    std::optional<Seconds> timeout;
    std::string log;  // problems are appended to this file; empty: standard error
};

// Variables of the environment in a path: $NAME and ${NAME}.
Result<std::string> expand_variables(std::string_view path, const Environment& environment);

// `operands`: the two directories.
Result<void> run_sync(const SyncOptions& options, const std::vector<std::string>& operands,
                      const Invocation& invocation, Streams& streams);

}  // namespace sluice
