// See gpu_bind.h.
#include "model/gpu_bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "model/errors.h"
#include "model/task_bind.h"

namespace sluice {

namespace {

using Kind = GpuBind::Kind;
using Gpus = GpuBind::Gpus;

constexpr std::uint32_t kGpuMost = 1023;  // no node has one with a higher number

Error bad(std::string_view text) {
    return {ErrorCode::BadArgument, std::string(text)};
}

std::optional<std::uint32_t> count_in(std::string_view text) {
    std::optional<std::uint64_t> number = to_number(text);
    if (!number || *number == 0 || *number > std::numeric_limits<std::int32_t>::max()) return {};
    return static_cast<std::uint32_t>(*number);
}

// Single GPUs for blocks of tasks, close ones if these are known.
Gpus single(const GpuBind& bind, const StepGpus& step, std::size_t local) {
    const Gpus& from = step.close.empty() ? step.all : step.close;
    return {from[local / bind.count % from.size()]};
}

// The next few for each task, close ones first.
TaskGpus per_task(const GpuBind& bind, const StepGpus& step, std::size_t local) {
    Gpus order = step.close;
    for (std::uint32_t gpu : step.all) {
        if (std::find(order.begin(), order.end(), gpu) == order.end()) order.push_back(gpu);
    }
    const std::size_t first = std::min(local * bind.count, order.size());
    const std::size_t last = std::min(first + bind.count, order.size());
    TaskGpus task;
    task.gpus.assign(order.begin() + static_cast<std::ptrdiff_t>(first),
                     order.begin() + static_cast<std::ptrdiff_t>(last));
    std::sort(task.gpus.begin(), task.gpus.end());
    task.too_few = last - first < bind.count;
    return task;
}

Gpus listed(const GpuBind& bind, const StepGpus& step, std::size_t local) {
    Gpus gpus;
    for (std::uint32_t wanted : bind.listed[local % bind.listed.size()]) {
        if (step.relative && wanted < step.all.size()) gpus.push_back(step.all[wanted]);
        const bool has = std::binary_search(step.all.begin(), step.all.end(), wanted);
        if (!step.relative && has) gpus.push_back(wanted);
    }
    return gpus;
}

}  // namespace

Result<GpuBind> parse_gpu_bind(std::string_view text) {
    GpuBind bind;
    constexpr std::string_view kVerbose = "verbose,";
    if (starts_with_ignoring_case(text, kVerbose)) {
        bind.verbose = true;
        text.remove_prefix(kVerbose.size());
    }
    struct Row {
        std::string_view word;
        Kind kind;
        bool masks;
    };
    constexpr Row kRows[] = {
        {"none", Kind::None, false},      {"closest", Kind::Closest, false},
        {"single", Kind::Single, false},  {"per_task", Kind::PerTask, false},
        {"map", Kind::Listed, false},     {"mask", Kind::Listed, true},
        {"map_gpu", Kind::Listed, false}, {"mask_gpu", Kind::Listed, true},
    };
    const std::size_t colon = text.find(':');
    const bool has_value = colon != std::string_view::npos;
    const std::string_view value = has_value ? text.substr(colon + 1) : std::string_view{};
    for (const Row& row : kRows) {
        if (!equals_ignoring_case(text.substr(0, colon), row.word)) continue;
        bind.kind = row.kind;
        if (has_value != (row.kind != Kind::None && row.kind != Kind::Closest)) return bad(text);
        if (row.kind == Kind::Listed) {
            bind.listed = row.masks ? TRY(parse_bind_mask(value, kGpuMost))
                                    : TRY(parse_bind_map(value, kGpuMost, false));
        }
        if (row.kind == Kind::Single || row.kind == Kind::PerTask) {
            std::optional<std::uint32_t> count = count_in(value);
            if (!count) return bad(text);
            bind.count = *count;
        }
        return bind;
    }
    return bad(text);
}

Result<GpuBind> parse_tres_bind(std::string_view text) {
    for (std::string_view prefix : {"gres/gpu:", "gres:gpu:", "gpu:"}) {
        if (!starts_with_ignoring_case(text, prefix)) continue;
        if (text.find('+') != std::string_view::npos) break;
        return parse_gpu_bind(text.substr(prefix.size()));
    }
    const bool is_other =
        starts_with_ignoring_case(text, "gres/") || text.find('+') != std::string_view::npos;
    return is_other ? Error{ErrorCode::NotSupported, std::string(text)} : bad(text);
}

TaskGpus gpus_of_task(const GpuBind& bind, const StepGpus& step, std::size_t local) {
    TaskGpus task;
    task.gpus = step.all;
    // Compat: a single task on a node is not bound.
    if (step.all.empty() || step.tasks <= 1) return task;
    switch (bind.kind) {
        case Kind::None:
            return task;
        case Kind::Closest:
            if (!step.close.empty()) task.gpus = step.close;
            return task;
        case Kind::Single:
            task.gpus = single(bind, step, local);
            return task;
        case Kind::PerTask:
            task = per_task(bind, step, local);
            break;
        case Kind::Listed:
            task.gpus = listed(bind, step, local);
            break;
    }
    task.fell_back = task.gpus.empty();
    if (task.fell_back) task.gpus = {step.all.front()};
    return task;
}

}  // namespace sluice
