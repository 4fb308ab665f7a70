#include "config/key_help.h"

#include "config/cgroup_conf.h"
#include "config/keys.h"
#include "config/slurmdbd_conf.h"

namespace sluice {

namespace {

// clang-format off
constexpr KeyHelp kSlurmConfHelp[] = {
    {"AccountingStorageBackupHost", "Host of slurmdbd that is asked when AccountingStorageHost does not answer."},
    {"AccountingStorageHost",     "Host of slurmdbd."},
    {"AccountingStoragePort",     "TCP port of slurmdbd."},
    {"AccountingStorageTRES",     "Resources that limits may name although no node has them: gres/gpu,gres/gpu:a40. Those of nodes and GresTypes are always known."},
    {"AccountingStorageType",     "accounting_storage/slurmdbd: slurmdbd has the accounting database. Otherwise slurmctld has it, in StateSaveLocation."},
    {"AccountingStoreFlags",      "job_script, job_env: accounting keeps the scripts or environments of jobs (sacct -B, --env-vars)."},
    {"AccountingStorageEnforce",  "Which rules of sacctmgr(1) are enforced. associations: a job is refused unless its user has an association with its account; included in limits, qos, safe and wckeys. qos: a job is refused if its association does not allow its QOS. limits: limits of QOS and associations are enforced, and QOS as with qos. safe: the same, and a job starts only if what is left of GrpTRESMins is enough until its time limit. wckeys: a job is refused unless its wckey is one of its user. nojobs, nosteps: no jobs, or no steps, are recorded. all: everything but nojobs and nosteps."},
    {"AllowSpecResourcesUsage",   "Whether jobs can use --core-spec and --thread-spec. With no, commands leave the option out with a warning, and slurmctld refuses it."},
    {"AuthInfo",                  "socket=PATH: the socket of munged."},
    {"AuthType",                  "How hosts identify users and daemons to each other. auth/munge: MUNGE. auth/slurm: the shared key slurm.key beside slurm.conf. auth/none: connections on the controller's host only."},
    {"BatchStartTimeout",         "How long a batch script can take to start after its node got the order, in addition to PrologTimeout. Then the node is drained and the job runs elsewhere. 0: no limit; there is no limit either if there is a Prolog without a PrologTimeout."},
    {"BcastExclude",              "Directories whose shared objects sbcast and srun --bcast do not send with --send-libs, or none."},
    {"BcastParameters",           "Of sbcast and srun --bcast. DestDir=PATH: where a file without an absolute path goes. Compression=lz4: files are compressed on the way unless none is asked for. send_libs: shared objects of programs are sent too."},
    {"CertgenParameters",         "Refused: connections are not encrypted."},
    {"CertgenType",               "Refused: connections are not encrypted."},
    {"CertmgrParameters",         "Refused: connections are not encrypted."},
    {"CertmgrType",               "Refused: connections are not encrypted."},
    {"ClusterName",               "Name of the cluster, in lower case."},
    {"CommunicationParameters",   "NoCtldInAddrAny: slurmctld listens on the address of its SlurmctldHost only. NoInAddrAny: slurmd listens on its NodeAddr only. The default is all addresses. Other words have no effect."},
    {"CompleteWait",              "While a job is completing, for at most this many seconds after its end, no job is started: jobs find nodes free together. 0: they start as soon as they can."},
    {"CpuFreqDef",                "CPU frequency (kilohertz, low, medium, high, highm1) or governor of steps that do not use --cpu-freq."},
    {"CpuFreqGovernors",          "Governors that --cpu-freq can ask for: a list of Conservative, OnDemand, Performance, PowerSave, SchedUtil and UserSpace."},
    {"DataCacheDir",              "Directory of each node for staged datasets (--stage-in). It is root's alone. %n and %h are replaced as in SlurmdSpoolDir. The default is a directory beside those of the jobs in ScratchDir, where staging needs no second copy. A change takes effect when slurmd is started again."},
    {"DataCacheSize",             "How much of the datasets that no job uses each node keeps, in megabytes or with a unit. Those that were used longest ago are removed first. The default is 0: a dataset is removed with the last job that uses it."},
    {"DefMemPerCPU",              "Memory for each CPU of a job that does not ask for memory. Excludes DefMemPerNode."},
    {"DefMemPerNode",             "Memory on each node for a job that does not ask for memory. Excludes DefMemPerCPU."},
    {"DisableRootJobs",           "Refuse jobs of root, in all partitions."},
    {"EnforcePartLimits",         "Refuse jobs that exceed the limits of their partition (time, nodes, CPUs, memory), instead of letting them wait. ANY (or YES): a job is accepted if one of its partitions can run it. ALL: all of them must."},
    {"Epilog",                    "Program that slurmd runs as root on every node of a job when the job has ended there. If it fails the node is drained (Epilog error). The node is free for other jobs when it has ended."},
    {"EpilogSlurmctld",           "Program that slurmctld runs as SlurmUser when a job has ended and its nodes are free. Its failure is logged. It does not run again if slurmctld is killed meanwhile."},
    {"EpilogTimeout",             "How long Epilog can run before it is killed. The default is no limit."},
    {"FairShareDampeningFactor",  "The classic fair-share formula divides by it: above 1, usage beyond the share counts less."},
    {"FirstJobId",                "First job id that is given."},
    {"GpuCleanCheck",             "Whether slurmd checks GPUs that no job has: one with a process, with memory in use (GpuCleanMemory) or with a fatal error (GpuFatalXids) gets no jobs until it is clean; the rest of the node goes on. scontrol show node prints it as GresDrain."},
    {"GpuCleanMemory",            "Memory of a GPU, in megabytes, that may be in use while no job has it: the driver reserves some."},
    {"GpuFatalXids",              "Numbers of XID errors (48,79) after which a GPU gets no jobs until scontrol update NodeName=... GresResume=gpu:N. The default is 48,62,63,64,74,79,92,94,95,119,120,140."},
    {"GpuJobMappingDir",          "Directory for the job mapping of NVIDIA's DCGM exporter (--hpc-job-mapping-dir): slurmd writes a file for each GPU that a job has, with its job id. The default is none."},
    {"GpuJobStats",               "Whether the use of each job's nodes and GPUs is stored in its AdminComment when it ends, as jobstats does (JS1:...)."},
    {"GpuSampleTime",             "Seconds between samples of the GPUs (NVML) that slurmd takes for sgpu, seff and the rules about idle GPUs. 0: none are taken."},
    {"GpuStatDir",                "Directory in which slurmd writes the files INDEX and UUID of each GPU that a job has, with its job id and user id, for the exporter of jobstats; usually /run/gpustat. The default is none."},
    {"GpuUsageSize",              "How many megabytes of samples slurmd keeps for each GPU in SlurmdSpoolDir, about a month per megabyte. The oldest are removed first."},
    {"GresTypes",                 "Names of the generic resources of the cluster, such as gpu. shard and mps are parts of GPUs, which several jobs share."},
    {"GpuFreqDef",                "GPU frequency of steps that do not use --gpu-freq, in its syntax."},
    {"GroupUpdateTime",           "How long slurmctld and slurmd remember the ids and groups of users."},
    {"HealthCheckInterval",       "How often HealthCheckProgram runs on a node, in seconds. 0: only when slurmd is started."},
    {"HealthCheckNodeState",      "Nodes on which HealthCheckProgram runs: ANY, or those that are ALLOC, MIXED, IDLE, or NONDRAINED_IDLE. CYCLE: not on all at the same time, but one after the other during the interval. START_ONLY: only when slurmd is started. REBOOT_ONLY: only when slurmd is started first after a boot."},
    {"HealthCheckProgram",        "Program that slurmd runs as root when it is started, before the node registers, and every HealthCheckInterval. It drains the node itself if something is wrong (scontrol update NodeName=$SLURMD_NODENAME State=DRAIN Reason=...). Only one runs at a time."},
    {"HealthCheckTimeout",        "How long HealthCheckProgram can run before it is killed."},
    {"InactiveLimit",             "How many seconds after the end of its salloc a job without steps is cancelled, and a job of srun whose srun does not start its step. 0: 60 seconds. Batch jobs are not affected."},
    {"InteractiveStepOptions",    "Options of the srun that salloc uses with LaunchParameters=use_interactive_step."},
    {"JobAcctGatherFrequency",    "How often slurmstepd samples what tasks use: seconds, or task=SECONDS. 0: only when they end. Jobs can ask for more (--acctg-freq), not for less. Intervals of energy, network and filesystem have no effect."},
    {"JobAcctGatherParams",       "NoShared: shared pages do not count as memory of a process. UsePss: each process counts its part of them. OverMemoryKill: a step that uses more memory than it has is killed, when a sample shows it; its state is OUT_OF_MEMORY. NoOverMemoryKill is how it is without that. DisableGPUAcct: GPUs are not sampled."},
    {"JobAcctGatherType",         "Where samples of tasks come from. jobacct_gather/linux (also where the key is missing): the processes of each task in /proc. jobacct_gather/cgroup: CPU time and memory from the cgroup of a step that has one task on a node, the rest from /proc. jobacct_gather/none: nothing is sampled."},
    {"JobContainerType",          "job_container/tmpfs: each job has its own /tmp and /dev/shm on each node (job_container.conf(5)). The same as NamespaceType=namespace/tmpfs."},
    {"JobFileAppend",             "Whether output files that exist are appended to where --open-mode is not given."},
    {"JobRequeue",                "Whether batch jobs can be requeued where neither --requeue nor --no-requeue is given."},
    {"KillOnBadExit",             "Whether srun ends a step when one of its tasks fails, where --kill-on-bad-exit is not given."},
    {"KillWait",                  "Time between SIGTERM and SIGKILL when a job is ended."},
    {"LaunchParameters",          "use_interactive_step: salloc without a command runs a shell in a step on the first node of the job. Other words have no effect."},
    {"Licenses",                  "Licences of the cluster: name[:count],..."},
    {"MailDomain",                "Domain that is added to mail recipients without one."},
    {"MailProg",                  "Program that slurmctld runs to send mail, as MailProg -s SUBJECT ADDRESS, with the job in SLURM_JOB_* variables."},
    {"MaxArraySize",              "Upper bound of the indexes of job arrays: the highest index is one less."},
    {"MaxBatchRequeue",           "A batch job whose PrologSlurmctld fails is requeued; after so many restarts it is also held."},
    {"MaxJobCount",               "How many jobs there can be, waiting, running or ended within MinJobAge."},
    {"MaxJobId",                  "Highest job id; after it FirstJobId follows again."},
    {"MaxMemPerCPU",              "Most memory for each CPU. A job that asks for more gets more CPUs instead. Excludes MaxMemPerNode."},
    {"MaxNodeCount",              "How many nodes there can be with those of slurmd -Z and scontrol create NodeName=. The default is the number of nodes in slurm.conf: there are no dynamic nodes."},
    {"MaxMemPerNode",             "Most memory of a job on each node. A job that asks for more waits (MaxMemPerLimit), or is refused with EnforcePartLimits. Excludes MaxMemPerCPU."},
    {"MaxTasksPerNode",           "Most tasks of one step or job on a node, where --overcommit allows more than it has CPUs."},
    {"MessageTimeout",            "How long commands try to reach slurmctld; at a terminal they give up after 5 seconds."},
    {"MinJobAge",                 "How long ended jobs are kept and shown."},
    {"MpiParams",                 "ports=FIRST-LAST: the ports that srun --resv-ports gives to steps."},
    {"MpiDefault",                "How the tasks of srun find each other where --mpi is not given: none, pmi2 (MPICH) or pmix (Open MPI)."},
    {"NamespaceType",             "namespace/tmpfs: each job has its own /tmp and /dev/shm on each node (job_container.conf(5))."},
    {"OverTimeLimit",             "Minutes that jobs can run beyond their time limit."},
    {"PreemptMode",               "What happens to preempted jobs: CANCEL, REQUEUE, or SUSPEND,GANG (stopped until their CPUs are free again). GANG alone: jobs that share CPUs run in time slices. Needs PreemptType, and PreemptType needs it."},
    {"PreemptParameters",         "See the words of PreemptParameters."},
    {"PreemptType",               "Which jobs can preempt others. preempt/none: no jobs. preempt/partition_prio: jobs of partitions with a higher PriorityTier. preempt/qos: jobs whose QOS can preempt the other's (sacctmgr(1))."},
    {"PreemptExemptTime",         "Jobs are not preempted before they have run for this time."},
    {"PriorityCalcPeriod",        "Interval of the calculation of priorities."},
    {"PriorityDecayHalfLife",     "Time after which past usage counts half for fair share and for limits on used minutes. 0: it does not decay."},
    {"PriorityFavorSmall",        "Whether smaller jobs have a higher size factor."},
    {"PriorityFlags",             "ACCRUE_ALWAYS: age counts from the submission. CALCULATE_RUNNING: priorities of running jobs are calculated too. DEPTH_OBLIVIOUS: the classic fair-share formula, in a variant for deep trees. FAIR_TREE: the default. INCR_ONLY: a calculation never lowers a priority. MAX_TRES: the billing of a job is the largest of its weighted TRES instead of their sum. MAX_TRES_GRES: the largest of CPUs, memory and nodes, plus all gres. NO_FAIR_TREE: the classic fair-share formula. NO_NORMAL_ALL, _ASSOC, _PART, _QOS, _TRES: factors are numbers instead of fractions. SMALL_RELATIVE_TO_TIME: the size factor is CPUs divided by minutes."},
    {"PriorityMaxAge",            "Waiting time after which the age factor does not grow any more."},
    {"PriorityType",              "priority/multifactor: a weighted sum of factors. priority/basic: first come, first served."},
    {"PriorityUsageResetPeriod",  "When past usage is set to 0: NOW (at the start and with scontrol reconfigure), or at the beginning of each day, week (Sunday), month, quarter or year."},
    {"PriorityWeightAge",         "Weight of the time that a job has waited."},
    {"PriorityWeightAssoc",       "Weight of the priority of the association (sacctmgr)."},
    {"PriorityWeightFairShare",   "Weight of the fair-share factor: what the account and user may use, compared with what they have used."},
    {"PriorityWeightJobSize",     "Weight of the size of a job in nodes and CPUs."},
    {"PriorityWeightPartition",   "Weight of the PriorityJobFactor of the partition."},
    {"PriorityWeightQOS",         "Weight of the priority of the QOS."},
    {"PriorityWeightTRES",        "Weights of resources that a job asks for: cpu=N,mem=N,node=N,billing=N,gres/NAME=N,license/NAME=N."},
    {"PrivateData",               "What users other than root and SlurmUser do not see. jobs: jobs and steps of others. nodes, partitions: any of them. reservations: those that the user cannot use. usage: shares and usage of other users and of accounts, in sshare and sreport. accounts: accounts in sacctmgr. users: other users and their associations. events: events of nodes. Coordinators see what belongs to their accounts, operators see everything. For sacct, sreport and sacctmgr these words count if slurmctld has the accounting database; else slurmdbd.conf has them."},
    {"ProctrackType",             "How slurmd finds the processes of a job. proctrack/cgroup: by cgroups, if slurmd runs as root. proctrack/linuxproc, proctrack/pgid: by their ancestry."},
    {"Prolog",                    "Program that slurmd runs as root on a node of a job before anything of the job runs there. If it fails the node is drained, and the job is requeued and held (SchedulerParameters=nohold_on_prolog_fail: not held); a job that cannot be requeued fails."},
    {"PrologEpilogTimeout",       "Sets PrologTimeout and EpilogTimeout, which also limit PrologSlurmctld and EpilogSlurmctld. 65534: no limit."},
    {"PrologFlags",               "Alloc: the Prolog runs on all nodes of a job when the job gets them, not before the first step there; the job is CONFIGURING until then. Contain: each node of a job also runs the step extern, a container for processes of logins (pam_slurm_adopt). DeferBatch: a batch script waits for the Prolog of all nodes, not of the first one. ForceRequeueOnFail: a batch job whose Prolog fails is requeued even with --no-requeue. NoHold: jobs do not wait for the Prolog, only steps do; not with Contain. Serial: one Prolog or Epilog at a time runs on a node. X11: srun --x11 is allowed. All but Serial imply Alloc, X11 implies Contain. RunInJob is refused."},
    {"PrologSlurmctld",           "Program that slurmctld runs as SlurmUser when a job has got its nodes, before anything of it starts; meanwhile the job is CONFIGURING. If it fails a batch job is requeued (MaxBatchRequeue) and another job is cancelled. After a restart of slurmctld it runs again."},
    {"PrologTimeout",             "How long Prolog can run before it is killed. The default is no limit."},
    {"PropagateResourceLimits",   "Resource limits (setrlimit(2)) of the submitting shell that jobs inherit where --propagate is not given. A limit is never higher than the hard limit of slurmd."},
    {"PropagateResourceLimitsExcept", "Resource limits that jobs do not inherit."},
    {"RebootProgram",             "Program that slurmd runs for scontrol reboot, with its arguments."},
    {"RequeueExit",               "Batch jobs that end with one of these exit codes (1-9,18) and can be requeued run again."},
    {"RequeueExitHold",           "The same, in held state."},
    {"ResumeFailProgram",         "Program that slurmctld runs as SlurmUser with a list of nodes that did not register within ResumeTimeout. They are down, and their jobs were requeued."},
    {"ResumeProgram",             "Program that slurmctld runs as SlurmUser to switch nodes on. Its argument is a list of nodes; $SLURM_RESUME_FILE names a JSON file with the jobs that wait for them. It may run for ResumeTimeout. Power saving needs it and SuspendProgram."},
    {"ResumeRate",                "Nodes per minute that are handed to ResumeProgram. 0: no limit."},
    {"ResumeTimeout",             "How long a node can take to register after ResumeProgram got it, or after scontrol reboot. Then it is down, and its jobs are requeued. A partition can have its own; the longest one applies to a node."},
    {"ResvOverRun",               "Minutes that jobs of a reservation can run beyond its end."},
    {"ReturnToService",           "When a node that was down is used again after its slurmd has registered. 0: after scontrol update State=RESUME. 1: at once, if it was down because it did not respond. 2: at once."},
    {"SchedulerParameters",       "See the words of SchedulerParameters."},
    {"SchedulerTimeSlice",        "Length of a time slice with PreemptMode=GANG."},
    {"SchedulerType",             "sched/backfill: jobs of lower priority start earlier if that delays no booked job. sched/builtin: the first job that finds no resources stops its partition."},
    {"ScratchDir",                "Directory on a local disk of each node. There slurmd makes a private directory for each job, $SCRATCH and $SLURM_TMPDIR, before the prolog, and removes it with all that is in it after the epilog. %n and %h are replaced as in SlurmdSpoolDir. The default is TmpFS. A change takes effect when slurmd is started again."},
    {"ScratchQuota",              "Most disk space, in megabytes or with a unit, that a job may use in its $SCRATCH on a node. slurmd measures it every 10 seconds; the script of a job that uses more is ended (on a node without the script: its steps), with the reason in its output and in DataProblem of scontrol show job. Files of --stage-in do not count where slurmd runs as root. The default is no limit."},
    {"SyncTimeout",               "How long the last synchronisation of --sync may take when a job has ended, before its scratch directory is removed. Then it is killed; the job's record (DataProblem) and its output say so. The default is 300 seconds."},
    {"SelectType",                "select/cons_tres: jobs get parts of nodes. select/linear: jobs get whole nodes. select/cons_res: the same as select/cons_tres."},
    {"SelectTypeParameters",      "CR_CPU, CR_Core, CR_Socket: what is allocated as a whole; with _Memory, memory is allocated too. CR_LLN: the least loaded nodes first. CR_Pack_Nodes: tasks fill one node after the other. ENFORCE_BINDING_GRES: GPUs only with CPUs close to them. MULTIPLE_SHARING_GRES_PJ: shards of a job may be parts of several GPUs. ONE_TASK_PER_SHARING_GRES: tasks have shards of different GPUs. LL_SHARED_GRES: shards of the least loaded GPU first."},
    {"SlurmUser",                 "User that slurmctld runs as."},
    {"SlurmctldDebug",            "Level of slurmctld's log: quiet, fatal, error, info, verbose, debug, debug2 ... debug5, or 0 to 9."},
    {"SlurmctldHost",             "Host of slurmctld: name[(address)]. slurmctld starts on that host only. Given several times, with StateSaveLocation=postgresql://...: the first is the primary controller, the others are its backups in this order. One of them is active; if it fails, another one takes over. A host finds its line by its name, or else by the address."},
    {"SlurmctldLogFile",          "Log file of slurmctld. The default is syslog."},
    {"SlurmctldPort",             "TCP port of slurmctld."},
    {"SlurmctldPrimaryOffProg",   "Program that slurmctld runs, as SlurmUser, when it is the active controller no more. It does not wait for it."},
    {"SlurmctldPrimaryOnProg",    "Program that slurmctld runs, as SlurmUser, when it becomes the active one of several controllers, for example to move a virtual IP address. It does not wait for it."},
    {"SlurmctldSyslogDebug",      "Level of what slurmctld also writes to syslog."},
    {"SlurmctldParameters",       "allow_user_triggers: users other than root and SlurmUser can set triggers, if SlurmUser is root. disable_triggers: no trigger can be set. idle_on_node_suspend: a node that is switched off is neither down nor drained afterwards. power_save_interval=N: how often nodes are looked at (10 seconds). power_save_min_interval=N: least time between two times (0). preempt_send_user_signal: the same as PreemptParameters=send_user_signal. cloud_dns: CLOUD nodes have the addresses of slurm.conf; otherwise the address they register from. ignore_unsupported: keys that slurmctld refuses give a warning instead. rl_enable: limit the rate of requests of each user, except root and SlurmUser: a bucket of rl_bucket_size (30) tokens, of which each request takes one, gets rl_refill_rate (2) tokens every rl_refill_period (1) seconds. A command that finds the bucket empty waits for a second and tries again. rl_table_size (8192): number of users that are remembered. rl_log_freq (0): seconds between log lines about a user over the limit; 0: each time, -1: never. Other words have no effect."},
    {"SlurmdDebug",               "Level of slurmd's log."},
    {"SlurmdLogFile",             "Log file of slurmd; %n is the name of the node, %h its host. The default is syslog."},
    {"SlurmdParameters",          "config_overrides: CPUs and memory of nodes are as slurm.conf says, whatever nodes report. Other words have no effect."},
    {"SlurmdPidFile",             "Pid file of slurmd; %n is the name of the node, %h its host."},
    {"SlurmdPort",                "TCP port of slurmd."},
    {"SlurmdSpoolDir",            "Directory of slurmd for running jobs; %n is the name of the node, %h its host."},
    {"SlurmdSyslogDebug",         "Level of what slurmd also writes to syslog."},
    {"SlurmdTimeout",             "A node that has not responded for this time is down. Time in which slurmctld itself did not run does not count."},
    {"SlurmctldPidFile",          "Pid file of slurmctld."},
    {"StackDumpProgram",          "Program that prints the stacks of a process of a job that hangs, run as the user of the job with: dump --pid PID. The default is py-spy, if it is in /usr/bin or /usr/local/bin."},
    {"SrunEpilog",                "Program that srun runs on its own host after each step, with the command of the step as arguments."},
    {"SrunProlog",                "Program that srun runs on its own host before each step, with the command of the step as arguments. If it fails the step is not run."},
    {"StateSaveLocation",         "Directory of slurmctld's state, on a local disk; or postgresql://[USER@]HOST[:PORT][,HOST...]/DATABASE[?OPTIONS] (a connection string of libpq), which several controllers may share."},
    {"SuspendExcNodes",           "Nodes that stay switched on. n[1-10]:4: four of these, which are idle, not down and not drained."},
    {"SuspendExcParts",           "Partitions whose nodes stay switched on."},
    {"SuspendExcStates",          "Nodes in one of these states stay switched on: CLOUD, DOWN, DRAIN, DYNAMIC_FUTURE, DYNAMIC_NORM, FAIL, INVALID_REG, MAINTENANCE, NOT_RESPONDING, PLANNED, RESERVED."},
    {"SuspendProgram",            "Program that slurmctld runs as SlurmUser to switch nodes off. Its argument is a list of nodes. It may run for SuspendTimeout. Power saving needs it and ResumeProgram."},
    {"SuspendRate",               "Nodes per minute that are handed to SuspendProgram. 0: no limit."},
    {"SuspendTime",               "A node that is idle for so many seconds is switched off. INFINITE: never. A partition and a node can have their own; of several partitions the longest one applies."},
    {"SuspendTimeout",            "How long a node takes to be switched off. It can be switched on again after that. A partition can have its own; the longest one applies to a node."},
    {"TaskEpilog",                "Program that runs as the user after each task and batch script, however that ended. It does not have the variables that TaskProlog has set."},
    {"TaskPlugin",                "With task/affinity tasks are bound to CPUs: see --cpu-bind and --mem-bind of srun. task/none and task/cgroup describe what slurmd does; cgroup.conf decides."},
    {"TaskPluginParam",           "How tasks are bound if their step does not say it: none, sockets, cores or threads instead of automatic binding; autobind=sockets|cores|threads where automatic binding finds no match; verbose. SlurmdOffSpec: slurmd keeps away from the CPUs of CpuSpecList and CoreSpecCount, where it runs otherwise. OOMKillStep: want of memory ends all processes of a step."},
    {"TaskProlog",                "Program that runs as the user before each task and batch script, where it runs. Lines of its output change the task: export NAME=value sets a variable, unset NAME removes one, print TEXT goes to the task's output. SLURM_TASK_PID is the pid of the task. If the program fails the task is not run and ends with its exit code. The task starts when the output of the program is closed, so a process that it leaves in the background must not keep it open."},
    {"TLSParameters",             "Refused: connections are not encrypted."},
    {"TLSType",                   "Only tls/none is accepted: connections are not encrypted."},
    {"TmpFS",                     "Local disk of the nodes, if ScratchDir is not set: its size is the TmpDisk that a node reports."},
    {"TopologyPlugin",            "topology/flat: there are no switches. topology/tree: the switches of topology.conf."},
    {"TreeWidth",                 "With more nodes than this in a step, srun and sbcast connect to so many of them, and reach each of the others through one of these, with the same width. From 1 to 65533. slurmctld itself is connected to every slurmd."},
    {"UnkillableStepProgram",     "Program that slurmd runs, with SLURM_JOB_ID, SLURM_STEP_ID and SLURMD_NODENAME, for a step that UnkillableStepTimeout has ended."},
    {"UnkillableStepTimeout",     "How long after SIGKILL slurmd waits for a step to end. Then its job ends and its node is drained (Kill task failed). The default is 60 seconds, or five times MessageTimeout if that is more."},
    {"WaitTime",                  "Seconds between the end of the first task of a step and the end of the others, where srun --wait is not given. 0: no limit."},
    {"DefCpuPerGPU",              "CPUs for each GPU of a job that asks for GPUs and not for CPUs."},
    {"DefMemPerGPU",              "Memory for each GPU of a job that asks for GPUs and not for memory."},
    {"ControlMachine",            "Older name of SlurmctldHost."},
    {"ControlAddr",               "Address of ControlMachine."},
    {"BackupController",          "Older name of the second SlurmctldHost."},
    {"BackupAddr",                "Its address."},
    {"DownNodes",                 "Begins a line about nodes that are down."},
    {"NodeName",                  "Begins a line about nodes. NodeName=DEFAULT sets the defaults of the lines after it."},
    {"NodeSet",                   "Begins a line that names a set of nodes."},
    {"PartitionName",             "Begins a line about a partition. PartitionName=DEFAULT sets the defaults of the lines after it."},
    {"QOS",                       "Begins a line that defines a QOS with the keys of sacctmgr add qos: QOS=short Priority=100 MaxWall=1-0. All accounts may use it. It counts when slurmctld makes a new accounting database; later sacctmgr changes QOS. Not in Slurm."},
};

constexpr KeyHelp kNodeHelp[] = {
    {"NodeName",        "Names of the nodes, as a host list: n[1-4]."},
    {"NodeHostname",    "Host names, if they differ from the node names. Several nodes can have one host."},
    {"NodeAddr",        "Addresses, if they differ from the host names."},
    {"Port",            "Ports of slurmd, if they differ from SlurmdPort: 7001, or a range with a port for each node."},
    {"CPUs",            "Number of CPUs: of cores, or of threads."},
    {"Procs",           "The same as CPUs."},
    {"Boards",          "Number of boards; with SocketsPerBoard instead of Sockets."},
    {"Sockets",         "Number of sockets."},
    {"SocketsPerBoard", "Number of sockets on each board."},
    {"CoresPerSocket",  "Number of cores of each socket."},
    {"ThreadsPerCore",  "Number of threads of each core."},
    {"RealMemory",      "Memory, in megabytes."},
    {"MemSpecLimit",    "Memory that is kept from jobs, in megabytes."},
    {"SuspendTime",     "A node that is idle for so many seconds is switched off. INFINITE: never. The default is that of its partitions."},
    {"TmpDisk",         "Temporary disk space, in megabytes: what --tmp is compared with. A node whose file system of ScratchDir (or else of TmpFS) is smaller is drained."},
    {"CoreSpecCount",   "Number of cores that are kept from jobs: the last core of each socket in turn."},
    {"CpuSpecList",     "CPUs that are kept from jobs, by number, with all others of their cores: 0,1."},
    {"Weight",          "Nodes with a smaller weight are used first."},
    {"Feature",         "Features for --constraint and --prefer, separated by commas."},
    {"Features",        "The same as Feature."},
    {"Gres",            "Generic resources: name[:type][:no_consume]:count,... such as gpu:a40:8,shard:32. Counts may end in K, M, G. With no_consume requests are compared with the count and take nothing."},
    {"State",           "State at the start: UNKNOWN (it becomes idle when slurmd registers), DOWN, DRAIN, FAIL, FAILING, FUTURE. IDLE means UNKNOWN."},
    {"Reason",          "Reason of a State other than UNKNOWN."},
    {"Comment",         "Free text, which is shown."},
    {"RestrictedCoresPerGPU", "Number of cores for each GPU, of those close to it, that only jobs with GPUs may use."},
};

constexpr KeyHelp kNodeSetHelp[] = {
    {"NodeSet", "Name of the set, which Nodes= of partitions can use."},
    {"Nodes",   "Nodes of the set."},
    {"Feature", "All nodes with this feature belong to the set."},
};

constexpr KeyHelp kDownHelp[] = {
    {"DownNodes", "Nodes, as a host list."},
    {"State",     "Their state at the start."},
    {"Reason",    "The reason that is shown."},
};

constexpr KeyHelp kPartitionHelp[] = {
    {"PartitionName",       "Name of the partition."},
    {"Nodes",               "Nodes of the partition: host lists, names of NodeSet lines, ALL."},
    {"AllocNodes",          "Hosts from which jobs can be submitted."},
    {"AllowAccounts",       "Accounts whose jobs are accepted."},
    {"AllowGroups",         "Unix groups whose members can submit jobs, as slurmctld's host knows them. They are looked up again after GroupUpdateTime and by scontrol reconfigure. Root and SlurmUser need none."},
    {"AllowQos",            "QOS whose jobs are accepted."},
    {"Alternate",           "Partition that gets the jobs while this one is in state DRAIN or INACTIVE."},
    {"Default",             "Whether jobs that name no partition go here."},
    {"DefaultTime",         "Time limit of jobs that ask for none. The default is MaxTime."},
    {"DefCpuPerGPU",        "CPUs for each GPU of a job that asks for GPUs and not for CPUs."},
    {"DefMemPerCPU",        "Memory for each CPU of a job that does not ask for memory."},
    {"DefMemPerGPU",        "Memory for each GPU of a job that asks for GPUs and not for memory."},
    {"DefMemPerNode",       "Memory on each node for a job that does not ask for memory."},
    {"DenyAccounts",        "Accounts whose jobs are refused."},
    {"DenyQos",             "QOS whose jobs are refused."},
    {"DisableRootJobs",     "Refuse jobs of root."},
    {"Exclusive",           "NODE: jobs get whole nodes. USER: nodes are not shared between users. TOPO is accepted without effect."},
    {"ExclusiveTopo",       "The same as Exclusive=TOPO."},
    {"ExclusiveUser",       "The same as Exclusive=USER."},
    {"GpuHungWarn",         "A job whose GPUs are equally busy for so long (minutes, or [[days-]hours:]minutes:seconds) while its processes read and write nothing is reported as hung: a mail, a line in its output with the stacks of its processes (StackDumpProgram), GpuState=HUNG. 0: no job is."},
    {"GpuIdleAction",       "What happens to a job with idle GPUs GpuIdleGrace after the warning. REPORT: nothing else. REQUEUE: it is requeued, or cancelled if it cannot be. CANCEL: it is cancelled."},
    {"GpuIdleExemptQos",    "Jobs of these QOS are neither warned nor ended because of their GPUs."},
    {"GpuIdleGrace",        "Time between the warning and GpuIdleAction, written as GpuIdleWarn."},
    {"GpuIdlePercent",      "GPUs are idle if their mean utilisation is below this number of percent, over all GPUs of the job."},
    {"GpuIdleWarn",         "A job whose GPUs are idle for so long (minutes, or [[days-]hours:]minutes:seconds) is warned: a mail, a line in its output, GpuState=IDLE. 0: no job is."},
    {"GraceTime",           "Seconds between the warning (SIGTERM) and the end of a preempted job."},
    {"Hidden",              "Whether the partition is left out of listings without --all."},
    {"LLN",                 "Whether the least loaded nodes are used first."},
    {"MaxCPUsPerNode",      "Most CPUs of a node for all jobs of the partition together."},
    {"MaxCPUsPerSocket",    "Most CPUs of a socket for each job."},
    {"MaxMemPerCPU",        "Most memory for each CPU; a job that asks for more gets more CPUs."},
    {"MaxMemPerNode",       "Most memory of a job on each node."},
    {"MaxNodes",            "Most nodes of a job."},
    {"MaxTime",             "Longest time limit of a job."},
    {"MinNodes",            "Least nodes of a job."},
    {"OverSubscribe",       "Whether jobs share CPUs. NO: never. EXCLUSIVE: jobs get whole nodes. YES:N: up to N jobs on a CPU, if they ask for it with --oversubscribe. FORCE:N: up to N jobs, always. N is 4 if it is left out."},
    {"Shared",              "Older name of OverSubscribe."},
    {"OverTimeLimit",       "Minutes that jobs can run beyond their time limit. 0: OverTimeLimit of the cluster."},
    {"PowerDownOnIdle",     "Whether a node is switched off as soon as the last job that got it through the partition has ended and it is idle."},
    {"PreemptMode",         "What happens to preempted jobs of this partition: OFF, CANCEL, REQUEUE, SUSPEND; with GANG, jobs that share CPUs run in time slices. The default is PreemptMode of the cluster."},
    {"Priority",            "Sets PriorityTier and PriorityJobFactor."},
    {"PriorityJobFactor",   "The partition's part of the priority of its jobs, see PriorityWeightPartition."},
    {"PriorityTier",        "Jobs of partitions with a higher tier are scheduled first, and can preempt others with preempt/partition_prio."},
    {"QOS",                 "QOS whose limits hold for all jobs of the partition."},
    {"ReqResv",             "Whether jobs must use a reservation."},
    {"ResumeTimeout",       "ResumeTimeout of the nodes of the partition. The default is that of the cluster."},
    {"RootOnly",            "Whether only root can submit jobs."},
    {"State",               "UP: jobs are accepted and started. DOWN: accepted, not started. DRAIN: not accepted, those that wait are started. INACTIVE: neither."},
    {"SuspendTime",         "SuspendTime of the nodes of the partition. The default is that of the cluster."},
    {"SuspendTimeout",      "SuspendTimeout of the nodes of the partition. The default is that of the cluster."},
    {"TRESBillingWeights",  "Weights of the resources in the billing of a job: CPU=1.0,Mem=0.25G,GRES/gpu=2.0."},
};

constexpr KeyHelp kSchedulerHelp[] = {
    {"bf_window",                "How far ahead jobs are booked, in minutes. The default is no limit."},
    {"bf_interval",              "Longest pause between complete plans, in seconds, where a plan is expensive."},
    {"bf_max_job_test",          "How many waiting jobs are booked. 0: all."},
    {"bf_max_job_user",          "How many waiting jobs of a user are booked. 0: all."},
    {"bf_max_job_part",          "How many waiting jobs of a partition are booked. 0: all."},
    {"max_switch_wait",          "Longest time that a job waits for the number of --switches, in seconds (300)."},
    {"requeue_delay",            "How long a requeued job waits before it can start, in seconds (1)."},
    {"disable_job_shrink",       "Running jobs cannot give up nodes."},
    {"permit_job_expansion",     "Jobs can use --dependency=expand to add nodes to a running job."},
    {"kill_invalid_depend",      "Cancel jobs whose dependency can never be met."},
    {"nohold_on_prolog_fail",    "A job whose Prolog failed is requeued, not held."},
    {"preempt_youngest_first",   "See youngest_first of PreemptParameters."},
    {"enable_user_top",          "Users can use scontrol top for their own jobs."},
    {"max_script_size",          "Largest batch script, in bytes (4194304; at most 16777216)."},
};

constexpr KeyHelp kPreemptHelp[] = {
    {"send_user_signal", "A preempted job with --signal gets that signal at the start of its GraceTime, unless it has got it before; otherwise it gets SIGTERM."},
    {"youngest_first",   "Of several jobs that could be preempted, the one that started last is chosen."},
    {"reclaim_limits",   "Jobs are also preempted for a job that waits for a limit of a QOS or association against which they count. Slurm does not know this word."},
};

constexpr KeyHelp kGresHelp[] = {
    {"NodeName",      "Nodes that the line is about. The default is all nodes."},
    {"Name",          "Name of the resource, such as gpu; one of GresTypes."},
    {"Type",          "Type of the devices, such as a40."},
    {"File",          "Device files: /dev/nvidia[0-7]. Each is one device."},
    {"MultipleFiles", "Device files that together are one device. Excludes File."},
    {"Count",         "Number of devices, where there are no files. K multiplies by 1024. Of shard and mps: how many parts the GPUs of File have together, or all GPUs."},
    {"Cores",         "Numbers of the cores that the devices are close to: 0-15."},
    {"CPUs",          "Older name of Cores."},
    {"Links",         "Number of connections of the device with each device of the node: -1,4,0,4 (-1 is the device itself). GPUs with the most connections are given together."},
    {"Flags",         "nvidia_gpu_env, amd_gpu_env, intel_gpu_env, opencl_env: the variables that name the GPUs (default: all); no_gpu_env: none. env_uuid: UUIDs instead of numbers. explicit: not given with a whole node. one_sharing (the default of mps): parts of one GPU of a node at a time; all_sharing (of shard): of all. countonly: it is only counted."},
    {"AutoDetect",    "nvml: find NVIDIA GPUs with NVML. nvidia: as the driver lists them, without MIG devices and links. rsmi: AMD GPUs, with ROCm SMI. oneapi: Intel GPUs, with Level Zero. nrt: AWS Neuron devices, as the driver lists them. full: all ways that work. off (or none): do not."},
};

constexpr KeyHelp kCgroupHelp[] = {
    {"AllowedRAMSpace",    "Memory limit of a job, in percent of the memory that it has."},
    {"AllowedSwapSpace",   "Swap limit of a job, in percent of the memory that it has."},
    {"CgroupMountpoint",   "Where cgroups are mounted."},
    {"CgroupPlugin",       "Version of cgroups."},
    {"ConstrainCores",     "Whether a step runs on its own CPUs only."},
    {"ConstrainDevices",   "Whether a step can open only the device files of gres.conf that belong to its own devices."},
    {"ConstrainRAMSpace",  "Whether the memory of jobs and steps is limited. All steps of a job on a node share the limit of the job."},
    {"ConstrainSwapSpace", "Whether the swap of jobs and steps is limited. Without ConstrainRAMSpace, their memory has the limit of memory and swap together."},
    {"IgnoreSystemd",      "Whether the cgroups of jobs are in system.slice, even if systemd has delegated a cgroup to slurmd."},
    {"MaxRAMPercent",      "Most memory of a job, in percent of the memory of the node."},
    {"MaxSwapPercent",     "Most memory and swap of a job together, in percent of the memory of the node."},
    {"MemorySwappiness",   "Swappiness of the cgroups of jobs, 0 to 100. With cgroup v1 and ConstrainSwapSpace."},
    {"MinRAMSpace",        "Least memory limit of a job, in megabytes."},
};

constexpr KeyHelp kDbdHelp[] = {
    {"ArchiveDir",         "Directory of the archives that purges write."},
    {"ArchiveEvents",      "Whether purged events of nodes are archived."},
    {"ArchiveJobs",        "Whether purged jobs are archived."},
    {"ArchiveResvs",       "Whether purged reservations are archived."},
    {"ArchiveSteps",       "Whether purged steps are archived."},
    {"ArchiveSuspend",     "Whether purged times of suspension are archived."},
    {"ArchiveTXN",         "Whether purged transactions are archived."},
    {"ArchiveUsage",       "Whether purged usage is archived."},
    {"AuthInfo",           "socket=PATH of munged, or key=PATH of auth/slurm."},
    {"AuthType",           "How connections over TCP are authenticated, as in slurm.conf."},
    {"DbdAddr",            "Address to listen on; all if it is not set."},
    {"DbdBackupHost",      "Another host that may answer with this database."},
    {"DbdHost",            "Host of slurmdbd, as AccountingStorageHost in slurm.conf names it."},
    {"DbdPort",            "Port of slurmdbd."},
    {"DebugLevel",         "How much is logged."},
    {"LogFile",            "Log file; syslog if it is not set."},
    {"MessageTimeout",     "How long the database may take for an answer."},
    {"PidFile",            "File with the process id."},
    {"PrivateData",        "What users do not see of others: accounts, events, jobs, reservations, usage, users. Coordinators see what belongs to their accounts, operators see everything."},
    {"PurgeEventAfter",    "Age at which events are deleted: 12months, 30days, 36hours; a number alone is months."},
    {"PurgeJobAfter",      "Age at which ended jobs are deleted, with their steps."},
    {"PurgeResvAfter",     "Age at which reservations are deleted."},
    {"PurgeStepAfter",     "Age at which ended steps are deleted."},
    {"PurgeSuspendAfter",  "Age at which times of suspension are deleted."},
    {"PurgeTXNAfter",      "Age at which transactions are deleted."},
    {"PurgeUsageAfter",    "Age at which usage is deleted."},
    {"SlurmUser",          "User that slurmdbd runs as; the same as in slurm.conf of all clusters."},
    {"StorageBackupHost",  "Host of the database that is tried when StorageHost does not answer."},
    {"StorageHost",        "Host of the database; a name that begins with / is a Unix socket."},
    {"StorageLoc",         "Name of the database; of sqlite: its file."},
    {"StorageParameters",  "SSL_CA, SSL_CAPATH, SSL_CERT, SSL_CIPHER and SSL_KEY of the connection."},
    {"StoragePass",        "Password for the database."},
    {"StoragePort",        "Port of the database."},
    {"StorageType",        "The engine of the database: mysql is MariaDB."},
    {"StorageUser",        "User for the database."},
};

constexpr KeyHelp kJobContainerHelp[] = {
    {"AutoBasePath",   "Whether slurmd makes BasePath if it is missing."},
    {"BasePath",       "Directory of the private directories of jobs; %n and %h are replaced. It must not be below one of Dirs."},
    {"CloneNSEpilog",  "Program that slurmd runs as root before the Epilog, with its variables. It sees the private directories of the job. If it fails the node is drained as if the Epilog had failed."},
    {"CloneNSScript",  "Program that slurmd runs as root after InitScript and before the Prolog, with its variables. It sees the private directories of the job, so it can put files into them; what it mounts is seen by no other process. If it fails the job fails as if the Prolog had."},
    {"Dirs",           "Directories of which each job has its own, empty when the job starts. /dev/shm is in memory."},
    {"EntireStepInNS", "Accepted: the whole step sees the private directories in any case."},
    {"InitScript",     "Program that slurmd runs as root when it has made the directories of a job, before the Prolog, with its variables. If it fails the job fails as if the Prolog had."},
    {"NodeName",       "Nodes of a line. Lines without it are for all nodes."},
    {"Shared",         "Whether file systems that are mounted on the node later appear in running jobs."},
};

constexpr KeyHelp kOciHelp[] = {
    {"ContainerPath",        "Pattern of the directory of the bundle that is made for a task, which its user must be able to make. Default: a directory in SlurmdSpoolDir."},
    {"CreateEnvFile",        "Write the environment of the container to a file (%e): newline or true, with one variable on each line; null, with a zero byte after each; false or disabled, not at all."},
    {"DisableCleanup",       "Whether the bundle that was made for a task is kept when it ends, to look for mistakes. It goes with the job."},
    {"DisableHooks",         "Kinds of hooks in config.json that are not run, separated by commas: prestart, createRuntime, createContainer, startContainer, poststart, poststop."},
    {"EnvExclude",           "Regular expression (extended): variables NAME=value that match are not passed to the container."},
    {"IgnoreFileConfigJson", "Whether the container has no config.json, or one that is not read, for runtimes such as singularity. %r is the path that the user has given."},
    {"MountSpoolDir",        "Pattern of the directory in the container where the batch script is seen."},
    {"RunTimeCreate",        "Pattern of the command that creates a container. Used with RunTimeStart and RunTimeQuery unless there is RunTimeRun."},
    {"RunTimeDelete",        "Pattern of the command that removes a container. It runs when the task has ended, however it ended, for five seconds at most."},
    {"RunTimeEnvExclude",    "Regular expression (extended): variables NAME=value that match are not passed to the runtime."},
    {"RunTimeKill",          "Pattern of the command that kills a container. It runs when the task was killed, before RunTimeDelete."},
    {"RunTimeQuery",         "Pattern of the command that prints the state of a container, as the OCI specification has it. Its pid is waited for."},
    {"RunTimeRun",           "Pattern of the command that runs a container and ends with it. Used instead of RunTimeCreate and RunTimeStart."},
    {"RunTimeStart",         "Pattern of the command that starts what RunTimeCreate has created."},
};

constexpr KeyHelp kTopologyHelp[] = {
    {"SwitchName", "Name of the switch."},
    {"Nodes",      "Nodes that are connected to the switch. Excludes Switches."},
    {"Switches",   "Switches that are connected to the switch. Excludes Nodes."},
    {"LinkSpeed",  "Accepted and shown; it has no effect."},
};
// clang-format on

std::vector<KeyRow> bare_rows(KeyTable table) {
    switch (table) {
        case KeyTable::SlurmConf:
            return rows_of(slurm_conf_keys());
        case KeyTable::NodeName:
            return node_key_rows();
        case KeyTable::NodeSet:
            return node_set_key_rows();
        case KeyTable::DownNodes:
            return down_key_rows();
        case KeyTable::PartitionName:
            return partition_key_rows();
        case KeyTable::SchedulerParameters:
            return scheduler_key_rows();
        case KeyTable::PreemptParameters:
            return preempt_key_rows();
        case KeyTable::GresConf:
            return gres_key_rows();
        case KeyTable::CgroupConf:
            return rows_of(cgroup_conf_keys());
        case KeyTable::TopologyConf:
            return topology_key_rows();
        case KeyTable::JobContainerConf:
            return job_container_key_rows();
        case KeyTable::OciConf:
            return oci_key_rows();
        case KeyTable::SlurmdbdConf:
            return rows_of(slurmdbd_conf_keys());
    }
    return {};
}

}  // namespace

std::span<const KeyHelp> key_help(KeyTable table) {
    switch (table) {
        case KeyTable::SlurmConf:
            return kSlurmConfHelp;
        case KeyTable::NodeName:
            return kNodeHelp;
        case KeyTable::NodeSet:
            return kNodeSetHelp;
        case KeyTable::DownNodes:
            return kDownHelp;
        case KeyTable::PartitionName:
            return kPartitionHelp;
        case KeyTable::SchedulerParameters:
            return kSchedulerHelp;
        case KeyTable::PreemptParameters:
            return kPreemptHelp;
        case KeyTable::GresConf:
            return kGresHelp;
        case KeyTable::CgroupConf:
            return kCgroupHelp;
        case KeyTable::TopologyConf:
            return kTopologyHelp;
        case KeyTable::JobContainerConf:
            return kJobContainerHelp;
        case KeyTable::OciConf:
            return kOciHelp;
        case KeyTable::SlurmdbdConf:
            return kDbdHelp;
    }
    return {};
}

std::vector<KeyRow> key_rows(KeyTable table) {
    std::vector<KeyRow> rows = bare_rows(table);
    for (KeyRow& row : rows) {
        for (const KeyHelp& help : key_help(table)) {
            if (help.name == row.name) row.help = help.text;
        }
    }
    return rows;
}

}  // namespace sluice
