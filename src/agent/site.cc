#include "agent/site.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "agent/confinement.h"
#include "agent/devices.h"
#include "base/text.h"
#include "model/errors.h"
#include "model/version.h"
#include "os/files.h"
#include "os/nvidia_proc.h"
#include "os/other_gpus.h"
#include "os/socket.h"
#include "os/user.h"

namespace sluice {

namespace {

Result<NodeConfig> find_own_node(const Config& config, const std::string& wanted,
                                 const std::string& hostname) {
    if (!wanted.empty()) {
        if (const NodeConfig* node = config.find_node(wanted)) return *node;
        return Error{ErrorCode::InvalidNodeName,
                     fmt::format("-N {}: no NodeName={} in {}", wanted, wanted, config.path)};
    }
    for (const NodeConfig& node : config.nodes) {
        if (node.name == hostname || node.hostname == hostname) return node;
    }
    return Error{
        ErrorCode::InvalidNodeName,
        fmt::format("no NodeName in {} is this host, {}; name one with -N", config.path, hostname)};
}

// The line of slurmd -C, of which --conf replaces keys; all of the processors if it has one of
// them.
Result<std::string> dynamic_line(const SiteDemand& demand, const std::string& name,
                                 const std::string& hostname, const Hardware& hardware) {
    const std::string given = to_lower(demand.dynamic_conf);
    const auto names = [&](std::string_view key) { return given.find(key) != std::string::npos; };
    if (names("nodename="))
        return Error{ErrorCode::BadArgument, "--conf: the name of the node is given with -N"};
    std::string line = fmt::format("NodeName={}", name);
    if (!names("nodehostname=")) line += fmt::format(" NodeHostname={}", hostname);
    const bool has_cpus = names("cpus=") || names("procs=") || names("boards=") ||
                          names("sockets") || names("corespersocket=") || names("threadspercore=");
    if (!has_cpus) {
        line +=
            fmt::format(" CPUs={} Boards={} SocketsPerBoard={} CoresPerSocket={} ThreadsPerCore={}",
                        hardware.cpus, hardware.boards, hardware.sockets / hardware.boards,
                        hardware.cores_per_socket, hardware.threads_per_core);
    }
    if (!names("realmemory=")) line += fmt::format(" RealMemory={}", hardware.memory_mb);
    return demand.dynamic_conf.empty() ? line : fmt::format("{} {}", line, demand.dynamic_conf);
}

bool wants_limits(const CgroupConfig& cgroup) {
    return cgroup.constrain_cores || cgroup.constrain_devices || cgroup.constrains_memory();
}

bool wants_cgroups(const Config& config) {
    if (config.cgroup.plugin == "disabled") return false;
    return config.proctrack_type == "proctrack/cgroup" || wants_limits(config.cgroup) ||
           config.job_acct_gather_type == "jobacct_gather/cgroup";
}

bool can_use_cgroups(const Config& config) {
    return wants_cgroups(config) && geteuid() == 0 &&
           detect_cgroups(config.cgroup.mountpoint) != CgroupVersion::None;
}

Result<std::vector<NvmlGpu>> ask_nvml() {
    const std::unique_ptr<Nvml> nvml = TRY(Nvml::load());
    return nvml->gpus();
}

Result<std::vector<NvmlGpu>> ask_nvidia() {
    return read_nvidia_gpus("/proc", "/sys");
}
Result<std::vector<NvmlGpu>> ask_amd() {
    return read_amd_gpus("/sys");
}
Result<std::vector<NvmlGpu>> ask_intel() {
    return read_intel_gpus("/sys");
}
Result<std::vector<NvmlGpu>> ask_neuron() {
    return read_neuron_devices("/sys");
}

struct DetectionWay {
    std::string_view name;
    Result<std::vector<NvmlGpu>> (*ask)();
    std::string_view unless = {};  // of AutoDetect=full: if that way has found some
};
constexpr DetectionWay kWays[] = {{"nvml", ask_nvml},
                                  {"nvidia", ask_nvidia, "nvml"},
                                  {"rsmi", ask_amd},
                                  {"oneapi", ask_intel},
                                  {"nrt", ask_neuron}};

// AutoDetect=full tries all ways, and is content with what one of them finds.
Result<Detected> find_gpus(const std::string& way) {
    Detected found{.way = way, .gpus = {}};
    constexpr const char* kMigMinors = "/proc/driver/nvidia-caps/mig-minors";
    if (const Result<std::string> minors = read_file(kMigMinors)) found.mig_minors = *minors;
    std::string_view succeeded;
    std::optional<Error> failure;
    for (const DetectionWay& each : kWays) {
        const bool is_superfluous = !succeeded.empty() && succeeded == each.unless;
        if ((way != each.name && way != "full") || is_superfluous) continue;
        Result<std::vector<NvmlGpu>> gpus = each.ask();
        if (!gpus) {
            failure = failure ? failure : gpus.error();
            continue;
        }
        succeeded = each.name;
        found.gpus.insert(found.gpus.end(), gpus->begin(), gpus->end());
    }
    if (succeeded.empty() && failure) return *failure;
    return found;
}

bool has_gpus(const NodeConfig& node) {
    return std::any_of(node.gres.begin(), node.gres.end(),
                       [](const GresCount& gres) { return gres.name == "gpu"; });
}

// One gres.conf may serve nodes with and without GPUs: only the former need the library.
void find_devices(Site& site) {
    const std::vector<GresDevices> written = site.config.gres_of(site.node.name);
    const std::string way = site.config.auto_detect_of(site.node.name);
    Detected found;
    if (way != "off" && has_gpus(site.node)) {
        Result<Detected> gpus = find_gpus(way);
        if (gpus) {
            found = *std::move(gpus);
            site.notes.push_back(fmt::format("AutoDetect={}: {} GPUs", way, found.gpus.size()));
        } else {
            site.problem = fmt::format("gres/gpu: AutoDetect={}: {}", way, gpus.error().detail);
        }
    }
    NodeDevices devices = merge_devices(site.node, written, found, site.hardware);
    site.gres = std::move(devices.gres);
    site.notes.insert(site.notes.end(), devices.notes.begin(), devices.notes.end());
    if (site.problem.empty()) site.problem = devices.problem;
    if (site.problem.empty()) site.problem = missing_file(site.gres);
}

void find_container(Site& site) {
    site.container.reset();
    const JobContainerLine* line = site.config.job_container_of(site.node.name);
    if (!line || line->base_path.empty()) return;
    const std::string path = expand_node_path(line->base_path, site.node.name, site.hostname);
    auto refuse = [&](std::string_view why) {
        if (site.problem.empty())
            site.problem = fmt::format("BasePath={} of job_container.conf: {}", path, why);
    };
    if (geteuid() != 0) return refuse("private directories need a slurmd that runs as root");
    if (line->auto_base_path) (void)make_directories(path);
    if (list_directory(directory_of(path)).empty() || access(path.c_str(), X_OK) != 0)
        return refuse("there is no such directory");
    for (const std::string_view each : split(line->dirs, ',')) {
        const std::string start = fmt::format("{}/", each);
        if ((path + "/").starts_with(start) || (site.spool + "/").starts_with(start))
            return refuse(fmt::format("neither it nor SlurmdSpoolDir can be below {}", each));
    }
    site.container = *line;
}

}  // namespace

void examine(Site& site) {
    site.problem.clear();
    site.notes.clear();
    site.constrains_devices = false;
    site.counts_memory = false;
    find_devices(site);
    find_container(site);
    if (site.config.task_plugin.affinity && site.node.cpus > site.hardware.cpus) {
        site.notes.push_back(fmt::format(
            "TaskPlugin=task/affinity: slurm.conf says CPUs={}, this machine has {}: tasks are not "
            "bound",
            site.node.cpus, site.hardware.cpus));
    }
    site.cgroups = can_use_cgroups(site.config);
    const CgroupConfig& cgroup = site.config.cgroup;
    if (site.cgroups) {
        if (!cgroup.ignore_systemd) site.cgroup_delegated = delegated_cgroup(cgroup.mountpoint);
        try_confinement(site);
    } else if (wants_cgroups(site.config) && wants_limits(cgroup) && geteuid() == 0) {
        site.problem = fmt::format("cgroup.conf asks for limits, but no cgroups can be used at {}",
                                   cgroup.mountpoint);
    }
}

CgroupPlace cgroup_place(const Site& site, std::uint32_t job, std::string step) {
    return {.mountpoint = site.config.cgroup.mountpoint,
            .delegated = site.cgroup_delegated,
            .top = site.cgroup_top,
            .uid = 0,
            .job = job,
            .step = std::move(step)};
}

Result<Site> make_site(const SiteDemand& demand, const Hardware& hardware) {
    Site site;
    site.config = TRY(load_config(demand.config_path));
    site.hostname = host_name();
    if (demand.dynamic) {
        const std::string& name = demand.node_name.empty() ? site.hostname : demand.node_name;
        if (site.config.find_node(name))
            return Error{ErrorCode::InvalidNodeName, fmt::format("-Z: {} is in slurm.conf", name)};
        site.dynamic = TRY(dynamic_line(demand, name, site.hostname, hardware));
        site.node = TRY(parse_nodes(site.config, site.dynamic, "--conf")).front();
    } else {
        site.node = TRY(find_own_node(site.config, demand.node_name, site.hostname));
    }
    site.spool = expand_node_path(site.config.slurmd_spool_dir, site.node.name, site.hostname);
    site.scratch_disk = expand_node_path(
        site.config.scratch_dir.empty() ? site.config.tmp_fs : site.config.scratch_dir,
        site.node.name, site.hostname);
    // Several slurmd on a host differ by their ports.
    site.scratch =
        fmt::format("{}/scratch_{}_{}", site.scratch_disk, site.node.name, site.node.port);
    const std::string& cache = site.config.data_cache_dir;
    site.data_cache = cache.empty() ? fmt::format("{}/cache_{}_{}", site.scratch_disk,
                                                  site.node.name, site.node.port)
                                    : expand_node_path(cache, site.node.name, site.hostname);
    site.stepd_path = directory_of(own_program_path()) + "/slurmstepd";
    site.relay_path = directory_of(own_program_path()) + "/../libexec/sluice/sluice-relay";
    site.hardware = hardware;
    site.rebooted = demand.rebooted;
    // Compat: monitors look for ".../slurm/uid_*/job_*". Several slurmd on a host, also of several
    // clusters that number their jobs alike, differ by their ports.
    site.cgroup_top = site.node.name == site.hostname
                          ? "slurm"
                          : fmt::format("slurm_{}_{}", site.node.name, site.node.port);
    std::optional<User> slurm_user = find_user(site.config.slurm_user);
    if (!slurm_user) {
        return Error{ErrorCode::ConfigInvalid,
                     fmt::format("SlurmUser={}: no such user", site.config.slurm_user)};
    }
    site.slurm_user = slurm_user->uid;
    examine(site);
    return site;
}

NodeFacts facts_of(const Site& site, Time started) {
    NodeFacts facts;
    facts.cpus = site.hardware.cpus;
    facts.boards = site.hardware.boards;
    facts.sockets = site.hardware.sockets;
    facts.cores_per_socket = site.hardware.cores_per_socket;
    facts.threads_per_core = site.hardware.threads_per_core;
    facts.real_memory = site.hardware.memory_mb;
    facts.tmp_disk = disk_size_mb(site.scratch_disk);
    facts.free_scratch = disk_free_mb(site.scratch_disk);
    Load load = read_load();
    facts.free_memory = load.free_memory_mb;
    facts.load = load.one_minute;
    Machine machine = read_machine();
    facts.arch = machine.arch;
    facts.os = machine.kernel;
    facts.version = kSlurmVersion;
    facts.hostname = site.hostname;
    facts.boot_id = machine.boot_id;
    facts.boot_time = site.rebooted ? started : machine.boot_time;
    facts.slurmd_start_time = started;
    facts.gres = site.gres;
    facts.problem = site.problem;
    return facts;
}

}  // namespace sluice
