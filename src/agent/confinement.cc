#include "agent/confinement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "agent/devices.h"
#include "agent/task_binding.h"
#include "model/devices.h"
#include "os/cgroup.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

// Every device file of the node that belongs to none of the step's devices.
std::vector<std::string> devices_denied(const Site& site, const wire::NodeShare& share) {
    std::set<std::pair<std::string, std::uint32_t>> given;
    for (const wire::NodeShare::Devices& devices : share.gres()) {
        for (std::uint32_t index : devices.indexes()) given.emplace(devices.name(), index);
    }
    for (std::uint32_t gpu : gpus_of(share)) given.emplace("gpu", gpu);
    std::map<std::string, std::uint32_t> next;
    std::set<std::string> allowed, denied;
    for (const GresDevices& devices : site.gres) {
        if (is_part_of_gpu(devices.name)) continue;  // the files are those of the GPUs
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

// Percentages are of the memory that slurm.conf gives the node.
double percent_of_node(const Site& site, double percent) {
    const Megabytes configured = site.node.real_memory;
    return static_cast<double>(configured > 1 ? configured : site.hardware.memory_mb) * percent /
           100;
}

double limited(const Site& site, double megabytes, double most) {
    return std::max(std::min(megabytes, most),
                    static_cast<double>(site.config.cgroup.min_ram_space));
}

std::uint64_t in_bytes(double megabytes) {
    return static_cast<std::uint64_t>(std::max(0.0, megabytes)) << 20;
}

// Limits for this many megabytes of the node; where memory is not counted (0) for all that a job
// may have. MaxSwapPercent limits memory and swap together. Compat: where swap alone is limited,
// so is memory, by the same sum.
MemoryLimit memory_limit(const Site& site, std::uint64_t share) {
    const CgroupConfig& demand = site.config.cgroup;
    const double allocated = static_cast<double>(share);
    const double most = percent_of_node(site, demand.max_ram_percent);
    const double most_in_all = percent_of_node(site, demand.max_swap_percent);
    const double ram_percent = demand.constrain_ram_space ? demand.allowed_ram_space : 100;
    const double memory = share == 0 ? most : limited(site, allocated * ram_percent / 100, most);
    const double swap = std::min(allocated * demand.allowed_swap_space / 100, most_in_all - memory);
    if (!demand.constrain_ram_space) {
        const double in_all = share == 0 ? most_in_all : memory + std::max(0.0, swap);
        return {.bytes = in_bytes(in_all), .swap = 0};
    }
    MemoryLimit limit{.bytes = in_bytes(memory)};
    if (demand.constrain_swap_space) {
        limit.swap = in_bytes(share == 0 ? most_in_all - memory : swap);
    }
    return limit;
}

void limit_memory(const Site& site, std::uint64_t step_memory, std::uint64_t job_memory,
                  wire::Confinement& result) {
    const MemoryLimit job = memory_limit(site, job_memory), step = memory_limit(site, step_memory);
    result.set_job_memory(job.bytes);
    if (job.swap) result.set_job_swap(*job.swap);
    if (step_memory > 0 || job_memory == 0) {  // else the limit of the job holds
        result.set_step_memory(step.bytes);
        if (step.swap) result.set_swap(*step.swap);
    }
    const CgroupConfig& demand = site.config.cgroup;
    if (demand.constrain_swap_space && demand.memory_swappiness) {
        result.set_swappiness(*demand.memory_swappiness);
    }
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
    const std::uint32_t threads = counted_threads(site.node);
    const std::vector<std::uint32_t> gpus = gpus_of(share);
    const std::set<std::uint32_t> given(gpus.begin(), gpus.end());
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
    result.set_kill_as_one(site.config.task_plugin.oom_kill_step);
    if (demand.constrains_memory()) limit_memory(site, share.memory(), job_memory, result);
    if (demand.constrain_cores) {
        std::string cpus = kernel_cpus(site, {share.cpus().begin(), share.cpus().end()});
        if (batch) result.set_job_cpus(cpus);
        result.set_step_cpus(cpus);
    }
    if (site.constrains_devices) {
        for (const std::string& file : devices_denied(site, share)) result.add_devices_denied(file);
        result.set_devices_constrained(has_file_for_every_gpu(site));
    }
    return result;
}

namespace {

// Where the memory of a step cannot be counted by its cgroup, it is read from /proc.
void try_memory_count(Site& site) {
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

}  // namespace

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
    if (demand.constrains_memory()) {
        const MemoryLimit limit = memory_limit(site, site.hardware.memory_mb);
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
