#include "surface/job_options_manual.h"

namespace sluice {

namespace {

// clang-format off
constexpr JobOptionManual kJobOptionManuals[] = {
    {"account",        kAllTools, "Charge the job to this account. The name is stored with the job and shown; AllowAccounts and DenyAccounts of a partition look at it."},
    {"acctg-freq",     kAllTools, "How often it is sampled what tasks use (sstat): seconds, or task=SECONDS. No more seconds than JobAcctGatherFrequency in slurm.conf. Intervals of energy, network and filesystem are accepted and have no effect."},
    {"array",          kSbatch,   "Submit a job array: 1-10, 1,3,7 or 0-100:10 (every tenth). %N at the end lets at most N tasks run at a time, as in 1-1000%50. Each task has its index in SLURM_ARRAY_TASK_ID."},
    {"begin",          kAllTools, "Do not start the job before this time: now+1hour, 16:00, 2030-01-20T12:34."},
    {"chdir",          kAllTools, "Working directory of the job. The default is the current directory."},
    {"constraint",     kAllTools, "Features that the nodes must have: a&b (both), a|b (one of them), (a|b)&c, a*2 (at least two nodes with a), [a|b] (all nodes with a, or all with b), [a*2&b*1] (two nodes with a and one with b)."},
    {"contiguous",     kAllTools, "Use neighbouring nodes only, in the order of slurm.conf."},
    {"core-spec",      kAllTools, "Number of cores on each node that the job leaves to the system. The job gets whole nodes. Needs AllowSpecResourcesUsage in slurm.conf."},
    {"cpu-bind",       kSrun,     "Binding of tasks to CPUs. Only none (with quiet or verbose) is accepted: tasks are not bound to single CPUs."},
    {"deadline",       kAllTools, "Time at which the job must have ended. A job that cannot end by then is refused, or removed with the state DEADLINE."},
    {"dependency",     kAllTools, "Start the job after other jobs: after:ID[+minutes] (they have started), afterany:ID (they have ended), afterok:ID (with exit code 0), afternotok:ID (with an error), aftercorr:ID (task i after task i of an array), singleton (one job of this name and user at a time), expand:ID (see scontrol(1)). Several ids follow each other with colons. A comma between conditions means all of them, a question mark one of them."},
    {"distribution",   kAllTools, "How the tasks of steps are laid out over nodes: block fills one node after the other, cyclic takes the nodes in turn. A second word, for sockets, is accepted. arbitrary and plane are refused."},
    {"epilog",         kSrun,     "Program that srun runs on its own host after the step, with the command of the step as arguments. none: not even SrunEpilog of slurm.conf."},
    {"error",          kBatchRun, "File for standard error; patterns as for --output. The default is the file for standard output."},
    {"exact",          kSrun,     "Give the step only the resources that it asks for, so that other steps can run beside it. Implied by --cpus-per-task."},
    {"exclude",        kAllTools, "Nodes that must not be used, as a host list: n[1-4],n7."},
    {"exclusive",      kAllTools, "Use whole nodes, which are shared with no other job; with user, with no job of another user. For a step within a job it means --exact."},
    {"export",         kSbatch,   "Environment variables that are passed on: ALL (the default), NONE, NIL, or a list of NAME and NAME=VALUE; ALL can be one of its entries. Variables that begin with SLURM_ are always passed on. With NONE, or a list without ALL, the job starts from the login environment of the user; with NIL it does not. The value is also the default of srun in the job (SLURM_EXPORT_ENV)."},
    {"export",         kSrun,     "Environment variables that are passed on: ALL (the default), NONE, NIL, or a list of NAME and NAME=VALUE; ALL can be one of its entries. With NONE, NIL or a list without ALL, only the listed variables and those that begin with SLURM_ are passed on."},
    {"export-file",    kSbatch,   "File (or number of an open file descriptor) with NAME=VALUE entries, each ended by a zero byte: the environment of the job."},
    {"external-launcher", kSrun,  "Start the step of an MPI launcher: it shares the resources of all other steps and can use all of the job's nodes."},
    {"extra-node-info", kAllTools, "--sockets-per-node, --cores-per-socket and --threads-per-core in one option, separated by colons."},
    {"get-user-env",   kSbatch,   "Start from the environment that a login shell of the user has, instead of the environment of sbatch."},
    {"gid",            kSbatch,   "Group that the job runs as. For root only."},
    {"gpu-bind",       kAllTools, "Which of the step's GPUs each task sees: none (all of them), closest (those close to the step's CPUs), single:N (one GPU for N tasks), per_task:N (N GPUs for each task), map:LIST and mask:LIST (by the number of the task on its node; map_gpu and mask_gpu are the same). An entry of a list can be repeated with *COUNT. verbose, before the word makes each task print its binding. --gpus-per-task=N implies per_task:N, --ntasks-per-gpu=N implies single:N. A task that is alone on its node is not bound. For sbatch and salloc it is the default of all steps of the job."},
    {"gpu-freq",       kAllTools, "Frequencies of the GPUs while a step runs: [graphics=]VALUE[,memory=VALUE][,verbose]. A value is low, medium, high, highm1 (the next below the highest) or a number of MHz, for which the nearest possible one is used. A clock that is not named keeps its value. verbose prints the frequencies on stderr. Needs NVML on the node; without it the step runs and prints GpuFreq=control_disabled."},
    {"gpus",           kAllTools, "Number of GPUs of the whole job: [type:]number[,...]."},
    {"gpus-per-node",  kAllTools, "Number of GPUs on each node: [type:]number[,...]."},
    {"gpus-per-socket", kAllTools, "Number of GPUs on each socket: [type:]number[,...]. Needs --sockets-per-node."},
    {"gpus-per-task",  kAllTools, "Number of GPUs for each task: [type:]number[,...]. Each task sees its own GPUs only, see --gpu-bind."},
    {"gres",           kAllTools, "Generic resources on each node: name[:type][:count],... such as gpu:h100:2. none: a step gets none of the job's. help lists the resources of the cluster."},
    {"gres-flags",     kAllTools, "enforce-binding: GPUs only together with CPUs close to them, as Cores= in gres.conf says. disable-binding: any GPUs."},
    {"hint",           kAllTools, "compute_bound: use one thread of each core. memory_bound: the same, and one core of each socket while there are free sockets. multithread: use all threads. nomultithread: use one thread of each core."},
    {"hold",           kAllTools, "Submit the job in held state; scontrol release lets it start."},
    {"immediate",      kAllTools, "Give up if the resources are not available at once, or within this number of seconds."},
    {"input",          kBatchRun, "File for standard input; patterns as for --output. srun: all (the default), none, or the number of the one task that gets the input of srun."},
    {"job-name",       kAllTools, "Name of the job. The default is the name of the script or program."},
    {"jobid",          kSrun,     "Run the program as a step of this job."},
    {"kill-command",   kSalloc,   "Signal that the command gets when the job ends; TERM if the option has no value. Without the option it gets none."},
    {"kill-on-bad-exit", kSrun,   "End the step when a task fails (0: do not). The default is KillOnBadExit of slurm.conf."},
    {"kill-on-invalid-dep", kSbatch, "yes: cancel the job when its dependency can never be met. no: keep it waiting."},
    {"licenses",       kAllTools, "Licences that the job holds while it runs: name[:count],... With | between the names, one of them."},
    {"mail-type",      kAllTools, "When mail is sent: BEGIN, END, FAIL, REQUEUE, INVALID_DEPEND, TIME_LIMIT, TIME_LIMIT_90, TIME_LIMIT_80, TIME_LIMIT_50, NONE. ALL is the first five (and STAGE_OUT, which never happens). A cancelled job has ended, but not failed. For an array there is one mail for its start and one for its end; with ARRAY_TASKS there is one for each task."},
    {"mail-user",      kAllTools, "Recipient of the mail, or several separated by commas. The default is the owner of the job."},
    {"mem",            kAllTools, "Memory on each node. 0: all memory of the node; for a step, the memory of the job, shared with other steps."},
    {"mem-bind",       kAllTools, "Binding to memory. Only none is accepted."},
    {"mem-per-cpu",    kAllTools, "Memory for each allocated CPU. Excludes --mem and --mem-per-gpu."},
    {"mem-per-gpu",    kAllTools, "Memory for each GPU."},
    {"mincpus",        kAllTools, "Least number of CPUs that the job gets on each node."},
    {"mpi",            kSrun,     "Only none and openmpi are accepted: srun starts no MPI by itself. list prints the accepted words."},
    {"nice",           kAllTools, "Lower the priority of the job by this value (100 if there is none). Operators can give a negative value."},
    {"no-kill",        kAllTools, "Continue on the other nodes when one of the job's nodes fails, unless it is the node of the batch script. Steps lose their tasks on the failed node. Without the option, or with off, the job ends and is requeued if it may be."},
    {"no-requeue",     kSbatch,   "Never run the job again: not after a node failure, a preemption or scontrol requeue."},
    {"no-shell",       kSalloc,   "Exit when the job has its nodes and leave the job. scancel or the time limit ends it."},
    {"nodefile",       kAllTools, "File that lists the nodes that must be used."},
    {"nodelist",       kAllTools, "Nodes that must be used, as a host list: n[1-4],n7."},
    {"nodes",          kAllTools, "Number of nodes: min[-max]. A list of numbers and ranges with a step, such as 1,5,9 or 2-16:2, names the only counts that are accepted; the job gets the largest count for which there is room."},
    {"ntasks-per-core", kAllTools, "Most tasks on each core."},
    {"ntasks-per-gpu", kAllTools, "Number of tasks for each GPU. The tasks share it, see --gpu-bind."},
    {"ntasks-per-socket", kAllTools, "Most tasks on each socket."},
    {"open-mode",      kBatchRun, "append to files that exist, or truncate them. The default is JobFileAppend of slurm.conf."},
    {"output",         kBatchRun, "File for standard output. Patterns: %j job id, %A id of the array, %a index of the array task, %x name of the job, %N node, %u user, %t task, %s step, %% a percent sign; a number after the percent sign pads with zeros (%4a). Missing directories are created. sbatch: the default is slurm-%j.out, for an array slurm-%A_%a.out."},
    {"overlap",        kSrun,     "Share the resources of the job with other steps."},
    {"oversubscribe",  kAllTools, "The job may share its CPUs with other jobs, where OverSubscribe of the partition allows it."},
    {"parsable",       kBatchRun, "Print the job id only, without the words before it."},
    {"partition",      kAllTools, "Partition to run in. With several, separated by commas, the job starts in the first one that has room."},
    {"prefer",         kAllTools, "Features that the nodes should have, written as for --constraint but without counts. They are used if the job can start with them."},
    {"preserve-env",   kSrun,     "Leave SLURM_NTASKS, SLURM_NNODES and SLURM_TASKS_PER_NODE as they are in the environment of srun, instead of the size of the step."},
    {"priority",       kAllTools, "Set the priority of the job; it is not calculated any more. For operators; users can lower it."},
    {"profile",        kAllTools, "Only none is accepted."},
    {"prolog",         kSrun,     "Program that srun runs on its own host before the step, with the command of the step as arguments. If it fails the step is not run and srun exits with 1. none: not even SrunProlog of slurm.conf."},
    {"propagate",      kBatchRun, "Resource limits (setrlimit(2)) that the job inherits: ALL, NONE, or a list such as NOFILE,STACK. The default is PropagateResourceLimits of slurm.conf."},
    {"pty",            kSrun,     "Run task 0 in a pseudo terminal, for interactive programs."},
    {"qos",            kAllTools, "Quality of service of the job (sacctmgr(1))."},
    {"quit-on-interrupt", kSrun,  "End the step at the first Ctrl-C."},
    {"requeue",        kSbatch,   "The job may run again after a node failure or a preemption, and on scontrol requeue. The default is JobRequeue of slurm.conf."},
    {"reservation",    kAllTools, "Use the resources of a reservation. With several, separated by commas, the first one that can start the job."},
    {"send-libs",      kSrun,     "Only no is accepted: --bcast is not available."},
    {"signal",         kAllTools, "Send a signal this many seconds (60) before the time limit. B: to the batch script only, instead of to the steps. R: accepted without effect."},
    {"spread-job",     kAllTools, "Spread the job over as many nodes as possible."},
    {"switches",       kAllTools, "Most leaf switches that the nodes are connected to (topology/tree). The job waits for such nodes for at most the given time, and never longer than max_switch_wait."},
    {"task-epilog",    kSrun,     "Program that runs on the node after each task, in addition to TaskEpilog of slurm.conf. It has five seconds."},
    {"task-prolog",    kSrun,     "Program that runs on the node before each task, in addition to TaskProlog of slurm.conf(5), which describes what its output can do."},
    {"test-only",      kBatchRun, "Print when and where the job would start; submit nothing."},
    {"thread-spec",    kAllTools, "Number of threads on each node that the job leaves to the system. The job gets whole nodes. Needs AllowSpecResourcesUsage in slurm.conf."},
    {"threads",        kSrun,     "Accepted without effect: srun connects to its nodes directly."},
    {"treewidth",      kSrun,     "Accepted without effect: srun connects to its nodes directly."},
    {"threads-per-core", kAllTools, "Least number of threads per core. With 1, one thread of each core is used."},
    {"time",           kAllTools, "Time limit: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or days-hours:minutes:seconds. The default is DefaultTime, or else MaxTime, of the partition."},
    {"time-min",       kAllTools, "Shortest acceptable time limit. The limit is lowered to this value at most if the job can start earlier then."},
    {"tmp",            kAllTools, "Least temporary disk space (TmpDisk) of each node."},
    {"tres-bind",      kAllTools, "The same as --gpu-bind, written as gres/gpu:TYPE."},
    {"tres-per-task",  kAllTools, "CPUs and GPUs for each task: cpu=4,gres/gpu:h100=1."},
    {"uid",            kSbatch,   "User that the job runs as. For root only."},
    {"unbuffered",     kSrun,     "Pass output on as it arrives instead of line by line."},
    {"use-min-nodes",  kAllTools, "Prefer the smaller number of nodes of a range."},
    {"wait",           kSbatch,   "Do not exit before the job has ended; exit with its exit code."},
    {"wait",           kSrun,     "Seconds between the end of the first task and the end of the others, which are killed then. 0: no limit. The default is WaitTime of slurm.conf."},
    {"wait-all-nodes", kAllTools, "Accepted without effect: a job starts when all of its nodes are ready."},
    {"wckey",          kAllTools, "A label that is stored with the job and shown."},
    {"wrap",           kSbatch,   "Submit this command, as a script for sh, instead of a file."},
};
// clang-format on

}  // namespace

std::span<const JobOptionManual> job_option_manuals() {
    return kJobOptionManuals;
}

std::string_view job_option_manual(std::string_view name, Tool tool) {
    for (const JobOptionManual& manual : kJobOptionManuals) {
        if (manual.name == name && (manual.tools & tool)) return manual.text;
    }
    return {};
}

}  // namespace sluice
