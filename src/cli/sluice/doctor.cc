// cli/sluice/doctor.cc: see doctor.h.
#include "cli/sluice/doctor.h"

#include <unistd.h>

#include "cli/sluice/doctor_cluster.h"
#include "cli/sluice/doctor_host.h"
#include "model/errors.h"
#include "model/state_location.h"
#include "os/files.h"
#include "os/socket.h"
#include "os/user.h"

namespace sluice {

namespace {

bool is_controller_here(const Config& config) {
    for (const ControllerHost& host : config.controllers) {
        if (host.name == host_name() || is_local_address(host.address)) return true;
    }
    return false;
}

bool is_slurm_user(const Config& config) {
    const auto user = find_user(geteuid());
    return user && user->name == config.slurm_user;
}

void check_daemons(DoctorReport& report, const Config& config,
                   const std::vector<DoctorNode>& nodes) {
    // Only administrators may look into these directories.
    if (geteuid() == 0 || is_slurm_user(config)) {
        if (is_controller_here(config) && !is_shared_state(config.state_save_location))
            check_space(report, "StateSaveLocation", config.state_save_location);
        for (const DoctorNode& node : nodes)
            check_space(report, "SlurmdSpoolDir",
                        expand_node_path(config.slurmd_spool_dir, node.name, host_name()));
    }
    if (!nodes.empty()) check_cgroups(report, config);
    for (const DoctorNode& node : nodes) check_gpus(report, node.name, node.gres);
}

void check_host(DoctorReport& report, Client& client) {
    const auto config = client.config();
    if (!config) {
        return report.add({Severity::Error, "configuration", "", to_string(config.error()),
                           "copy slurm.conf from the controller's host to /etc/slurm, or set "
                           "SLURM_CONF"});
    }
    check_credentials(report, **config);
    check_daemons(report, **config, check_cluster(report, client, **config));
}

}  // namespace

int run_doctor(const Invocation& invocation, const std::vector<std::string>& words, Client& client,
               Streams& streams) {
    bool json = false;
    std::vector<std::string> directories;
    for (const std::string& word : words) {
        if (word == "--json") {
            json = true;
        } else if (word.starts_with('-')) {
            print_error(streams, invocation, fmt::format("doctor: unknown option {}", word));
            return 1;
        } else {
            directories.push_back(absolute_path(word, invocation.directory));
        }
    }
    DoctorReport report;
    check_host(report, client);
    if (const auto home = invocation.environment.find("HOME"))
        check_home(report, std::string(*home), geteuid());
    for (const std::string& directory : directories) check_small_files(report, directory);
    streams.out(json ? report.json() : report.text());
    return report.exit_code();
}

}  // namespace sluice
