// What must not change while jobs run: the cluster's identity, and less of a node than its jobs
// may be using.
#include <algorithm>

#include "config/config.h"
#include "config/lines.h"
#include "model/state_location.h"

namespace sluice {

namespace {

Error strands(std::string message) {
    return Error{ErrorCode::ConfigStrandsJobs, std::move(message)};
}

// Keys that need a restart of all daemons, since peers would no longer find or trust each other.
Result<void> check_identity(const Config& current, const Config& next) {
    const std::tuple<std::string_view, std::string, std::string> fixed[] = {
        {"ClusterName", current.cluster_name, next.cluster_name},
        {"StateSaveLocation", current.state_save_location, next.state_save_location},
        {"SlurmctldPort", fmt::format("{}", current.slurmctld_port),
         fmt::format("{}", next.slurmctld_port)},
        {"AuthType", current.auth_type, next.auth_type},
        {"SelectType", current.select_type, next.select_type},
    };
    for (const auto& [key, before, after] : fixed) {
        if (before != after) {
            return Error{ErrorCode::ConfigInvalid,
                         fmt::format("{} cannot change from {} to {} without a restart", key,
                                     without_password(before), without_password(after))};
        }
    }
    return {};
}

std::uint64_t gres_count(const NodeConfig& node, const GresCount& kind) {
    std::uint64_t count = 0;
    for (const GresCount& gres : node.gres) {
        if (gres.name == kind.name && gres.type == kind.type) count += gres.count;
    }
    return count;
}

Result<void> check_busy_node(const NodeConfig& before, const Config& next) {
    const NodeConfig* after = next.find_node(before.name);
    if (!after) return strands(fmt::format("node {} runs jobs and cannot be removed", before.name));
    const std::tuple<std::string_view, std::uint64_t, std::uint64_t> sizes[] = {
        {"CPUs", before.cpus, after->cpus},
        {"RealMemory", before.real_memory - std::min(before.mem_spec_limit, before.real_memory),
         after->real_memory - std::min(after->mem_spec_limit, after->real_memory)},
    };
    for (const auto& [key, was, is] : sizes) {
        if (is < was) {
            return strands(fmt::format("node {} runs jobs: {} cannot shrink from {} to {}",
                                       before.name, key, was, is));
        }
    }
    for (const GresCount& gres : before.gres) {
        std::uint64_t was = gres_count(before, gres);
        std::uint64_t is = gres_count(*after, gres);
        if (is < was) {
            return strands(fmt::format("node {} runs jobs: Gres={}{}{} cannot shrink from {} to {}",
                                       before.name, gres.name, gres.type.empty() ? "" : ":",
                                       gres.type, was, is));
        }
    }
    return {};
}

}  // namespace

Result<void> check_reconfigure(const Config& current, const Config& next,
                               const std::vector<std::string>& busy_nodes) {
    TRY(check_identity(current, next));
    for (const std::string& name : busy_nodes) {
        if (const NodeConfig* before = current.find_node(name)) TRY(check_busy_node(*before, next));
    }
    return {};
}

}  // namespace sluice
