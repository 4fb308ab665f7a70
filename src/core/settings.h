// core/settings.h
//
// The part of the configuration that decisions depend on. The controller makes it from slurm.conf;
// tests and the simulator set it directly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/node.h"
#include "model/partition.h"
#include "model/used.h"

namespace sluice {

// The unit of allocation (SelectTypeParameters): a CPU (thread), a core or a socket; or only whole
// nodes (select/linear).
enum class Unit : std::uint8_t { Cpu, Core, Socket, Node };

// How the weighted TRES of a job (TRESBillingWeights) make its billing: their sum; with MAX_TRES
// the largest of CPUs, memory, nodes and gres, plus licences; with MAX_TRES_GRES the largest of
// CPUs, memory and nodes, plus gres and licences.
enum class BillingRule : std::uint8_t { Sum, MaxTres, MaxTresGres };

// PriorityType and its weights. Factors are between 0 and 1; see core/schedule/priority.h.
struct PrioritySettings {
    bool multifactor = false;
    std::uint32_t weight_age = 0, weight_assoc = 0, weight_fairshare = 0, weight_job_size = 0;
    std::uint32_t weight_partition = 0, weight_qos = 0;
    std::vector<std::pair<std::string, double>> weight_tres;  // {"gres/gpu", 1000}
    Seconds max_age{7 * 24 * 3600};
    Seconds calc_period{300};
    bool favor_small = false;
    std::vector<std::string> flags;          // PriorityFlags, upper case
    bool user_top = false;                   // SchedulerParameters=enable_user_top
    Seconds decay_half_life{7 * 24 * 3600};  // PriorityDecayHalfLife; 0: no decay
    UsageReset usage_reset = UsageReset::None;
    double dampening = 1;  // FairShareDampeningFactor, of the classic formula
    BillingRule billing = BillingRule::Sum;
    bool has_flag(std::string_view flag) const {
        return std::find(flags.begin(), flags.end(), flag) != flags.end();
    }
};

// SchedulerType and SchedulerParameters.
struct BackfillSettings {
    bool enabled = true;             // sched/backfill; builtin: strictly in order
    Seconds window{0};               // bf_window: how far ahead starts are booked; 0: no limit
    Seconds interval{30};            // bf_interval: between full plans, at most
    std::uint32_t max_job_test = 0;  // bf_max_job_test; 0: no limit
    std::uint32_t max_job_user = 0, max_job_part = 0;
};

struct PreemptSettings {
    enum class By : std::uint8_t { Nothing, Partition, Qos } by = By::Nothing;
    PreemptMode mode = PreemptMode::Off;
    bool gang = false;
    Seconds exempt_time{0};  // PreemptExemptTime: not preempted for so long after the start
    bool youngest_first = false;
    bool send_user_signal = false;
    bool reclaim_limits = false;       // also for a job that waits for a limit they count against
    Seconds time_slice{30};            // SchedulerTimeSlice
    bool within = false;               // jobs of the same QOS may preempt each other, in any QOS
    bool only_lower_priority = false;  // PreemptMode=...,PRIORITY
};

// A line of topology.conf: a switch over nodes, or over other switches.
struct SwitchConfig {
    std::string name;
    std::vector<std::string> nodes;
    std::vector<std::string> switches;
};

// PrivateData: what users without a special right do not see. Accounts, users, usage and events are
// not here: nothing shows them.
struct PrivateData {
    bool jobs = false;  // and steps, of other users
    bool nodes = false;
    bool partitions = false;
    bool reservations = false;  // that they may not use
    bool usage = false;         // of other users, and of accounts
    bool any() const { return jobs || nodes || partitions || reservations || usage; }
};

// HealthCheckNodeState: nodes in any of these states.
struct HealthCheckNodes {
    bool allocated = true, mixed = true, idle = true, others = true;
    bool only_undrained_idle = false;  // idle: unless it is drained
    bool cycle = false;                // spread over the interval
    bool operator==(const HealthCheckNodes&) const = default;
};

// SelectTypeParameters: how devices are chosen. A job's --gres-flags come first.
struct DeviceRules {
    bool enforces_binding = false;       // ENFORCE_BINDING_GRES
    bool parts_of_several_gpus = false;  // MULTIPLE_SHARING_GRES_PJ
    bool one_task_per_gpu = false;       // ONE_TASK_PER_SHARING_GRES
    bool spreads_parts = false;          // LL_SHARED_GRES
};

// PrologFlags: what happens on the nodes of a job when it gets them.
struct PrologRules {
    bool at_allocation = false;  // Alloc: the Prolog runs on all nodes
    bool contains = false;       // Contain: the step "extern" runs on all nodes
    bool holds = false;          // the job waits for it: there is a Prolog, and no NoHold
    bool holds_for_all = false;  // DeferBatch: a batch script waits for all nodes, too
    bool force_requeue = false;  // ForceRequeueOnFail: a job whose Prolog fails is requeued anyway
    bool operator==(const PrologRules&) const = default;
};

// SuspendExcNodes: so many of these nodes stay on.
struct PowerException {
    std::vector<std::string> nodes;
    std::optional<std::uint32_t> count;  // absent: all of them
    bool operator==(const PowerException&) const = default;
};

struct PowerSettings {
    bool enabled = false;  // SuspendProgram and ResumeProgram are there
    bool has_resume_fail_program = false;
    TimeLimit suspend_time;  // of nodes whose partitions have none
    Seconds suspend_timeout{30};
    std::uint32_t suspend_rate = 60, resume_rate = 300;  // nodes per minute; 0: no limit
    Seconds interval{10}, min_interval{0};               // power_save_interval
    std::vector<PowerException> except_nodes;
    std::vector<std::string> except_partitions;
    std::uint32_t except_states = 0;  // NodeFlag
    bool except_down = false;         // SuspendExcStates=DOWN
    bool idle_on_suspend = false;     // idle_on_node_suspend
};

// From the first to the last.
struct PortRange {
    std::uint16_t first = 0, last = 0;
    bool operator==(const PortRange&) const = default;
};

struct Settings {
    std::string cluster_name = "cluster";
    std::vector<NodeConfig> nodes;
    std::map<std::string, std::vector<GresDevices>> gres;  // gres.conf by node; may lack nodes
    std::vector<PartitionConfig> partitions;
    std::vector<std::pair<std::string, std::string>> down_nodes;  // name, reason
    UserId slurm_user{0};
    std::uint32_t first_job_id = 1;
    std::uint32_t max_job_id = 67043328;
    std::uint32_t max_job_count = 10000;
    std::uint32_t max_array_size = 1001;
    std::uint32_t max_tasks_per_node = 512;  // of a job or step with --overcommit
    std::optional<PortRange> mpi_ports;      // MpiParams=ports=: for --resv-ports
    Unit unit = Unit::Core;
    bool memory_is_consumable = true;  // SelectTypeParameters=*_Memory
    bool least_loaded = false;         // CR_LLN
    DeviceRules device_rules;
    PrioritySettings priority;
    BackfillSettings backfill;
    PreemptSettings preempt;
    // AccountingStorageEnforce:
    bool enforce_associations = false;  // every job has an association
    bool enforce_limits = false;        // limits of QOS and associations count
    bool enforce_qos = false;           // every job has an existing QOS
    bool enforce_safe = false;    // GrpTRESMins: a job starts only if it can run to its time limit
    bool enforce_wckeys = false;  // every job has a wckey of its user
    bool accounts_for_jobs = true, accounts_for_steps = true;  // not with nojobs, nosteps
    std::vector<SwitchConfig> switches;
    std::vector<std::pair<std::string, std::uint32_t>> licenses;
    std::vector<std::string> gres_types;    // GresTypes: every node is shown with a count of each
    std::vector<std::string> tracked_tres;  // AccountingStorageTRES and gres/TYPE of GresTypes
    bool disable_job_shrink = false;        // running jobs keep all their nodes
    bool permit_job_expansion = false;      // --dependency=expand
    bool kill_invalid_depend = false;
    bool hold_on_prolog_failure = true;  // a requeued job is held until a user has looked at it
    bool config_overrides = false;       // trust slurm.conf over what nodes report
    std::vector<std::uint8_t> requeue_exit, requeue_exit_hold;  // exit codes of batch jobs
    std::uint16_t return_to_service = 0;
    Seconds kill_wait{30};
    Seconds batch_start_timeout{0};  // how long a launched script may take to start; 0: no limit
    Seconds cred_expire{120};        // nodes refuse a step that an srun launches later
    Seconds min_job_age{300};
    Seconds slurmd_timeout{300};
    Seconds requeue_delay{1};  // delay of a requeued job
    Seconds over_time_limit{0};
    bool enforce_part_limits = false;      // of at least one of a job's partitions
    bool enforce_all_part_limits = false;  // of all of them
    bool disable_root_jobs = false;
    bool allow_spec_resources = false;  // --core-spec and --thread-spec
    Seconds task_sampling{30};          // JobAcctGatherFrequency: jobs may sample more often
    PrivateData private_data;
    std::optional<Megabytes> def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu, max_mem_per_node;
    std::optional<std::uint32_t> def_cpus_per_gpu;  // DefCpuPerGPU; partitions may override
    std::optional<Megabytes> def_mem_per_gpu;
    Seconds resv_over_run{0};      // how long jobs may run after the end of their reservation
    Seconds max_switch_wait{300};  // --switches waits no longer
    std::string reboot_program;    // run by slurmd; empty: nodes cannot be rebooted
    Seconds resume_timeout{60};    // how long a reboot or ResumeProgram with the boot may take
    PowerSettings power;
    std::vector<NodeSetConfig> node_sets;
    std::uint32_t max_node_count = 0;                                   // with dynamic nodes
    bool has_controller_prolog = false, has_controller_epilog = false;  // PrologSlurmctld
    std::uint32_t max_batch_requeue = 5;  // restarts of a job whose PrologSlurmctld fails
    Seconds complete_wait{0};             // for completing jobs, before others are started
    Seconds inactive_limit{0};  // for an srun or salloc that is gone; 0: as long as the others wait
    Seconds health_check_interval{0};  // 0: none while slurmd runs
    HealthCheckNodes health_check_nodes = {};
    bool has_epilog = false;  // run by slurmd on every node of a job
    PrologRules prolog_rules = {};
    bool allow_user_triggers = false;  // of users other than root and SlurmUser
    bool disable_triggers = false;     // no trigger can be set
};

}  // namespace sluice
