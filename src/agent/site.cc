#include "agent/site.h"

#include <fmt/format.h>
#include <unistd.h>

#include "model/errors.h"
#include "model/version.h"
#include "os/files.h"
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

bool wants_cgroups(const Config& config) {
    if (config.cgroup.plugin == "disabled") return false;
    const CgroupConfig& cgroup = config.cgroup;
    return config.proctrack_type == "proctrack/cgroup" || cgroup.constrain_cores ||
           cgroup.constrain_devices || cgroup.constrain_ram_space;
}

bool can_use_cgroups(const Config& config) {
    return wants_cgroups(config) && geteuid() == 0 &&
           detect_cgroups(config.cgroup.mountpoint) != CgroupVersion::None;
}

}  // namespace

Result<Site> make_site(const SiteWish& wish, const Hardware& hardware) {
    Site site;
    site.config = TRY(load_config(wish.config_path));
    site.hostname = host_name();
    site.node = TRY(find_own_node(site.config, wish.node_name, site.hostname));
    site.spool = expand_node_path(site.config.slurmd_spool_dir, site.node.name, site.hostname);
    site.stepd_path = directory_of(own_program_path()) + "/slurmstepd";
    site.hardware = hardware;
    site.rebooted = wish.rebooted;
    site.cgroups = can_use_cgroups(site.config);
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
    facts.tmp_disk = disk_size_mb(site.config.tmp_fs);
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
    facts.gres = site.config.gres_of(site.node.name);
    return facts;
}

}  // namespace sluice
