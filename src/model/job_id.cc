// model/job_id.cc: ids of jobs and steps as text.
#include "model/job_id.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"

namespace sluice {

namespace {

constexpr std::uint64_t kIdMax = 0xfffffff0;  // higher ones have a special meaning in Slurm's tools

struct NamedStep {
    StepId id;
    std::string_view name;
};
constexpr NamedStep kNamedSteps[] = {
    {kBatchStep, "batch"}, {kExternStep, "extern"}, {kInteractiveStep, "interactive"}};

Error bad_id(std::string_view text) {
    return {ErrorCode::InvalidJobId, fmt::format("\"{}\"", text.substr(0, sizes::kWord))};
}

std::optional<std::uint32_t> parse_number(std::string_view text, std::uint64_t most) {
    std::optional<std::uint64_t> number = to_number(text);
    if (!number || *number > most) return {};
    return static_cast<std::uint32_t>(*number);
}

std::optional<StepId> parse_step(std::string_view text) {
    for (const NamedStep& step : kNamedSteps) {
        if (equals_ignoring_case(step.name, text)) return step.id;
    }
    std::optional<std::uint32_t> number = parse_number(text, kIdMax);
    if (!number) return {};
    return StepId(*number);
}

// "3", "[1-5]" or "[1-5%2]", whose limit does not matter for a selection.
std::optional<TaskSet> parse_tasks(std::string_view text, SteppedTasks& budget) {
    if (!text.starts_with('[') && !to_number(text)) return {};
    Result<ArraySpec> spec = parse_array(text, budget);
    if (!spec) return {};
    return std::move(spec->tasks);
}

}  // namespace

Result<JobRef> parse_job_ref(std::string_view text) {
    SteppedTasks budget{sizes::kSteppedTaskCount};
    return parse_job_ref(text, budget);
}

Result<JobRef> parse_job_ref(std::string_view text, SteppedTasks& budget) {
    JobRef ref;
    std::string_view rest = text;
    if (std::size_t dot = rest.find('.'); dot != std::string_view::npos) {
        ref.step = parse_step(rest.substr(dot + 1));
        if (!ref.step) return bad_id(text);
        rest = rest.substr(0, dot);
    }
    if (std::size_t plus = rest.find('+'); plus != std::string_view::npos) {
        ref.het_component = parse_number(rest.substr(plus + 1), kIdMax);
        if (!ref.het_component) return bad_id(text);
        rest = rest.substr(0, plus);
    }
    if (std::size_t bar = rest.find('_'); bar != std::string_view::npos) {
        ref.tasks = parse_tasks(rest.substr(bar + 1), budget);
        if (!ref.tasks || ref.het_component) return bad_id(text);
        rest = rest.substr(0, bar);
    }
    std::optional<std::uint32_t> job = parse_number(rest, kIdMax);
    if (!job || *job == 0) return bad_id(text);
    ref.job = JobId(*job);
    return ref;
}

std::string to_string(const JobRef& ref) {
    std::string text = fmt::format("{}", ref.job.value);
    if (ref.tasks && ref.tasks->size() == 1) {
        text += fmt::format("_{}", ref.tasks->first());
    } else if (ref.tasks) {
        text += fmt::format("_[{}]", ref.tasks->to_string());
    }
    if (ref.het_component) text += fmt::format("+{}", *ref.het_component);
    if (ref.step) text += "." + print_step(*ref.step);
    return text;
}

std::string print_step(StepId step) {
    for (const NamedStep& named : kNamedSteps) {
        if (named.id == step) return std::string(named.name);
    }
    return fmt::format("{}", step.value);
}

}  // namespace sluice
