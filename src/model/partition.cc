#include "model/partition.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/hostlist.h"
#include "model/partition_fields.h"
#include "model/times.h"

namespace sluice {

std::string_view print(PartitionState state) {
    constexpr std::string_view kWords[] = {"UP", "DOWN", "DRAIN", "INACTIVE"};
    return kWords[static_cast<std::size_t>(state)];
}

std::string_view print(PartitionExclusive exclusive) {
    constexpr std::string_view kWords[] = {"NO", "NODE", "USER", "TOPO"};
    return kWords[static_cast<std::size_t>(exclusive)];
}

std::optional<OverSubscription> parse_over_subscription(std::string_view text) {
    constexpr std::uint64_t kUsualJobs = 4;
    using Rule = OverSubscription::Rule;
    if (equals_ignoring_case(text, "NO")) return OverSubscription{};
    const std::size_t colon = text.find(':');
    const std::string_view word = text.substr(0, colon);
    const bool forces = equals_ignoring_case(word, "FORCE");
    if (!forces && !equals_ignoring_case(word, "YES")) return {};
    const std::uint64_t jobs =
        colon == text.npos ? kUsualJobs : to_number(text.substr(colon + 1)).value_or(0);
    if (jobs == 0 || jobs > kOverSubscriptionMax) return {};
    return OverSubscription{forces ? Rule::Force : Rule::Yes, static_cast<std::uint16_t>(jobs)};
}

std::string print(const OverSubscription& rule) {
    if (rule.rule == OverSubscription::Rule::No) return "NO";
    const bool forces = rule.rule == OverSubscription::Rule::Force;
    return fmt::format("{}:{}", forces ? "FORCE" : "YES", rule.jobs);
}

void PartitionChange::apply_to(PartitionConfig& partition) const {
    if (ended && partition.exclusive == *ended) partition.exclusive = PartitionExclusive::No;
    members.apply_to(partition);
    if (!members.has(&PartitionConfig::nodes_text)) return;
    const std::string& nodes = partition.nodes_text;
    partition.nodes.clear();
    if (!nodes.empty()) partition.nodes = Hostlist::parse(nodes).value().names();
    partition.node_sets.clear();
}

std::string print_gpu_policy(const PartitionConfig& partition) {
    constexpr std::string_view kActions[] = {"REPORT", "REQUEUE", "CANCEL"};
    std::string text;
    if (partition.gpu_idle_warn > Seconds{0}) {
        text = fmt::format("GpuIdleWarn={},GpuIdlePercent={},GpuIdleGrace={},GpuIdleAction={}",
                           print_duration(partition.gpu_idle_warn), partition.gpu_idle_percent,
                           print_duration(partition.gpu_idle_grace),
                           kActions[static_cast<std::size_t>(partition.gpu_idle_action)]);
    }
    if (partition.gpu_hung_warn > Seconds{0}) {
        text += fmt::format("{}GpuHungWarn={}", text.empty() ? "" : ",",
                            print_duration(partition.gpu_hung_warn));
    }
    if (!text.empty() && !partition.gpu_idle_exempt_qos.empty())
        text += fmt::format(",GpuIdleExemptQos={}", join(partition.gpu_idle_exempt_qos, ","));
    return text;
}

std::string print_job_defaults(const PartitionConfig& partition) {
    std::vector<std::string> given;
    if (partition.def_cpus_per_gpu)
        given.push_back(fmt::format("DefCpuPerGPU={}", *partition.def_cpus_per_gpu));
    if (partition.def_mem_per_gpu)
        given.push_back(fmt::format("DefMemPerGPU={}", *partition.def_mem_per_gpu));
    return join(given, ",");
}

}  // namespace sluice
