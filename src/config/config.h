// config/config.h
//
// What the administrator asked for: slurm.conf, gres.conf and cgroup.conf as typed values. The
// table in keys.cc binds each key with an effect to one member here; keys that real Slurm knows
// and we do not act on are listed there too and give a warning that names their line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "model/node.h"
#include "model/partition.h"
#include "model/qos.h"
#include "model/task_bind.h"
#include "model/used.h"

namespace sluice {

struct ControllerHost {
    std::string name;     // "ctl1"
    std::string address;  // SlurmctldHost=ctl1(10.0.0.1); the name where none is given
    bool operator==(const ControllerHost&) const = default;
};

struct CgroupConfig {
    std::string plugin = "autodetect";  // CgroupPlugin: autodetect, cgroup/v1, cgroup/v2, disabled
    std::string mountpoint = "/sys/fs/cgroup";
    bool constrain_cores = false;
    bool constrain_devices = false;
    bool constrain_ram_space = false;
    bool constrain_swap_space = false;
    double allowed_ram_space = 100;  // percent
    double allowed_swap_space = 0;
    double max_ram_percent = 100;
    double max_swap_percent = 100;
    Megabytes min_ram_space = 30;
    std::optional<std::uint32_t> memory_swappiness;  // v1, with constrain_swap_space
    bool constrains_memory() const { return constrain_ram_space || constrain_swap_space; }
    bool ignore_systemd = false;
    std::map<std::string, std::string> as_written;  // by canonical key
    bool operator==(const CgroupConfig&) const = default;
};

// TaskPlugin and TaskPluginParam.
struct TaskPluginConfig {
    bool affinity = false;                // tasks are bound to CPUs
    BindKind bind = BindKind::Unset;      // for steps that ask for no binding; Unset: automatic
    BindKind autobind = BindKind::Unset;  // where automatic binding finds no match
    bool verbose = false;
    bool slurmd_off_spec = false;  // slurmd keeps away from cores that are kept from jobs
    bool oom_kill_step = false;
    bool operator==(const TaskPluginConfig&) const = default;
};

// PrologFlags.
struct PrologFlags {
    bool alloc = false, contain = false, defer_batch = false, force_requeue = false;
    bool no_hold = false, serial = false, x11 = false;
    bool operator==(const PrologFlags&) const = default;
};

// A gres.conf line: for the nodes named, or for all when none are.
struct GresLine {
    std::vector<std::string> nodes;  // empty: every node
    GresDevices devices;
    std::string auto_detect;  // "nvml" or "off"; empty: not given
    bool operator==(const GresLine&) const = default;
};

// A line of job_container.conf, with what the lines before it say of all nodes.
struct JobContainerLine {
    std::string nodes;               // empty: all
    std::vector<std::string> names;  // of these nodes
    std::string base_path, dirs = "/tmp,/dev/shm", init_script, clone_ns_script, clone_ns_epilog;
    bool auto_base_path = false, shared = false;
    bool entire_step = false;  // Compat: here the whole step always sees its own directories
    bool operator==(const JobContainerLine&) const = default;
};

// oci.conf: how containers are run. Patterns are as written; see stepd/oci_pattern.h.
struct OciConfig {
    std::string run, create, start, query, kill, remove;
    std::string container_path;  // empty: in the spool
    std::string mount_spool_dir = "/var/run/slurm";
    std::string env_exclude, runtime_env_exclude;  // regular expressions
    std::string env_file = "false";
    std::string hooks_disabled;  // "prestart,poststop"
    bool disable_cleanup = false;
    bool ignore_config = false;
    bool operator==(const OciConfig&) const = default;
};

// A line of topology.conf: a switch over nodes, or over other switches.
struct SwitchLine {
    std::string name;
    std::vector<std::string> nodes, switches;
    std::string link_speed;
    bool operator==(const SwitchLine&) const = default;
};

// SlurmctldParameters=rl_enable and its relatives.
struct RateLimits {
    bool enabled = false;
    std::uint32_t bucket_size = 30;                // rl_bucket_size: requests in a burst
    std::uint32_t refill_rate = 2;                 // rl_refill_rate: tokens that each period adds
    Seconds refill_period{1};                      // rl_refill_period
    std::uint32_t table_size = 8192;               // rl_table_size: users that are remembered
    std::optional<Seconds> log_every{Seconds{0}};  // rl_log_freq: 0: always; absent (-1): never
    bool operator==(const RateLimits&) const = default;
};

struct Config {
    std::string path;  // of slurm.conf
    std::string cluster_name = "cluster";
    std::vector<ControllerHost> controllers;
    std::uint16_t slurmctld_port = 6817;
    std::uint16_t slurmd_port = 6818;
    std::string slurm_user = "root";
    std::string state_save_location = "/var/spool";
    std::string slurmd_spool_dir = "/var/spool/slurmd";  // %n, %h
    std::string slurmctld_pid_file = "/var/run/slurmctld.pid";
    std::string slurmd_pid_file = "/var/run/slurmd.pid";
    std::string slurmctld_log_file;
    std::string slurmd_log_file;
    LogLevel slurmctld_debug = LogLevel::Info;
    LogLevel slurmd_debug = LogLevel::Info;
    LogLevel slurmctld_syslog_debug = LogLevel::Quiet;
    LogLevel slurmd_syslog_debug = LogLevel::Quiet;
    std::string auth_type = "auth/munge";
    std::string communication_parameters;  // NoCtldInAddrAny, NoInAddrAny
    std::string auth_info;                 // "socket=/run/munge/munge.socket.2,cred_expire=120"
    std::string gres_types;
    std::string select_type = "select/cons_tres";
    std::string select_type_parameters = "CR_Core_Memory";
    std::string scheduler_type = "sched/backfill";
    std::string scheduler_parameters;
    Seconds scheduler_time_slice{30};
    std::string accounting_enforce;  // "qos,limits"
    std::string accounting_type;     // accounting_storage/slurmdbd; else slurmctld does it itself
    std::string accounting_host = "localhost", accounting_backup_host;  // of slurmdbd
    std::uint16_t accounting_port = 6819;
    QosDefinitions qos;                  // QOS lines, for a new accounting database
    std::string accounting_tres;         // AccountingStorageTRES: "gres/gpu,gres/gpu:a40"
    std::string accounting_store_flags;  // job_comment, job_env, job_extra, job_script
    std::string preempt_type;            // preempt/partition_prio, preempt/qos; empty: none
    std::string preempt_mode = "OFF";    // upper case: REQUEUE, SUSPEND,GANG
    std::string preempt_parameters;
    Seconds preempt_exempt_time{0};
    std::string licenses;      // "matlab:10,ansys"
    std::string gpu_freq_def;  // as --gpu-freq
    std::string job_acct_gather_type = "jobacct_gather/linux";
    std::string job_acct_gather_frequency = "30";  // as --acctg-freq
    std::string job_acct_gather_params;            // UsePss, OverMemoryKill, ...
    std::string topology_plugin = "topology/flat";
    bool allow_spec_resources = false;
    std::string slurmd_parameters;     // config_overrides
    std::string slurmctld_parameters;  // ignore_unsupported
    RateLimits rate_limits;            // out of it
    std::string launch_parameters;     // use_interactive_step
    std::string interactive_step_options = "--interactive --preserve-env --pty $SHELL";
    std::string proctrack_type = "proctrack/cgroup";
    TaskPluginConfig task_plugin;
    std::string prolog, epilog;  // on the nodes; run as root
    PrologFlags prolog_flags;
    std::string task_prolog, task_epilog;  // around each task; run as the user
    std::string srun_prolog, srun_epilog;  // around each step; run by srun
    std::string mpi_default;               // as srun --mpi
    std::string mpi_params;                // ports=12000-12999
    std::string bcast_parameters;          // DestDir=, Compression=, send_libs
    std::string bcast_exclude = "/lib,/usr/lib,/lib64,/usr/lib64";
    std::string cpu_freq_def;                                           // as srun --cpu-freq
    std::string cpu_freq_governors = "OnDemand,Performance,UserSpace";  // that may be asked for
    std::string mail_prog = "/bin/mail";
    std::string mail_domain;
    std::uint32_t first_job_id = 1;
    std::uint32_t max_job_id = 67043328;
    std::uint32_t max_job_count = 10000;
    std::uint32_t max_array_size = 1001;
    std::uint32_t max_tasks_per_node = 512;
    std::uint32_t max_script_size = 4u << 20;  // SchedulerParameters=max_script_size=
    bool job_requeue = true;
    std::string requeue_exit, requeue_exit_hold;  // exit codes: "1-9,12"
    bool job_file_append = false;                 // what --open-mode is when it is not given
    bool kill_on_bad_exit = false;                // likewise, of srun
    Seconds wait_time{0};                         // srun --wait when it is not given; 0: never
    std::uint16_t return_to_service = 0;
    Seconds kill_wait{30};
    Seconds min_job_age{300};
    Seconds slurmd_timeout{300};
    std::string slurmctld_primary_on_prog;   // run when this controller becomes the active one
    std::string slurmctld_primary_off_prog;  // and when it is that no more
    Seconds message_timeout{10};
    std::uint32_t tree_width = 16;  // nodes that srun connects to; the others are below these
    std::string health_check_program;
    Seconds health_check_interval{0}, health_check_timeout{60};
    std::string health_check_node_state = "ANY";
    std::string prolog_slurmctld, epilog_slurmctld;
    std::uint32_t max_batch_requeue = 5;
    Seconds complete_wait{0}, inactive_limit{0};
    Seconds batch_start_timeout{10};
    Seconds unkillable_step_timeout{60};
    std::string unkillable_step_program;
    Seconds cred_expire{120};  // from AuthInfo: how long a launch credential is good
    TimeLimit over_time_limit{Seconds{0}};
    TimeLimit resv_over_run{Seconds{0}};
    std::string reboot_program;  // on the nodes; run as root
    Seconds resume_timeout{60};  // what a reboot may take, and ResumeProgram with the boot
    std::string suspend_program, resume_program, resume_fail_program;
    TimeLimit suspend_time;  // unlimited: nodes are not switched off
    Seconds suspend_timeout{30};
    std::uint32_t suspend_rate = 60, resume_rate = 300;  // nodes per minute; 0: no limit
    std::string suspend_exc_nodes, suspend_exc_parts, suspend_exc_states;
    std::uint32_t max_node_count = 0;  // 0: no more nodes than slurm.conf has
    Seconds epilog_timeout{0}, prolog_timeout{0};
    std::string enforce_part_limits = "NO";
    bool disable_root_jobs = false;  // a partition may say so for itself
    Seconds group_update_time{600};  // how long the groups of a user are remembered
    std::optional<Megabytes> def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu, max_mem_per_node;
    std::string propagate_resource_limits = "ALL";
    std::string propagate_resource_limits_except;
    std::string priority_type = "priority/multifactor";
    std::uint32_t priority_weight_age = 0, priority_weight_assoc = 0, priority_weight_fairshare = 0;
    std::uint32_t priority_weight_job_size = 0, priority_weight_partition = 0;
    std::uint32_t priority_weight_qos = 0;
    std::string priority_weight_tres;                                   // as written
    std::vector<std::pair<std::string, double>> priority_tres_weights;  // {"gres/gpu", 1000}
    std::string priority_flags;                                         // as written
    std::vector<std::string> priority_flag_words;  // upper case, NO_NORMAL_ALL spelled out
    Seconds priority_max_age{7 * 24 * 3600};
    Seconds priority_calc_period{300};
    bool priority_favor_small = false;
    Seconds priority_decay_half_life{7 * 24 * 3600};
    UsageReset priority_usage_reset = UsageReset::None;
    std::uint32_t fair_share_dampening = 1;
    std::string private_data;
    std::string job_defaults;  // "DefCpuPerGPU=2,DefMemPerGPU=4096"
    std::optional<std::uint32_t> def_cpus_per_gpu;
    std::optional<Megabytes> def_mem_per_gpu;
    std::string tmp_fs = "/tmp";
    std::string scratch_dir;                 // empty: tmp_fs
    std::optional<Megabytes> scratch_quota;  // of a job on a node
    Seconds sync_timeout{300};               // for the last synchronisation of --sync
    std::string data_cache_dir;              // empty: below scratch_dir
    Megabytes data_cache_size = 0;           // of datasets that no job uses; 0: none is kept
    Seconds gpu_sample_time{30};             // 0: GPUs are not sampled
    std::uint32_t gpu_usage_size = 1;        // megabytes per GPU
    std::string gpu_stat_dir, gpu_job_mapping_dir;
    bool gpu_job_stats = false;   // the summary of jobstats, in AdminComment
    bool gpu_clean_check = true;  // before a GPU is given to the next job
    Megabytes gpu_clean_memory = 1024;
    std::vector<std::string> gpu_fatal_xids;
    std::string stack_dump_program;  // py-spy

