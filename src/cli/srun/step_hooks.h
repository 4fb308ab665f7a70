// cli/srun/step_hooks.h
//
// Programs that srun runs where it is, around its step: --prolog and --epilog, SrunProlog and
// SrunEpilog.
#pragma once

#include <string>
#include <vector>

#include "cli/common/tool.h"
#include "wire.pb.h"

namespace sluice {

constexpr std::string_view kNoHook = "none";

struct StepHook {
    std::string_view kind;  // "prolog"
    std::string program;    // empty: none
};

struct StepFacts {
    const std::vector<std::string>& command;  // the programs' arguments
    const wire::StepCreated& step;
};

// 0: it succeeded, or could not be started, which is printed. Otherwise its exit code.
int run_step_hook(const StepHook& hook, const StepFacts& facts, const Invocation& invocation,
                  Streams& streams);

}  // namespace sluice
