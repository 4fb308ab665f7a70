// protocol/convert_run.cc
//
// Where jobs run, and what became of them. See convert.h.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/devices.h"
#include "model/field_checks.h"
#include "model/record_fields.h"
#include "protocol/checks.h"
#include "protocol/convert.h"
#include "protocol/field_codec.h"

namespace sluice {

wire::NodeShare to_wire(const NodeShare& share, std::string_view name) {
    wire::NodeShare out;
    out.set_node(share.node.value);
    out.set_tasks(share.tasks);
    out.mutable_cpus()->Add(share.cpus.begin(), share.cpus.end());
    out.set_memory(share.memory);
    for (const NodeShare::Devices& devices : share.gres) {
        wire::NodeShare::Devices& added = *out.add_gres();
        added.set_name(devices.name);
        added.set_type(devices.type);
        added.mutable_indexes()->Add(devices.indexes.begin(), devices.indexes.end());
        added.set_count(devices.count);
        added.mutable_parts()->Add(devices.parts.begin(), devices.parts.end());
    }
    if (!name.empty()) out.set_name(name.data(), name.size());
    return out;
}

std::vector<std::uint32_t> gpus_of(const wire::NodeShare& share) {
    std::set<std::uint32_t> gpus;
    for (const wire::NodeShare::Devices& devices : share.gres()) {
        if (devices.name() != "gpu" && !is_part_of_gpu(devices.name())) continue;
        gpus.insert(devices.indexes().begin(), devices.indexes().end());
    }
    return {gpus.begin(), gpus.end()};
}

std::uint32_t tasks_announced(const wire::NodeShare& share, const Shape& shape) {
    const bool asked = shape.ntasks || shape.ntasks_per_node || shape.ntasks_per_gpu;
    const auto cpus = static_cast<std::uint32_t>(share.cpus_size());
    return std::max({1u, share.tasks(), asked ? 0u : cpus / std::max(1u, shape.cpus_per_task)});
}

std::string tres_per_task(const Shape& shape) {
    std::string text = shape.cpus_per_task_set ? fmt::format("cpu={}", shape.cpus_per_task) : "";
    for (const GresCount& gpus : shape.gpus_per_task) {
        text += fmt::format("{}gres/gpu{}{}={}", text.empty() ? "" : ",",
                            gpus.type.empty() ? "" : ":", gpus.type, gpus.count);
    }
    return text;
}

wire::ExitStatus to_wire(const ExitStatus& exit) {
    wire::ExitStatus out;
    out.set_code(exit.code);
    out.set_signal(exit.signal);
    out.set_oom_killed(exit.oom_killed);
    return out;
}

Result<ExitStatus> from_wire(const wire::ExitStatus& wire) {
    std::uint32_t code = TRY(checks::number("exit code", wire.code(), 255u));
    std::uint32_t signal = TRY(checks::number("signal", wire.signal(), 255u));
    return ExitStatus{.code = static_cast<std::uint8_t>(code),
                      .signal = static_cast<std::uint8_t>(signal),
                      .oom_killed = wire.oom_killed()};
}

Usage from_wire(const wire::Usage& wire) {
    const auto time = [](std::uint64_t microseconds) {
        const auto most = static_cast<std::uint64_t>(sizes::kCpuMicroseconds);
        return Microseconds{static_cast<std::int64_t>(std::min(microseconds, most))};
    };
    Usage usage{.cpu_user = time(wire.cpu_user_us()),
                .cpu_system = time(wire.cpu_system_us()),
                .rss_max_kb = wire.rss_max_kb()};
    TaskUsage tasks;
    const bool is_sampled = !wire.tasks().empty() && field_codec::get_fields(wire.tasks(), tasks) &&
                            validate_fields(tasks);
    if (is_sampled) usage.tasks = std::make_shared<const TaskUsage>(std::move(tasks));
    return usage;
}

wire::Usage to_wire(const Usage& usage) {
    wire::Usage out;
    out.set_cpu_user_us(static_cast<std::uint64_t>(usage.cpu_user.count()));
    out.set_cpu_system_us(static_cast<std::uint64_t>(usage.cpu_system.count()));
    out.set_rss_max_kb(usage.rss_max_kb);
    if (usage.tasks) field_codec::put_fields(*usage.tasks, *out.mutable_tasks());
    return out;
}

}  // namespace sluice