    std::vector<NodeConfig> nodes;  // in the order of the file
    std::vector<PartitionConfig> partitions;
    std::vector<NodeSetConfig> node_sets;
    std::vector<std::pair<std::string, std::string>> down_nodes;  // node, reason
    std::vector<GresLine> gres;
    CgroupConfig cgroup;
    std::string job_container_type;  // "job_container/tmpfs" or "namespace/tmpfs"; empty: none
    std::vector<JobContainerLine> job_containers;  // job_container.conf
    std::vector<SwitchLine> switches;              // topology.conf, with topology/tree
    std::optional<OciConfig> oci;                  // oci.conf; absent: there are no containers

    // Every key that was set in slurm.conf, by its canonical spelling, as written.
    std::map<std::string, std::string> as_written;
    std::vector<std::string> warnings;         // "slurm.conf line 12: ...": printed once by daemons
    std::vector<std::string> unsupported;      // likewise: slurmctld does not start with these
    std::vector<std::uint32_t> nodes_by_name;  // indices into `nodes`, for find_node

    const NodeConfig* find_node(std::string_view name) const;
    const PartitionConfig* find_partition(std::string_view name) const;
    bool has_flag(std::string_view list, std::string_view word) const;  // "config_overrides"
    // gres.conf as it applies to one node.
    std::vector<GresDevices> gres_of(std::string_view node) const;
    // "nvml" or "off". A line for the node comes before one for all.
    std::string auto_detect_of(std::string_view node) const;
    const JobContainerLine* job_container_of(std::string_view node) const;  // null: none
    bool operator==(const Config&) const = default;
};

// Where slurm.conf is: `given` (-f), else SLURM_CONF's value, else PREFIX/etc/slurm.conf, where the
// program at `program_path` is PREFIX/bin/x or PREFIX/sbin/x, else /etc/slurm/slurm.conf.
std::string config_path(std::string_view given, std::string_view slurm_conf,
                        std::string_view program_path);

// Reads slurm.conf and, beside it, the other files (gres.conf, oci.conf, ...) when they are there.
// An error names file, line, key, value and what would be right.
Result<Config> load_config(const std::string& path);
// Only the settings of slurm.conf, as the tools need them: lines about nodes and partitions are
// passed over, so that it takes no longer in a large cluster, and no other file is read.
Result<Config> load_settings(const std::string& path);

// The same from text: `path` only names the file in messages and is where an Include is looked for,
// which fails here. Neither gres.conf nor cgroup.conf is read.
Result<Config> parse_config(std::string_view text, const std::string& path);
Result<std::vector<GresLine>> parse_gres_conf(std::string_view text, const std::string& path,
                                              std::vector<std::string>& warnings);
Result<CgroupConfig> parse_cgroup_conf(std::string_view text, const std::string& path,
                                       std::vector<std::string>& warnings);

Result<std::vector<JobContainerLine>> parse_job_container_conf(std::string_view text,
                                                               const std::string& path,
                                                               std::vector<std::string>& warnings);
Result<OciConfig> parse_oci_conf(std::string_view text, const std::string& path,
                                 std::vector<std::string>& warnings);
Result<std::vector<SwitchLine>> parse_topology_conf(std::string_view text, const std::string& path,
                                                    std::vector<std::string>& warnings);
// The switches of `config` name nodes that it has, each once.
Result<void> check_topology(const Config& config, const std::string& path);
// All nodes that a switch reaches, and how far above the lowest ones it is.
std::vector<std::string> nodes_below(const Config& config, const SwitchLine& top);
std::uint32_t switch_level(const Config& config, const SwitchLine& top);
// The switches on the way to a node, the highest first.
std::vector<std::string> switches_above(const Config& config, const std::string& node);

// Nodes that are in no file, as keys and values of a NodeName line: "NodeName=d[1-4] CPUs=8".
// `what` names the origin of the text in messages.
Result<std::vector<NodeConfig>> parse_nodes(const Config& config, std::string_view text,
                                            const std::string& what);

// "matlab:10,ansys": names and counts, 1 where none is given.
Result<std::vector<std::pair<std::string, std::uint32_t>>> parse_license_totals(
    std::string_view text);

// "cred_expire=60,ttl=3" and "ttl" give "3"; a word without a value gives "".
std::optional<std::string_view> list_option(std::string_view list, std::string_view name);

// What only a running controller knows of `scontrol show config`; unknown lines are left out.
struct ControllerFacts {
    std::optional<Time> boot_time;
    std::optional<std::uint32_t> next_job_id;
    std::optional<std::uint32_t> slurm_user_id, slurmd_user_id;  // "slurm(64030)"
};

// `scontrol show config`, without its first line and the state of the controllers at the end:
// every key in Slurm's order and layout, then the cgroup part.
std::string print_config(const Config& config, const ControllerFacts& facts = {});

// Keys that change what happens to jobs and that Sluice does not act on: slurmctld must not run
// without them, unless SlurmctldParameters=ignore_unsupported. The error has a line for each.
Result<void> check_supported(const Config& config);
// The warnings of `config`, and what it has that is not supported, as far as `before` had not.
std::vector<std::string> new_warnings(const Config& config, const Config* before);

// "1-9,12": exit codes from 0 to 255.
Result<std::vector<std::uint8_t>> parse_exit_codes(std::string_view text);

// "%n" and "%h" in SlurmdSpoolDir, SlurmdLogFile, SlurmdPidFile.
std::string expand_node_path(std::string_view pattern, std::string_view node,
                             std::string_view hostname);

// May `next` replace `current` while these nodes run jobs? The error says why not.
Result<void> check_reconfigure(const Config& current, const Config& next,
                               const std::vector<std::string>& busy_nodes);

}  // namespace sluice
