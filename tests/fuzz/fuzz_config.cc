// Any bytes as slurm.conf, gres.conf, cgroup.conf and topology.conf: an error or a Config that can
// be printed, never a crash.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    if (sluice::Result<sluice::Config> config = sluice::parse_config(text, "slurm.conf")) {
        (void)sluice::print_config(*config);
        (void)sluice::check_reconfigure(*config, *config, {config->nodes.front().name});
    }
    std::vector<std::string> warnings;
    (void)sluice::parse_gres_conf(text, "gres.conf", warnings);
    (void)sluice::parse_cgroup_conf(text, "cgroup.conf", warnings);
    if (auto switches = sluice::parse_topology_conf(text, "topology.conf", warnings)) {
        sluice::Config config;
        config.switches = *std::move(switches);
        for (const sluice::SwitchLine& line : config.switches) {
            (void)sluice::nodes_below(config, line);
            (void)sluice::switch_level(config, line);
            for (const std::string& node : line.nodes) (void)sluice::switches_above(config, node);
        }
    }
    return 0;
}
