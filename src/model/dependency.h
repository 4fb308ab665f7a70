// model/dependency.h
//
// What a job waits for: --dependency. The user's text becomes conditions on other jobs; unfulfilled
// conditions stay with the job and are printed as squeue's %E.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/job_id.h"

namespace sluice {

enum class DependencyKind : std::uint8_t {
    After,             // it has started, or was cancelled before
    AfterAny,          // it has ended
    AfterBurstBuffer,  // it has ended and its data is staged out
    AfterCorr,         // the task with the same index has completed
    AfterNotOk,        // it has ended and has not completed
    AfterOk,           // it has completed
    Singleton,         // no earlier job of the same user and name is left
    Expand,            // it runs; its nodes are to be given to that job (core/job/resize.h)
};

struct Condition {
    DependencyKind kind = DependencyKind::AfterAny;
    JobId job;                          // 0 for a singleton
    std::optional<std::uint32_t> task;  // "12_3"
    bool all_tasks = false;             // "12_*"
    Minutes delay{0};                   // after:12+5
    bool failed = false;                // can never hold
    bool seen_failure = false;          // a task of the array has failed
    std::optional<Time> due;            // it has started: when the delay is over

    bool operator==(const Condition&) const = default;
};

// Conditions not yet fulfilled, in the order they were written.
struct Dependency {
    std::vector<Condition> left;
    bool any = false;  // "?": one of them is enough

    bool empty() const { return left.empty(); }
    bool never() const;  // failed conditions make it impossible to fulfil
    bool operator==(const Dependency&) const = default;
};

// "afterok:12:13,after:14+5", "afterok:12?afterany:13_4", "singleton", "12". Empty text and "none"
// mean no dependency. Compat: text that does not parse is a DependencyProblem; so is a mix of ","
// and "?".
Result<Dependency> parse_dependency(std::string_view text);
// "afterok:12(unfulfilled),afterany:13_*(failed)"; "" when nothing is left.
std::string print_dependency(const Dependency& dependency);

}  // namespace sluice
