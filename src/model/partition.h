// model/partition.h
//
// Partitions as configured, and the changes of scontrol create and update PartitionName=.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/patch.h"
#include "model/preempt.h"
#include "model/quantity.h"

namespace sluice {

enum class PartitionState : std::uint8_t { Up, Down, Drain, Inactive };
std::string_view print(PartitionState state);  // "UP"

// Whether a job has its nodes alone.
enum class PartitionExclusive : std::uint8_t {
    No,
    Node,
    User,  // only jobs of its user share them
    Topo   // has no effect
};
std::string_view print(PartitionExclusive exclusive);  // "NODE"

// How many jobs may share a CPU.
struct OverSubscription {
    enum class Rule : std::uint8_t { No, Yes, Force };  // Yes: jobs that ask for it
    Rule rule = Rule::No;
    std::uint16_t jobs = 1;
    bool operator==(const OverSubscription&) const = default;
};
constexpr std::uint16_t kOverSubscriptionMax = 65533;
// "NO", "YES:4", "FORCE:4"; four jobs if there is no number. Any case.
std::optional<OverSubscription> parse_over_subscription(std::string_view text);
std::string print(const OverSubscription& rule);

// What happens to a job that leaves its GPUs idle after the warning.
enum class GpuIdleAction : std::uint8_t { Report, Requeue, Cancel };

struct PartitionConfig {
    std::string name;
    std::string nodes_text;          // as written: "ALL", "n[1-4]"
    std::vector<std::string> nodes;  // expanded, in node table order
    bool is_default = false;
    TimeLimit max_time;  // unlimited by default
    std::optional<TimeLimit> default_time;
    std::uint32_t min_nodes = 0;
    std::optional<std::uint32_t> max_nodes;
    std::optional<std::uint32_t> max_cpus_per_node;
    std::optional<std::uint32_t> max_cpus_per_socket;
    std::optional<Megabytes> def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu, max_mem_per_node;
    PartitionState state = PartitionState::Up;
    bool hidden = false;
    bool root_only = false;
    bool req_resv = false;
    bool disable_root_jobs = false;
    bool lln = false;
    std::vector<std::string> allow_groups, allow_accounts, deny_accounts, allow_qos, deny_qos;
    std::vector<std::string> allow_alloc_nodes;
    std::string alternate;
    std::string qos;
    OverSubscription oversubscribe;
    PartitionExclusive exclusive = PartitionExclusive::No;
    std::optional<PreemptWords> preempt_mode;  // absent: the cluster's
    std::string tres_billing_weights;
    Seconds grace_time{0};
    std::uint32_t priority_job_factor = 1;
    std::uint32_t priority_tier = 1;
    std::uint32_t over_time_limit = 0;              // minutes
    std::optional<std::uint32_t> def_cpus_per_gpu;  // JobDefaults
    std::optional<Megabytes> def_mem_per_gpu;
    std::optional<TimeLimit> suspend_time;  // absent: the cluster's
    std::optional<Seconds> suspend_timeout, resume_timeout;
    bool power_down_on_idle = false;
    // Jobs that do not use their GPUs (core/job/gpu_policy.h).
    Seconds gpu_idle_warn{0};  // GpuIdleWarn: so long below the percentage; 0: never
    std::uint32_t gpu_idle_percent = 5;
    Seconds gpu_idle_grace{0};  // from the warning to the action
    GpuIdleAction gpu_idle_action = GpuIdleAction::Report;
    std::vector<std::string> gpu_idle_exempt_qos;
    Seconds gpu_hung_warn{0};  // GpuHungWarn: so long busy GPUs and nothing else; 0: never
    std::vector<std::string> node_sets;  // names from the Nodes= line that are NodeSets (or ALL)
    bool operator==(const PartitionConfig&) const = default;
};

// A NodeSet line.
struct NodeSetConfig {
    std::string name;
    std::vector<std::string> nodes;
    bool has_all = false;  // Nodes=ALL
    std::string feature;   // nodes with it are in the set, too
    bool operator==(const NodeSetConfig&) const = default;
};

// scontrol create and update PartitionName=.
struct PartitionChange {
    Patch<PartitionConfig> members;
    // An exclusivity that ends, if the partition has it: ExclusiveUser=NO does not end
    // Exclusive=NODE. `members` takes precedence.
    std::optional<PartitionExclusive> ended;

    // Nodes= of a command names nodes only: `nodes` follows.
    void apply_to(PartitionConfig& partition) const;
    bool operator==(const PartitionChange&) const = default;
};

// "GpuIdleWarn=00:30:00,GpuIdlePercent=5,..."; empty: there is no policy
std::string print_gpu_policy(const PartitionConfig& partition);

// "DefCpuPerGPU=2,DefMemPerGPU=4096"
std::string print_job_defaults(const PartitionConfig& partition);

}  // namespace sluice
