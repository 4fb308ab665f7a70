// agent/site.h
//
// What a slurmd knows about itself: the configuration, which node it is, and the machine. Replaced
// as a whole when the configuration is read again.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "model/node.h"
#include "os/cgroup.h"
#include "os/hardware.h"

namespace sluice {

struct Site {
    Config config;
    NodeConfig node;
    std::string hostname;
    std::string spool;         // SlurmdSpoolDir with %n and %h replaced
    std::string scratch_disk;  // ScratchDir, or else TmpFS
    std::string scratch;       // this node's directory there, for those of the jobs
    std::string data_cache;    // for datasets: DataCacheDir, or a directory beside `scratch`
    std::string stepd_path;    // slurmstepd, beside our own program
    std::string relay_path;    // sluice-relay
    Hardware hardware;
    bool cgroups = false;  // are steps put into cgroups here?
    std::string cgroup_top;
    std::string cgroup_delegated;     // see os/cgroup.h
    bool constrains_devices = false;  // ConstrainDevices=yes, and it works here
    bool counts_memory = false;       // JobAcctGatherType=jobacct_gather/cgroup, and it works here
    std::optional<JobContainerLine> container;  // private directories of jobs
    std::vector<GresDevices> gres;              // devices of gres.conf, and those found
    std::string problem;             // why jobs must not run here; empty: nothing is wrong
    std::vector<std::string> notes;  // for the log
    uid_t slurm_user = 0;
    bool rebooted = false;  // -b
    std::string dynamic;    // -Z: the NodeName line that this node would have
};

struct SiteDemand {
    std::string config_path;
    std::string node_name;     // -N; empty: the node of this host
    bool dynamic = false;      // -Z: no NodeName line has this node
    std::string dynamic_conf;  // --conf
    bool rebooted = false;     // -b: this slurmd's start counts as the machine's
};

Result<Site> make_site(const SiteDemand& demand, const Hardware& hardware);

// Looks at the machine again: its devices, and the limits that it can enforce.
void examine(Site& site);

CgroupPlace cgroup_place(const Site& site, std::uint32_t job, std::string step);

NodeFacts facts_of(const Site& site, Time started);

}  // namespace sluice
