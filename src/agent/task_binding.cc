#include "agent/task_binding.h"

#include <algorithm>

#include "agent/devices.h"
#include "base/log.h"
#include "os/affinity.h"
#include "os/error.h"

namespace sluice {

namespace {

bool counts_cores(const Site& site) {
    const Hardware& hardware = site.hardware;
    return hardware.threads_per_core > 1 && counted_threads(site.node) == 1 &&
           site.node.cpus <= hardware.sockets * hardware.cores_per_socket;
}

std::vector<std::uint32_t> kernel_numbers(const Site& site,
                                          const std::vector<std::uint32_t>& cpus) {
    std::vector<std::uint32_t> numbers;
    for (std::size_t place : machine_places(site, cpus)) {
        numbers.push_back(static_cast<std::uint32_t>(site.hardware.cpu_order[place]));
    }
    return numbers;
}

// gres.conf counts cores; they have as many CPUs as slurm.conf gives them.
std::vector<std::uint32_t> cpus_of_cores(const Site& site, const TaskSet& cores) {
    const std::uint32_t each = counted_threads(site.node);
    std::vector<std::uint32_t> cpus;
    for (std::uint32_t cpu = 0; cpu < site.node.cpus; ++cpu) {
        if (cores.contains(cpu / each)) cpus.push_back(cpu);
    }
    return cpus;
}

void add_close_cpus(const Site& site, const wire::NodeShare& share, wire::TaskBinding& binding) {
    std::vector<std::uint32_t> given;
    for (const wire::NodeShare::Devices& devices : share.gres()) {
        if (devices.name() != "gpu") continue;
        given.insert(given.end(), devices.indexes().begin(), devices.indexes().end());
    }
    std::uint32_t next = 0;
    for (const GresDevices& devices : site.gres) {
        if (devices.name != "gpu") continue;
        const Result<TaskSet> cores = TaskSet::parse(devices.cores);
        for (std::uint64_t i = 0; i < devices.count; ++i, ++next) {
            if (!cores || std::find(given.begin(), given.end(), next) == given.end()) continue;
            wire::CloseCpus& close = *binding.add_gpus();
            close.set_gpu(next);
            for (std::uint32_t cpu : kernel_numbers(site, cpus_of_cores(site, *cores))) {
                close.add_cpus(cpu);
            }
        }
    }
}

}  // namespace

std::uint32_t counted_threads(const NodeConfig& node) {
    const std::uint32_t cores = std::max(1u, node.sockets * node.cores_per_socket);
    return node.cpus > cores ? std::max(1u, node.threads_per_core) : 1;
}

std::vector<std::size_t> machine_places(const Site& site, const std::vector<std::uint32_t>& cpus) {
    const Hardware& hardware = site.hardware;
    std::vector<std::size_t> places;
    if (site.node.cpus > hardware.cpu_places.size()) return places;
    const bool by_core = counts_cores(site);
    for (std::uint32_t cpu : cpus) {
        const std::size_t before = places.size();
        for (std::size_t place = 0; place < hardware.cpu_places.size(); ++place) {
            if ((by_core ? hardware.cpu_places[place].core : place) == cpu) places.push_back(place);
        }
        if (places.size() == before) return {};
    }
    return places;
}

std::string kernel_cpus(const Site& site, const std::vector<std::uint32_t>& cpus) {
    const std::vector<std::uint32_t> numbers = kernel_numbers(site, cpus);
    return print_ranges({numbers.begin(), numbers.end()});
}

wire::TaskBinding binding_of(const Site& site, const wire::NodeShare& share) {
    wire::TaskBinding binding;
    const TaskPluginConfig& plugin = site.config.task_plugin;
    if (!plugin.affinity) return binding;
    binding.set_affinity(true);
    for (std::size_t place : machine_places(site, {share.cpus().begin(), share.cpus().end()})) {
        binding.add_cpus(static_cast<std::uint32_t>(site.hardware.cpu_order[place]));
        binding.add_sockets(site.hardware.cpu_places[place].socket);
        binding.add_cores(site.hardware.cpu_places[place].core);
        binding.add_domains(site.hardware.cpu_places[place].domain);
    }
    binding.set_whole_node(static_cast<std::size_t>(share.cpus_size()) +
                               site.node.cpu_spec_list.size() >=
                           site.node.cpus);
    binding.set_machine_cpus(site.hardware.cpus);
    binding.set_bind(plugin.verbose ? "verbose" : "quiet");
    if (plugin.bind != BindKind::Unset) {
        binding.set_bind(fmt::format("{},{}", binding.bind(), cpu_bind_word(plugin.bind)));
    }
    binding.set_autobind(std::string(cpu_bind_word(plugin.autobind)));
    add_close_cpus(site, share, binding);
    return binding;
}

void bind_daemon(const Site& site) {
    const std::vector<std::uint32_t>& kept = site.node.cpu_spec_list;
    if (!site.config.task_plugin.affinity || kept.empty()) return;
    std::vector<std::uint32_t> cpus;
    for (std::uint32_t cpu = 0; cpu < site.node.cpus; ++cpu) {
        const bool is_kept = std::find(kept.begin(), kept.end(), cpu) != kept.end();
        if (is_kept != site.config.task_plugin.slurmd_off_spec) cpus.push_back(cpu);
    }
    const std::vector<std::uint32_t> numbers = kernel_numbers(site, cpus);
    if (numbers.empty()) return;
    if (set_cpus(0, numbers)) {
        log_info("slurmd runs on CPUs {}", kernel_cpus(site, cpus));
    } else {
        log_error("slurmd cannot run on CPUs {}: {}", kernel_cpus(site, cpus),
                  os_error("sched_setaffinity").detail);
    }
}

}  // namespace sluice
