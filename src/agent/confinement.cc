#include "agent/confinement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "agent/devices.h"
#include "os/cgroup.h"

namespace sluice {

std::string kernel_cpus(const std::vector<int>& cpu_order, const std::vector<std::uint32_t>& cpus) {
    std::vector<int> numbers;
    for (std::uint32_t cpu : cpus) {
        if (cpu >= cpu_order.size()) return {};
        numbers.push_back(cpu_order[cpu]);
    }
    return print_ranges(std::move(numbers));
}

namespace {

// Every device file of the node that belongs to none of the step's devices.
std::vector<std::string> devices_denied(const Site& site, const wire::NodeShare& share) {
    std::set<std::pair<std::string, std::uint32_t>> given;
    for (const wire::NodeShare::Devices& devices : share.gres()) {
        for (std::uint32_t index : devices.indexes()) given.emplace(devices.name(), index);
    }
    std::map<std::string, std::uint32_t> next;
    std::set<std::string> allowed, denied;
    for (const GresDevices& devices : site.gres) {
        for (const std::string& files : devices.files) {
            const bool is_given = given.contains({devices.name, next[devices.name]++});
            for (std::string& file : split_files(files)) {
                (is_given ? allowed : denied).insert(std::move(file));
            }
        }
    }
    std::erase_if(denied, [&](const std::string& file) { return allowed.contains(file); });
    return {denied.begin(), denied.end()};
}

std::uint64_t memory_bytes(const Site& site, std::uint64_t share) {
    const CgroupConfig& demand = site.config.cgroup;
    double megabytes = static_cast<double>(share) * demand.allowed_ram_space / 100;
    double most = static_cast<double>(site.hardware.memory_mb) * demand.max_ram_percent / 100;
    megabytes = std::max(std::min(megabytes, most), static_cast<double>(demand.min_ram_space));
    return static_cast<std::uint64_t>(megabytes) << 20;
}

// MaxSwapPercent limits memory and swap together.
std::uint64_t swap_bytes(const Site& site, std::uint64_t share) {
    const CgroupConfig& demand = site.config.cgroup;
    const double most =
        static_cast<double>(site.hardware.memory_mb) * demand.max_swap_percent / 100 -
        static_cast<double>(memory_bytes(site, share) >> 20);
    const double megabytes = static_cast<double>(share) * demand.allowed_swap_space / 100;
    return static_cast<std::uint64_t>(std::max(0.0, std::min(megabytes, most))) << 20;
}

void limit_memory(const Site& site, std::uint64_t step_memory, std::uint64_t job_memory,
                  wire::Confinement& result) {
    const bool limits_swap = site.config.cgroup.constrain_swap_space;
    if (job_memory > 0) result.set_job_memory(memory_bytes(site, job_memory));
    if (job_memory > 0 && limits_swap) result.set_job_swap(swap_bytes(site, job_memory));
    if (step_memory > 0) result.set_step_memory(memory_bytes(site, step_memory));
    if (step_memory > 0 && limits_swap) result.set_swap(swap_bytes(site, step_memory));
}

// Only then a step sees no GPU but its own, and its programs number those from 0.
bool has_file_for_every_gpu(const Site& site) {
    bool has_gpus = false;
    for (const GresDevices& devices : site.gres) {
        if (devices.name != "gpu") continue;
        if (devices.files.empty()) return false;
        has_gpus = true;
    }
    return has_gpus;
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
    for (const GresDevices& devices : site.gres) {
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

wire::Confinement confinement_of(const Site& site, const wire::NodeShare& share,
                                 std::uint64_t job_memory, bool batch) {
    wire::Confinement result;
    const CgroupConfig& demand = site.config.cgroup;
    if (!site.cgroups) return result;
    result.set_cgroup(true);
    result.set_mountpoint(demand.mountpoint);
    result.set_delegated(site.cgroup_delegated);
    result.set_top(site.cgroup_top);
    result.set_count_memory(site.counts_memory);
    if (demand.constrain_ram_space) limit_memory(site, share.memory(), job_memory, result);
    if (demand.constrain_cores) {
        std::string cpus =
            kernel_cpus(site.hardware.cpu_order, {share.cpus().begin(), share.cpus().end()});
        if (batch) result.set_job_cpus(cpus);
        result.set_step_cpus(cpus);
    }
    if (site.constrains_devices) {
        for (const std::string& file : devices_denied(site, share)) result.add_devices_denied(file);
        result.set_devices_constrained(has_file_for_every_gpu(site));
    }
    return result;
}

// Where the memory of a step cannot be counted by its cgroup, it is read from /proc.
static void try_memory_count(Site& site) {
    if (site.config.job_acct_gather_type != "jobacct_gather/cgroup") return;
    Result<Cgroup> made = Cgroup::create(cgroup_place(site, 0, "probe"), {.count_memory = true});
    site.counts_memory = made.has_value();
    if (made) {
        made->remove();
    } else {
        site.notes.push_back(
            fmt::format("JobAcctGatherType=jobacct_gather/cgroup: {}; memory is "
                        "read from /proc",
                        made.error().detail));
    }
}

void try_confinement(Site& site) {
    try_memory_count(site);
    const CgroupConfig& demand = site.config.cgroup;
    const CgroupPlace place = cgroup_place(site, 0, "probe");
    auto attempt = [&](const char* key, const CgroupLimits& limits) {
        Result<Cgroup> made = Cgroup::create(place, limits);
        if (made) {
            made->remove();
        } else if (site.problem.empty()) {
            site.problem = fmt::format("{}=yes: {}", key, made.error().detail);
        }
        return made.has_value();
    };
    if (demand.constrain_ram_space) {
        MemoryLimit limit{memory_bytes(site, site.hardware.memory_mb), {}};
        if (demand.constrain_swap_space) limit.swap = swap_bytes(site, site.hardware.memory_mb);
        attempt(limit.swap ? "ConstrainSwapSpace" : "ConstrainRAMSpace",
                {.job_memory = limit, .step_memory = limit});
    }
    if (demand.constrain_cores) {
        const std::string all = print_ranges(site.hardware.cpu_order);
        attempt("ConstrainCores", {.job_cpus = all, .step_cpus = all});
    }
    if (demand.constrain_devices) {
        site.constrains_devices = attempt(
            "ConstrainDevices", {.devices_denied = devices_denied(site, wire::NodeShare{})});
    }
}

}  // namespace sluice
