// protocol/convert_job.cc
//
// What users ask for. See convert.h.
#include <fmt/format.h>

#include "protocol/checks.h"
#include "protocol/convert.h"

namespace sluice {

using checks::refused;

wire::TimeLimit to_wire(TimeLimit limit) {
    wire::TimeLimit out;
    if (!limit.unlimited()) out.set_seconds(limit.length().count());
    return out;
}

Result<TimeLimit> from_wire(const wire::TimeLimit& limit) {
    if (!limit.has_seconds()) return TimeLimit{};
    TRY(validate_number("time limit", limit.seconds(), sizes::kTimeLimit));
    return TimeLimit{Seconds{limit.seconds()}};
}

void to_wire(const TaskSet& tasks, WireRanges& out) {
    for (const TaskSet::Range& range : tasks.ranges()) {
        wire::TaskRange& added = *out.Add();
        added.set_first(range.first);
        added.set_last(range.last);
        added.set_step(range.step);
    }
}

Result<TaskSet> from_wire(const WireRanges& ranges) {
    std::vector<TaskSet::Range> list;
    TRY(checks::list_size("array tasks", static_cast<std::size_t>(ranges.size()),
                          kArrayTaskMax + 1));
    for (const wire::TaskRange& range : ranges)
        list.push_back({range.first(), range.last(), range.step()});
    std::optional<TaskSet> tasks = TaskSet::from_ranges(list);
    if (!tasks) return refused("array tasks", "they are not ranges, each above the one before");
    return *std::move(tasks);
}

wire::ArraySpec to_wire(const ArraySpec& spec) {
    wire::ArraySpec out;
    to_wire(spec.tasks, *out.mutable_tasks());
    out.set_limit(spec.limit);
    return out;
}

Result<ArraySpec> from_wire(const wire::ArraySpec& spec) {
    if (spec.tasks().empty()) return refused("array", "no tasks");
    return ArraySpec{.tasks = TRY(from_wire(spec.tasks())), .limit = spec.limit()};
}

wire::WarnSignal to_wire(const WarnSignal& warning) {
    wire::WarnSignal out;
    out.set_signal(warning.signal);
    out.set_before(warning.before.count());
    out.set_batch_shell_only(warning.batch_shell_only);
    out.set_allow_reservation(warning.allow_reservation);
    return out;
}

Result<WarnSignal> from_wire(const wire::WarnSignal& warning) {
    constexpr int kSignalMax = 64;
    int signal = TRY(checks::number("signal", warning.signal(), kSignalMax));
    Seconds before = TRY(checks::length("signal time", warning.before()));
    return WarnSignal{.signal = signal,
                      .before = before,
                      .batch_shell_only = warning.batch_shell_only(),
                      .allow_reservation = warning.allow_reservation()};
}

void to_wire(const std::vector<GresCount>& gres, WireGres& out) {
    for (const GresCount& count : gres) {
        wire::Gres& added = *out.Add();
        added.set_name(count.name);
        added.set_type(count.type);
        added.set_count(count.count);
    }
}

Result<std::vector<GresCount>> from_wire(const WireGres& gres) {
    TRY(checks::list_size("gres", static_cast<std::size_t>(gres.size()), sizes::kGresCount));
    std::vector<GresCount> counts;
    for (const wire::Gres& count : gres) {
        // One by one: an initializer that is left half way loses what it has made.
        GresCount& added = counts.emplace_back();
        added.name = TRY(checks::text("gres name", count.name(), sizes::kWord));
        added.type = TRY(checks::text("gres type", count.type(), sizes::kWord));
        added.count = TRY(checks::amount("gres count", count.count()));
    }
    return counts;
}

namespace {

// Layout of tasks, cores and GPUs on nodes, and of nodes in the network.
void to_wire_layout(const Shape& shape, wire::Shape& out) {
    if (shape.ntasks_per_socket) out.set_ntasks_per_socket(*shape.ntasks_per_socket);
    if (shape.ntasks_per_core) out.set_ntasks_per_core(*shape.ntasks_per_core);
    if (shape.ntasks_per_gpu) out.set_ntasks_per_gpu(*shape.ntasks_per_gpu);
    if (shape.mem_per_gpu) out.set_mem_per_gpu(*shape.mem_per_gpu);
    if (shape.cpus_per_gpu) out.set_cpus_per_gpu(*shape.cpus_per_gpu);
    to_wire(shape.gpus_per_socket, *out.mutable_gpus_per_socket());
    if (shape.sockets_per_node) out.set_sockets_per_node(*shape.sockets_per_node);
    if (shape.cores_per_socket) out.set_cores_per_socket(*shape.cores_per_socket);
    if (shape.threads_per_core) out.set_threads_per_core(*shape.threads_per_core);
    out.set_one_thread_per_core(shape.one_thread_per_core);
    out.set_prefer(shape.prefer);
    if (shape.core_spec) out.set_core_spec(*shape.core_spec);
    if (shape.thread_spec) out.set_thread_spec(*shape.thread_spec);
    out.set_node_sizes(shape.node_sizes);
    out.set_spread(shape.spread);
    out.set_use_min_nodes(shape.use_min_nodes);
    out.set_contiguous(shape.contiguous);
    out.set_bind_gpus_to_cores(shape.bind_gpus_to_cores);
    if (shape.switches_max) out.set_switches_max(*shape.switches_max);
    out.set_switches_wait(shape.switches_wait.count());
}

void from_wire_layout(const wire::Shape& wire, Shape& shape) {
    if (wire.has_ntasks_per_socket()) shape.ntasks_per_socket = wire.ntasks_per_socket();
    if (wire.has_ntasks_per_core()) shape.ntasks_per_core = wire.ntasks_per_core();
    if (wire.has_ntasks_per_gpu()) shape.ntasks_per_gpu = wire.ntasks_per_gpu();
    if (wire.has_cpus_per_gpu()) shape.cpus_per_gpu = wire.cpus_per_gpu();
    if (wire.has_sockets_per_node()) shape.sockets_per_node = wire.sockets_per_node();
    if (wire.has_cores_per_socket()) shape.cores_per_socket = wire.cores_per_socket();
    if (wire.has_threads_per_core()) shape.threads_per_core = wire.threads_per_core();
    if (wire.has_core_spec()) shape.core_spec = wire.core_spec();
    if (wire.has_thread_spec()) shape.thread_spec = wire.thread_spec();
    if (wire.has_switches_max()) shape.switches_max = wire.switches_max();
    if (wire.has_mem_per_gpu()) shape.mem_per_gpu = wire.mem_per_gpu();
    shape.one_thread_per_core = wire.one_thread_per_core();
    shape.prefer = wire.prefer();
    shape.node_sizes = wire.node_sizes();
    shape.spread = wire.spread();
    shape.use_min_nodes = wire.use_min_nodes();
    shape.contiguous = wire.contiguous();
    shape.bind_gpus_to_cores = wire.bind_gpus_to_cores();
    shape.switches_wait = Seconds{wire.switches_wait()};
}

}  // namespace

wire::Shape to_wire(const Shape& shape) {
    wire::Shape out;
    out.set_nodes_min(shape.nodes_min);
    if (shape.nodes_max) out.set_nodes_max(*shape.nodes_max);
    if (shape.ntasks) out.set_ntasks(*shape.ntasks);
    if (shape.ntasks_per_node) out.set_ntasks_per_node(*shape.ntasks_per_node);
    out.set_cpus_per_task(shape.cpus_per_task);
    out.set_cpus_per_task_set(shape.cpus_per_task_set);
    if (shape.mem_per_node) out.set_mem_per_node(*shape.mem_per_node);
    if (shape.mem_per_cpu) out.set_mem_per_cpu(*shape.mem_per_cpu);
    to_wire(shape.gres_per_node, *out.mutable_gres_per_node());
    to_wire(shape.gpus, *out.mutable_gpus());
    to_wire(shape.gpus_per_task, *out.mutable_gpus_per_task());
    out.set_constraint(shape.constraint);
    out.set_nodelist(shape.nodelist);
    out.set_exclude(shape.exclude);
    out.set_exclusive(static_cast<std::uint32_t>(shape.exclusive));
    out.set_oversubscribe(shape.oversubscribe);
    if (shape.cpus_min) out.set_cpus_min(*shape.cpus_min);
    if (shape.cpus_min_per_node) out.set_cpus_min_per_node(*shape.cpus_min_per_node);
    if (shape.tmp_min) out.set_tmp_min(*shape.tmp_min);
    to_wire_layout(shape, out);
    return out;
}

Result<Shape> from_wire(const wire::Shape& wire) {
    Shape shape;
    shape.nodes_min = wire.nodes_min();
    if (wire.has_nodes_max()) shape.nodes_max = wire.nodes_max();
    if (wire.has_ntasks()) shape.ntasks = wire.ntasks();
    if (wire.has_ntasks_per_node()) shape.ntasks_per_node = wire.ntasks_per_node();
    shape.cpus_per_task = wire.cpus_per_task();
    shape.cpus_per_task_set = wire.cpus_per_task_set();
    if (wire.has_mem_per_node()) shape.mem_per_node = wire.mem_per_node();
    if (wire.has_mem_per_cpu()) shape.mem_per_cpu = wire.mem_per_cpu();
    shape.gres_per_node = TRY(from_wire(wire.gres_per_node()));
    shape.gpus = TRY(from_wire(wire.gpus()));
    shape.gpus_per_task = TRY(from_wire(wire.gpus_per_task()));
    shape.gpus_per_socket = TRY(from_wire(wire.gpus_per_socket()));
    shape.constraint = wire.constraint();
    shape.nodelist = wire.nodelist();
    shape.exclude = wire.exclude();
    shape.exclusive = TRY(checks::one_of("exclusive", wire.exclusive(), Exclusive::User));
    shape.oversubscribe = wire.oversubscribe();
    if (wire.has_cpus_min()) shape.cpus_min = wire.cpus_min();
    if (wire.has_cpus_min_per_node()) shape.cpus_min_per_node = wire.cpus_min_per_node();
    if (wire.has_tmp_min()) shape.tmp_min = wire.tmp_min();
    from_wire_layout(wire, shape);
    TRY(validate(shape));
    return shape;
}

}  // namespace sluice
