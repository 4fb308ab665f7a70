// protocol/convert_run.cc
//
// Where jobs run, and what became of them. See convert.h.
#include <fmt/format.h>

#include <algorithm>

#include "protocol/checks.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

template <typename Numbers>
std::vector<std::uint32_t> to_vector(const Numbers& numbers) {
    return {numbers.begin(), numbers.end()};
}

Result<NodeShare::Devices> from_wire(const wire::NodeShare::Devices& wire) {
    TRY(checks::list_size("devices", static_cast<std::size_t>(wire.indexes_size())));
    NodeShare::Devices devices;
    devices.name = TRY(checks::text("gres name", wire.name()));
    devices.type = TRY(checks::text("gres type", wire.type()));
    devices.indexes = to_vector(wire.indexes());
    devices.count = TRY(checks::amount("gres count", wire.count()));
    return devices;
}

}  // namespace

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
    }
    if (!name.empty()) out.set_name(name.data(), name.size());
    return out;
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

Result<NodeShare> from_wire(const wire::NodeShare& wire) {
    NodeShare share;
    share.node = NodeIndex{wire.node()};
    share.tasks = TRY(checks::count("tasks", wire.tasks()));
    TRY(checks::list_size("CPUs", static_cast<std::size_t>(wire.cpus_size())));
    share.cpus = to_vector(wire.cpus());
    for (const std::uint32_t cpu : share.cpus) TRY(checks::number("CPU", cpu, sizes::kNodeCount));
    share.memory = TRY(checks::amount("memory", wire.memory()));
    TRY(checks::list_size("gres", static_cast<std::size_t>(wire.gres_size())));
    for (const wire::NodeShare::Devices& devices : wire.gres()) {
        share.gres.push_back(TRY(from_wire(devices)));
    }
    TRY(checks::text("node", wire.name()));
    return share;
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

wire::Usage to_wire(const Usage& usage) {
    wire::Usage out;
    out.set_cpu_user_us(static_cast<std::uint64_t>(usage.cpu_user.count()));
    out.set_cpu_system_us(static_cast<std::uint64_t>(usage.cpu_system.count()));
    out.set_rss_max_kb(usage.rss_max_kb);
    out.set_rss_max_node(usage.rss_max_node);
    return out;
}

Usage from_wire(const wire::Usage& wire) {
    const auto time = [](std::uint64_t microseconds) {
        const auto most = static_cast<std::uint64_t>(sizes::kCpuMicroseconds);
        return Microseconds{static_cast<std::int64_t>(std::min(microseconds, most))};
    };
    return {.cpu_user = time(wire.cpu_user_us()),
            .cpu_system = time(wire.cpu_system_us()),
            .rss_max_kb = wire.rss_max_kb(),
            .rss_max_node = wire.rss_max_node()};
}

wire::Step to_wire(const Step& step) {
    wire::Step out;
    out.set_id(step.id.value);
    out.set_name(step.name);
    out.set_user(step.user.value);
    for (const NodeShare& share : step.nodes) *out.add_nodes() = to_wire(share);
    out.set_node_names(step.node_names);
    out.set_tasks(step.tasks);
    out.set_cpus_per_task(step.cpus_per_task);
    out.set_overlap(step.overlap);
    out.set_holds_memory(step.holds_memory);
    out.set_tres_bind(step.tres_bind);
    out.set_tres_per_node(step.tres_per_node);
    out.set_state(static_cast<std::uint32_t>(step.state));
    out.set_start_time(to_unix(step.start_time));
    if (step.end_time) out.set_end_time(to_unix(*step.end_time));
    *out.mutable_time_limit() = to_wire(step.time_limit);
    *out.mutable_exit() = to_wire(step.exit);
    *out.mutable_usage() = to_wire(step.usage);
    for (const NodeIndex node : step.nodes_left) out.add_nodes_left(node.value);
    out.set_key(step.key);
    out.set_cancelled(step.cancelled);
    return out;
}

Result<Step> from_wire(const wire::Step& wire) {
    Step step;
    step.id = StepId{wire.id()};
    step.name = wire.name();
    step.user = UserId{wire.user()};
    TRY(checks::list_size("nodes", static_cast<std::size_t>(wire.nodes_size())));
    for (const wire::NodeShare& share : wire.nodes()) step.nodes.push_back(TRY(from_wire(share)));
    step.node_names = wire.node_names();
    step.tasks = wire.tasks();
    step.cpus_per_task = wire.cpus_per_task();
    step.overlap = wire.overlap();
    step.holds_memory = wire.holds_memory();
    step.tres_bind = wire.tres_bind();
    step.tres_per_node = wire.tres_per_node();
    step.state = TRY(checks::one_of("step state", wire.state(), StepState::OutOfMemory));
    step.start_time = TRY(checks::moment("start", wire.start_time()));
    if (wire.has_end_time()) step.end_time = TRY(checks::moment("end", wire.end_time()));
    step.time_limit = TRY(from_wire(wire.time_limit()));
    step.exit = TRY(from_wire(wire.exit()));
    step.usage = from_wire(wire.usage());
    TRY(checks::list_size("nodes left", static_cast<std::size_t>(wire.nodes_left_size())));
    for (const std::uint32_t node : wire.nodes_left()) step.nodes_left.push_back(NodeIndex{node});
    step.key = wire.key();
    step.cancelled = wire.cancelled();
    TRY(validate(step));
    return step;
}

}  // namespace sluice
