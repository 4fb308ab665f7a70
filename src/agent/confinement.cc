#include "agent/confinement.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sluice {

std::string kernel_cpus(const std::vector<int>& cpu_order, const std::vector<std::uint32_t>& cpus) {
    std::vector<int> numbers;
    for (std::uint32_t cpu : cpus) {
        if (cpu >= cpu_order.size()) return {};
        numbers.push_back(cpu_order[cpu]);
    }
    std::sort(numbers.begin(), numbers.end());
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += i == last ? fmt::format("{}", numbers[i])
                          : fmt::format("{}-{}", numbers[i], numbers[last]);
        i = last + 1;
    }
    return text;
}

namespace {

// Every device file of the node that the job was not given. Devices are numbered by name, in the
// order of gres.conf.
std::vector<std::string> devices_denied(const Site& site, const wire::NodeShare& share) {
    std::set<std::pair<std::string, std::uint32_t>> given;
    for (const wire::NodeShare::Devices& devices : share.gres()) {
        for (std::uint32_t index : devices.indexes()) given.emplace(devices.name(), index);
    }
    std::map<std::string, std::uint32_t> next;
    std::vector<std::string> denied;
    for (const GresDevices& devices : site.config.gres_of(site.node.name)) {
        for (const std::string& file : devices.files) {
            std::uint32_t index = next[devices.name]++;
            if (!given.contains({devices.name, index})) denied.push_back(file);
        }
    }
    return denied;
}

}  // namespace

std::vector<std::uint32_t> close_gpus(const Site& site, const wire::NodeShare& share) {
    const NodeConfig& node = site.node;
    const std::uint32_t cores = std::max(1u, node.sockets * node.cores_per_socket);
    const std::uint32_t threads = node.cpus > cores ? std::max(1u, node.threads_per_core) : 1;
    std::set<std::uint32_t> given;
    for (const wire::NodeShare::Devices& devices : share.gres()) {
        if (devices.name() != "gpu") continue;
        given.insert(devices.indexes().begin(), devices.indexes().end());
    }
    std::vector<std::uint32_t> close;
    std::uint32_t next = 0;
    for (const GresDevices& devices : site.config.gres_of(node.name)) {
        if (devices.name != "gpu") continue;
        Result<TaskSet> near = TaskSet::parse(devices.cores);
        const bool is_near =
            near && std::any_of(share.cpus().begin(), share.cpus().end(),
                                [&](std::uint32_t cpu) { return near->contains(cpu / threads); });
        for (std::uint64_t i = 0; i < devices.count; ++i, ++next) {
            if (is_near && given.contains(next)) close.push_back(next);
        }
    }
    return close;
}

wire::Confinement confinement_of(const Site& site, const wire::NodeShare& share, bool batch) {
    wire::Confinement result;
    const CgroupConfig& wish = site.config.cgroup;
    if (!site.cgroups) return result;
    result.set_cgroup(true);
    result.set_mountpoint(wish.mountpoint);
    result.set_top(site.cgroup_top);
    if (wish.constrain_ram_space && share.memory() > 0) {
        double megabytes = static_cast<double>(share.memory()) * wish.allowed_ram_space / 100;
        double most = static_cast<double>(site.hardware.memory_mb) * wish.max_ram_percent / 100;
        megabytes = std::max(std::min(megabytes, most), static_cast<double>(wish.min_ram_space));
        auto bytes = static_cast<std::uint64_t>(megabytes) << 20;
        // The batch script's share is the job's whole share; a step's is its own.
        if (batch) result.set_job_memory(bytes);
        result.set_step_memory(bytes);
        if (wish.constrain_swap_space) {
            result.set_swap(static_cast<std::uint64_t>(static_cast<double>(share.memory()) *
                                                       wish.allowed_swap_space / 100 * (1 << 20)));
        }
    }
    if (wish.constrain_cores) {
        std::string cpus =
            kernel_cpus(site.hardware.cpu_order, {share.cpus().begin(), share.cpus().end()});
        if (batch) result.set_job_cpus(cpus);
        result.set_step_cpus(cpus);
    }
    if (wish.constrain_devices) {
        result.set_devices_constrained(true);
        for (const std::string& file : devices_denied(site, share)) result.add_devices_denied(file);
    }
    return result;
}

}  // namespace sluice
