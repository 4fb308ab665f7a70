#include "core/limits/access.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/limits/admission.h"
#include "core/permission.h"
#include "model/errors.h"

namespace sluice {

namespace {

bool contains(const std::vector<std::string>& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

// An empty list, or ALL in it, is no restriction.
bool allows(const std::vector<std::string>& list, std::string_view word) {
    bool all = std::any_of(list.begin(), list.end(), [](const std::string& entry) {
        return equals_ignoring_case(entry, "ALL");
    });
    return list.empty() || all || contains(list, word);
}

bool takes_jobs(const PartitionConfig& partition) {
    return partition.state != PartitionState::Drain && partition.state != PartitionState::Inactive;
}

// AllocNodes, by the host that the request came from; the host that the client names is only shown.
bool host_allowed(const PartitionConfig& partition, const Caller& caller) {
    return allows(partition.allow_alloc_nodes, "") ||
           std::any_of(caller.hosts.begin(), caller.hosts.end(), [&](const std::string& host) {
               return contains(partition.allow_alloc_nodes, host);
           });
}

Error denied(const PartitionConfig& partition, std::string_view why) {
    return {ErrorCode::AccessDenied, fmt::format("partition {} {}", partition.name, why)};
}

}  // namespace

Result<void> may_use(const Cluster& cluster, const PartitionConfig& partition, const Caller& caller,
                     const JobTerms& demand) {
    if (!takes_jobs(partition)) {
        return Error{ErrorCode::PartitionDown,
                     fmt::format("partition {} is {}", partition.name, print(partition.state))};
    }
    bool for_root = caller.user.value == 0;
    bool root_jobs_disabled = partition.disable_root_jobs || cluster.settings().disable_root_jobs;
    if (for_root && root_jobs_disabled) return denied(partition, "runs no jobs of root");
    if (partition.root_only && !for_root && !caller.sent_by_root) {
        return denied(partition, "takes jobs from root only");
    }
    if (!group_allowed(cluster, partition, caller)) {
        return Error{ErrorCode::PartitionUnavailable,
                     fmt::format("partition {} has AllowGroups={}", partition.name,
                                 join(partition.allow_groups, ","))};
    }
    if (!host_allowed(partition, caller)) {
        return denied(partition,
                      fmt::format("takes no jobs from host {} (AllocNodes)", demand.submit_host));
    }
    TRY(check_charge(cluster, caller.user, demand, partition.name));
    return takes_terms(partition, demand);
}

Result<void> takes_terms(const PartitionConfig& partition, const JobTerms& demand) {
    if (partition.req_resv && demand.reservation.empty()) {
        return Error{ErrorCode::InvalidReservation,
                     fmt::format("partition {} needs --reservation", partition.name)};
    }
    // Compat: if a list of allowed accounts is given, the list of denied ones does not count.
    bool account_denied =
        partition.allow_accounts.empty() && contains(partition.deny_accounts, demand.account);
    if (account_denied || !allows(partition.allow_accounts, demand.account)) {
        return Error{ErrorCode::InvalidAccount, {}};
    }
    if (!takes_qos(partition, demand.qos)) return Error{ErrorCode::InvalidQos, {}};
    return {};
}

Result<void> check_spec_resources(const Cluster& cluster, const Shape& shape) {
    if (cluster.settings().allow_spec_resources) return {};
    if (!shape.core_spec && !shape.thread_spec) return {};
    return Error{ErrorCode::NotSupported, fmt::format("--{}-spec needs AllowSpecResourcesUsage=yes",
                                                      shape.core_spec ? "core" : "thread")};
}

Result<std::string> partitions_taking(const Cluster& cluster, std::string_view names,
                                      const Caller& caller, const JobTerms& demand) {
    std::vector<std::string> taking;
    std::optional<Error> why;
    for (std::string_view name : split(names, ',')) {
        const Partition* named = cluster.find_partition(name);
        if (!named)
            return Error{ErrorCode::InvalidPartition,
                         fmt::format("invalid partition specified: {}", name)};
        const PartitionConfig& config = partition_or_alternate(cluster, *named).config;
        Result<void> allowed = may_use(cluster, config, caller, demand);
        if (!allowed && !why) why = allowed.error();
        if (allowed && !contains(taking, config.name)) taking.push_back(config.name);
    }
    if (why && (taking.empty() || cluster.settings().enforce_all_part_limits))
        return *std::move(why);
    return join(taking, ",");
}

bool group_allowed(const Cluster& cluster, const PartitionConfig& partition, const Caller& caller) {
    if (may(role_in(cluster, caller), Action::UseAnyPartition)) return true;
    if (allows(partition.allow_groups, "")) return true;
    return std::any_of(caller.groups.begin(), caller.groups.end(), [&](const std::string& group) {
        return contains(partition.allow_groups, group);
    });
}

bool takes_qos(const PartitionConfig& partition, const std::string& qos) {
    bool denied = partition.allow_qos.empty() && contains(partition.deny_qos, qos);
    return !denied && allows(partition.allow_qos, qos);
}

bool takes_node_count(const PartitionBounds& partition, const Shape& shape) {
    bool is_list = !shape.node_sizes.empty();
    std::uint32_t wanted = is_list ? shape.nodes_min : shape.nodes_max.value_or(shape.nodes_min);
    bool too_many = std::max(wanted, shape.nodes_min) > partition.max_nodes.value_or(~0u);
    return !too_many && shape.nodes_max.value_or(~0u) >= partition.min_nodes;
}

const Partition& partition_or_alternate(const Cluster& cluster, const Partition& partition) {
    const Partition* at = &partition;
    // As many steps as there are partitions: Alternate may go round in a circle.
    for (std::size_t i = 0; i < cluster.partitions().size() && !takes_jobs(at->config); ++i) {
        const Partition* next = cluster.find_partition(at->config.alternate);
        if (!next) break;
        at = next;
    }
    return takes_jobs(at->config) ? *at : partition;
}

std::vector<std::string> partitions_of(const Job& job) {
    std::vector<std::string> names;
    for (std::string_view name : split(job.partition, ',')) {
        if (!name.empty()) names.emplace_back(name);
    }
    return names;
}

}  // namespace sluice
