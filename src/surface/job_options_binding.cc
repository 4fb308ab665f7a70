// Setters of options about the binding of tasks to CPUs and memory.
#include "model/task_bind.h"
#include "surface/job_options_setters.h"

namespace sluice::job_option {

namespace {

bool asks_for_help(JobOptions& options, const OptionUse& use) {
    if (!equals_ignoring_case(use.value, "help")) return false;
    options.help_on = use.option.name;
    return true;
}

}  // namespace

// Compat: rank binding is gone, and scripts that ask for it run without.
Result<void> set_cpu_bind(JobOptions& options, const OptionUse& use) {
    if (asks_for_help(options, use)) return {};
    const Result<TaskBind> bind = parse_cpu_bind(use.value);
    if (!bind) return Error{ErrorCode::InvalidCpuCount, bind.error().detail};
    options.cpu_bind = use.value;
    if (bind->kind != BindKind::Rank) return {};
    options.cpu_bind = bind->verbose ? "verbose" : "";
    options.notes.emplace_back("Ignoring --cpu-bind=rank. Rank binding is obsolete.");
    return {};
}

Result<void> set_mem_bind(JobOptions& options, const OptionUse& use) {
    if (asks_for_help(options, use)) return {};
    TRY(parse_mem_bind(use.value));
    options.mem_bind = use.value;
    return {};
}

// Compat: a hint is a layout that is asked for, and replaces an earlier one.
Result<void> set_hint(JobOptions& options, const OptionUse& use) {
    struct Hint {
        std::string_view word;
        std::optional<std::uint32_t> cores_per_socket, threads_per_core;
    };
    constexpr Hint kHints[] = {{"compute_bound", {}, 1},
                               {"memory_bound", 1, 1},
                               {"multithread", {}, {}},
                               {"nomultithread", {}, 1}};
    if (asks_for_help(options, use)) return {};
    for (const Hint& hint : kHints) {
        if (!equals_ignoring_case(use.value, hint.word)) continue;
        options.hint = hint.word;
        Shape& shape = options.request.shape;
        shape.cores_per_socket = hint.cores_per_socket;
        shape.threads_per_core = hint.threads_per_core;
        shape.one_thread_per_core = hint.threads_per_core == 1u;
        return {};
    }
    return Error{ErrorCode::InvalidCpuCount,
                 fmt::format("unrecognized --hint argument \"{}\", see --hint=help", use.value)};
}

}  // namespace sluice::job_option
