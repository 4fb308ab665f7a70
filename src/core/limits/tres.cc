#include "core/limits/tres.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "core/limits/access.h"
#include "core/place/place.h"
#include "core/place/use.h"

namespace sluice {

namespace {

void add_gres(Tres& tres, const std::string& name, const std::string& type, std::uint64_t count) {
    tres["gres/" + name] += count;
    if (!type.empty()) tres["gres/" + name + ":" + type] += count;
}

const Partition* first_partition(const Job& job, const Snapshot& snapshot) {
    std::vector<std::string> names = partitions_of(job);
    for (const Partition& partition : *snapshot.partitions) {
        if (!names.empty() && partition.config.name == names.front()) return &partition;
    }
    return nullptr;
}

}  // namespace

std::string print_indexes(const std::vector<std::uint32_t>& indexes) {
    std::string text;
    for (std::size_t i = 0; i < indexes.size();) {
        std::size_t end = i;
        while (end + 1 < indexes.size() && indexes[end + 1] == indexes[end] + 1) ++end;
        if (!text.empty()) text += ',';
        text += end == i ? fmt::format("{}", indexes[i])
                         : fmt::format("{}-{}", indexes[i], indexes[end]);
        i = end + 1;
    }
    return text;
}

double exact_billing(const Tres& tres, std::string_view weights, BillingRule rule) {
    if (weights.empty()) return tres.contains("cpu") ? static_cast<double>(tres.at("cpu")) : 0;
    double sum = 0, most = 0;
    for (std::string_view entry : split(weights, ',')) {
        std::size_t equals = entry.find('=');
        if (equals == entry.npos) continue;
        auto held = tres.find(to_lower(trim(entry.substr(0, equals))));
        double weight = 0;
        std::string_view number = trim(entry.substr(equals + 1));
        std::from_chars_result parsed =
            std::from_chars(number.data(), number.data() + number.size(), weight);
        if (held == tres.end() || parsed.ec != std::errc()) continue;
        // "Mem=0.25G" is a price per gigabyte; memory is counted in megabytes.
        double unit = 1;
        if (parsed.ptr != number.data() + number.size()) {
            std::size_t thousands =
                std::string_view("KMGTP").find(static_cast<char>(std::toupper(*parsed.ptr)));
            if (thousands != std::string_view::npos)
                unit = std::ldexp(1.0, 10 * (static_cast<int>(thousands) - 1));
        }
        const double part = weight * static_cast<double>(held->second) / unit;
        const bool is_compared =
            rule == BillingRule::MaxTres ||
            (rule == BillingRule::MaxTresGres && !held->first.starts_with("gres/"));
        if (is_compared)
            most = std::max(most, part);
        else
            sum += part;
    }
    return std::max(0.0, sum + most);
}

std::uint64_t billing_of(const Tres& tres, std::string_view weights, BillingRule rule) {
    return static_cast<std::uint64_t>(exact_billing(tres, weights, rule));
}

Tres tres_of(const Job& job, const Snapshot& snapshot) {
    Tres tres = tres_of(*job.run.allocation);
    const Partition* partition = first_partition(job, snapshot);
    if (partition)
        tres["billing"] = billing_of(tres, partition->config.tres_billing_weights,
                                     snapshot.settings->priority.billing);
    return tres;
}

Tres tres_of(const Allocation& allocation) {
    Tres tres;
    tres["cpu"] = allocation.cpus();
    for (const NodeShare& share : allocation.nodes) {
        tres["mem"] += share.memory;
        for (const NodeShare::Devices& devices : share.gres) {
            if (devices.count == 0) continue;  // not consumed
            add_gres(tres, devices.name, devices.type, devices.count);
        }
    }
    if (tres["mem"] == 0) tres.erase("mem");
    tres["node"] = allocation.nodes.size();
    tres["billing"] = allocation.cpus();
    return tres;
}

namespace {

struct Sizes {
    std::uint64_t nodes = 1, tasks = 1, cpus = 1, gpus = 0;
};

// What is requested, device by device. If there is a total for the job, counts per node, socket or
// task only describe the distribution.
void add_devices(const Shape& shape, Sizes& sizes, Tres& tres) {
    auto add = [&](const std::vector<GresCount>& demands, std::uint64_t times) {
        for (const GresCount& demand : demands) {
            bool told = demand.name == "gpu" && sizes.gpus > 0;
            if (!told) add_gres(tres, demand.name, demand.type, demand.count * times);
        }
        sizes.gpus = tres.contains("gres/gpu") ? tres["gres/gpu"] : 0;
    };
    add(shape.gpus, 1);
    add(shape.gres_per_node, sizes.nodes);
    add(shape.gpus_per_socket, sizes.nodes * shape.sockets_per_node.value_or(1));
    add(shape.gpus_per_task, sizes.tasks);
}

Sizes sizes_wanted(const Shape& shape) {
    Sizes sizes;
    sizes.nodes = std::max(1u, shape.nodes_min);
    std::uint64_t per_node = std::max(1u, shape.ntasks_per_node.value_or(1));
    sizes.tasks = shape.ntasks.value_or(sizes.nodes * per_node);
    if (shape.ntasks && shape.ntasks_per_node) {
        sizes.nodes = std::max(sizes.nodes, (sizes.tasks + per_node - 1) / per_node);
    }
    return sizes;
}

std::uint64_t memory_wanted(const Shape& shape, const Partition* partition,
                            const Settings& settings, const Sizes& sizes) {
    if (shape.mem_per_gpu) return *shape.mem_per_gpu * sizes.gpus;
    std::optional<Megabytes> per_cpu = shape.mem_per_cpu, per_node = shape.mem_per_node;
    if (!per_cpu && !per_node && settings.memory_is_consumable) {
        if (partition && partition->config.def_mem_per_cpu)
            per_cpu = partition->config.def_mem_per_cpu;
        else if (partition && partition->config.def_mem_per_node)
            per_node = partition->config.def_mem_per_node;
        else if (settings.def_mem_per_cpu)
            per_cpu = settings.def_mem_per_cpu;
        else
            per_node = settings.def_mem_per_node;
    }
    return per_cpu ? *per_cpu * sizes.cpus : per_node.value_or(0) * sizes.nodes;
}

}  // namespace

Tres cfg_tres(const Node& node) {
    Tres tres{{"cpu", usable_cpus(node)},
              {"mem", node.config.real_memory},
              {"billing", usable_cpus(node)}};
    for (const GresPool& pool : node.gres) {
        tres["gres/" + pool.name] += pool.count;
        if (!pool.type.empty()) tres["gres/" + pool.name + ":" + pool.type] += pool.count;
    }
    return tres;
}

Tres tres_wanted(const Job& job, const Snapshot& snapshot) {
    return tres_wanted(job, first_partition(job, snapshot), *snapshot.settings);
}

Tres tres_wanted(const Job& job, const Partition* partition, const Settings& settings) {
    const Shape& shape = job.request->shape;
    Sizes sizes = sizes_wanted(shape);
    Tres tres;
    add_devices(shape, sizes, tres);
    sizes.cpus = std::max({(shape.overcommit ? sizes.nodes : sizes.tasks) * shape.cpus_per_task,
                           sizes.nodes * shape.cpus_min_per_node.value_or(1),
                           sizes.gpus * shape.cpus_per_gpu.value_or(0),
                           std::uint64_t{shape.cpus_min.value_or(0)}});
    tres["cpu"] = tres["billing"] = sizes.cpus;
    tres["node"] = sizes.nodes;
    if (std::uint64_t memory = memory_wanted(shape, partition, settings, sizes))
        tres["mem"] = memory;
    if (partition) {
        tres["billing"] =
            billing_of(tres, partition->config.tres_billing_weights, settings.priority.billing);
    }
    return tres;
}

}  // namespace sluice
