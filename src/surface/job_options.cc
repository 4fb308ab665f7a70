#include "surface/job_options.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/check.h"
#include "surface/job_options_setters.h"

namespace sluice {

namespace {

using namespace job_option;
using enum OptionGroup;

// clang-format off
constexpr JobOption kJobOptions[] = {
    // long                 short value              tools        env                 env tools    sets                                 group       help
    {"account",             'A', "name",             kAllTools,   "ACCOUNT",          kAllTools,   text<&JobRequest::account>,          Run,        "charge the job to this account"},
    {"acctg-freq",          0,   "intervals",        kAllTools,   "ACCTG_FREQ",       kAllTools,   set_acctg_freq,                      Run,        "how often usage is sampled"},
    {"array",               'a', "indexes",          kSbatch,     "ARRAY_INX",        kSbatch,     set_array,                           Run,        "job array index values"},
    {"async",               0,   nullptr,            kSrun,       nullptr,            0,           flag<&JobOptions::async>,            Run,        "queue the step and return at once"},
    {"batch",               0,   "list",             kSbatch,     "BATCH",            kSbatch,     nullptr,                             Run,        "features of the node that runs the script"},
    {"bb",                  0,   "spec",             kAllTools,   "BURST_BUFFER",     kAllTools,   nullptr,                             Run,        "burst buffer specification"},
    {"bbf",                 0,   "file_name",        kAllTools,   nullptr,            0,           nullptr,                             Run,        "burst buffer specification file"},
    {"bcast",               0,   "[dest_path]",      kSrun,       "BCAST",            kSrun,       set_bcast,                           Run,        "copy the program to the nodes first"},
    {"bcast-exclude",       0,   "paths",            kSrun,       "BCAST_EXCLUDE",    kSrun,       text<&JobOptions::bcast_exclude>,    Run,        "shared objects that are not copied"},
    {"begin",               'b', "time",             kAllTools,   nullptr,            0,           set_begin,                           Run,        "do not start the job before this time"},
    {"bell",                0,   nullptr,            kSalloc,     "BELL",             kSalloc,     flag<&JobOptions::bell>,             Run,        "ring the terminal bell when the job is allocated"},
    {"chdir",               'D', "directory",        kAllTools,   "REMOTE_CWD",       kSrun,       text<&JobRequest::work_dir>,         Run,        "working directory of the job"},
    {"clusters",            'M', "names",            kAllTools,   "CLUSTERS",         kAllTools,   nullptr,                             Run,        "clusters to issue the command to"},
    {"comment",             0,   "text",             kAllTools,   nullptr,            0,           text<&JobRequest::comment>,          Run,        "arbitrary comment"},
    {"compress",            0,   "[library]",        kSrun,       "COMPRESS",         kSrun,       set_compress,                        Run,        "compression of --bcast"},
    {"container",           0,   "path",             kAllTools,   "CONTAINER",        kAllTools,   set_container,                       Run,        "path to an OCI container bundle"},
    {"container-id",        0,   "id",               kAllTools,   "CONTAINER_ID",     kAllTools,   nullptr,                             Run,        "name of the OCI container"},
    {"container-type",      0,   "type",             kAllTools,   "CONTAINER_TYPE",   kAllTools,   nullptr,                             Run,        "kind of the OCI container"},
    {"container-entrypoint", 0,  nullptr,            kAllTools,   nullptr,            0,           set_container_entrypoint,            Run,        "[pyxis] run the entrypoint of the image"},
    {"container-env",       0,   "names",            kAllTools,   nullptr,            0,           set_container_env,                   Run,        "[pyxis] variables that the image does not replace"},
    {"container-image",     0,   "image",            kAllTools,   nullptr,            0,           set_container_image,                 Run,        "[pyxis] image to run in"},
    {"container-mount-home", 0,  nullptr,            kAllTools,   nullptr,            0,           set_container_mount_home,            Run,        "[pyxis] mount the home directory"},
    {"container-mounts",    0,   "src:dst[:flags]",  kAllTools,   nullptr,            0,           set_container_mounts,                Run,        "[pyxis] directories of the node that are mounted"},
    {"container-name",      0,   "name",             kAllTools,   nullptr,            0,           set_container_name,                  Run,        "[pyxis] name under which the job keeps the container"},
    {"container-readonly",  0,   nullptr,            kAllTools,   nullptr,            0,           set_container_readonly,              Run,        "[pyxis] the file system of the image cannot be written"},
    {"container-remap-root", 0,  nullptr,            kAllTools,   nullptr,            0,           set_accepted,                        Run,        "[pyxis] be root inside, as is always so"},
    {"container-save",      0,   "path",             kAllTools,   nullptr,            0,           nullptr,                             Run,        nullptr},
    {"container-workdir",   0,   "path",             kAllTools,   nullptr,            0,           set_container_workdir,               Run,        "[pyxis] working directory in the image"},
    {"container-writable",  0,   nullptr,            kAllTools,   nullptr,            0,           set_container_writable,              Run,        "[pyxis] the file system of the image can be written"},
    {"core-spec",           'S', "cores",            kAllTools,   "CORE_SPEC",        kAllTools,   set_core_spec,                       Run,        "cores left to the system on each node"},
    {"cpu-freq",            0,   "min[-max[:gov]]",  kAllTools,   "CPU_FREQ_REQ",     kAllTools,   set_cpu_freq,                        Run,        "CPU frequency (and governor)"},
    {"cpus-per-task",       'c', "ncpus",            kAllTools,   "CPUS_PER_TASK",    kSrun,       set_cpus_per_task,                   Run,        "number of CPUs per task"},
    {"deadline",            0,   "time",             kAllTools,   nullptr,            0,           set_deadline,                        Run,        "remove the job if it cannot end before this time"},
    {"delay-boot",          0,   "minutes",          kAllTools,   "DELAY_BOOT",       kAllTools,   nullptr,                             Run,        "delay of booting for node features"},
    {"dependency",          'd', "type:jobid[:time]", kAllTools,  "DEPENDENCY",       kSrun,       text<&JobRequest::dependency>,       Run,        "start the job after other jobs"},
    {"disable-status",      'X', nullptr,            kSrun,       "DISABLE_STATUS",   kSrun,       flag<&JobOptions::disable_status>,   Run,        "Ctrl-C ends the step at once"},
    {"distribution",        'm', "type",             kAllTools,   "DISTRIBUTION",     kAllTools,   set_distribution,                    Run,        "how tasks are laid out over nodes (block|cyclic|plane=N|arbitrary)"},
    {"epilog",              0,   "program",          kSrun,       "EPILOG",           kSrun,       text<&JobOptions::epilog>,           Run,        "run a program after the step"},
    {"error",               'e', "err",              kBatchRun,   "ERROR",            kSbatch,     text<&JobRequest::std_err>,          Run,        "file for standard error"},
    {"exact",               0,   nullptr,            kSrun,       "EXACT",            kSrun,       flag<&JobOptions::exact>,            Consumable, "use only the resources asked for the step"},
    {"export",              0,   "names",            kBatchRun,   "EXPORT",           kSbatch,     text<&JobOptions::export_list>,      Run,        "environment variables the job gets: ALL, NONE, NIL or a list"},
    {"export-file",         0,   "file|fd",          kSbatch,     nullptr,            0,           text<&JobOptions::export_file>,      Run,        "file with NAME=value entries, each ended by a zero byte"},
    {"external-launcher",   0,   nullptr,            kSrun,       "EXTERNAL_LAUNCHER", kSrun,      set_external_launcher,               Run,        "the step of an MPI launcher"},
    {"extra",               0,   "text",             kAllTools,   nullptr,            0,           text<&JobRequest::extra>,            Run,        "free text on the job"},
    {"get-user-env",        0,   nullptr,            kSbatch,     "GET_USER_ENV",     kSbatch,     flag<&JobRequest::get_user_env>,     Run,        "start from the user's login environment"},
    {"gid",                 0,   "group",            kSbatch,     nullptr,            0,           text<&JobOptions::as_group>,         Run,        "group to run the job as (root only)"},
    {"gres",                0,   "list",             kAllTools,   "GRES",             kAllTools,   set_gres,                            Run,        "generic resources per node"},
    {"gres-flags",          0,   "opts",             kAllTools,   "GRES_FLAGS",       kAllTools,   set_gres_flags,                      Run,        "enforce-binding: GPUs and cores of one socket; disable-binding"},
    {"het-group",           0,   "value",            kSrun,       nullptr,            0,           nullptr,                             Run,        "parts of a heterogeneous job"},
    {"hold",                'H', nullptr,            kAllTools,   nullptr,            0,           flag<&JobRequest::hold>,             Run,        "submit the job in held state"},
    {"ignore-pbs",          0,   nullptr,            kSbatch,     "IGNORE_PBS",       kSbatch,     flag<&JobOptions::ignore_pbs>,       Run,        "ignore #PBS and #BSUB lines in the script"},
    {"ignore-signals",      0,   "list",             kSrun,       nullptr,            0,           set_ignore_signals,                  Run,        "signals that srun does not forward"},
    {"immediate",           'I', "[secs]",           kRunAlloc,   "IMMEDIATE",        kRunAlloc,   set_immediate,                       Run,        "exit if resources are not available within secs"},
    {"input",               'i', "in",               kBatchRun,   "INPUT",            kSbatch,     text<&JobRequest::std_in>,           Run,        "file for standard input"},
    {"interactive",         0,   nullptr,            kSrun,       nullptr,            0,           flag<&JobOptions::interactive>,      Run,        nullptr},
    {"job-name",            'J', "jobname",          kAllTools,   "JOB_NAME",         kBatchAlloc | kSrun, text<&JobRequest::name>,     Run,        "name of the job"},
    {"jobid",               0,   "id",               kSrun,       "JOB_ID",           kSrun,       set_job_id,                          Run,        "run in an allocated job"},
    {"kill-command",        'K', "[signal]",         kSalloc,     "KILL_CMD",         kSalloc,     set_kill_command,                    Run,        "signal for the command when the job ends"},
    {"kill-on-bad-exit",    'K', "[0|1]",            kSrun,       "KILL_BAD_EXIT",    kSrun,       set_kill_on_bad_exit,                Run,        "end the step when a task fails"},
    {"label",               'l', nullptr,            kSrun,       "LABELIO",          kSrun,       flag<&JobOptions::label>,            Run,        "put the task number before lines of output"},
    {"kill-on-invalid-dep", 0,   "yes|no",           kSbatch,     nullptr,            0,           set_kill_on_invalid_dep,             Run,        "cancel the job when its dependency can never be met"},
    {"licenses",            'L', "names",            kAllTools,   nullptr,            0,           text<&JobRequest::licenses>,         Run,        "licences needed: name[:count],... or name|name"},
    {"mail-type",           0,   "type",             kAllTools,   nullptr,            0,           set_mail_type,                       Run,        "when to send mail: BEGIN, END, FAIL, REQUEUE, ALL ..."},
    {"mail-user",           0,   "user",             kAllTools,   nullptr,            0,           set_mail_user,                       Run,        "recipient of the mail"},
    {"mcs-label",           0,   "mcs",              kAllTools,   nullptr,            0,           nullptr,                             Run,        "label of the mcs plugin"},
    {"mem-update",          0,   "percent@delay",    kAllTools,   nullptr,            0,           nullptr,                             Run,        "lower the memory limit later"},
    {"mpi",                 0,   "type",             kSrun,       "MPI_TYPE",         kSrun,       set_mpi,                             Run,        "kind of MPI (none, pmi2, pmix)"},
    {"multi-prog",          0,   nullptr,            kSrun,       nullptr,            0,           flag<&JobOptions::multi_prog>,       Run,        "the program is a file that names several"},
    {"network",             0,   "type",             kAllTools,   "NETWORK",          kAllTools,   nullptr,                             Run,        "network hardware"},
    {"nice",                0,   "[value]",          kAllTools,   nullptr,            0,           set_nice,                            Run,        "lower the job's priority by value"},
    {"no-allocate",         'Z', nullptr,            kSrun,       nullptr,            0,           nullptr,                             Constraint, "run without an allocation"},
    {"no-bell",             0,   nullptr,            kSalloc,     "NO_BELL",          kSalloc,     flag<&JobOptions::no_bell>,          Run,        "do not ring the terminal bell"},
    {"no-container-entrypoint", 0, nullptr,          kAllTools,   nullptr,            0,           set_no_container_entrypoint,         Run,        "[pyxis] do not run the entrypoint of the image"},
    {"no-container-mount-home", 0, nullptr,          kAllTools,   nullptr,            0,           set_no_container_mount_home,         Run,        "[pyxis] do not mount the home directory"},
    {"no-container-remap-root", 0, nullptr,          kAllTools,   nullptr,            0,           nullptr,                             Run,        nullptr},
    {"no-kill",             'k', "[off]",            kAllTools,   "NO_KILL",          kAllTools,   set_no_kill,                         Run,        "do not kill the job when a node fails"},
    {"no-requeue",          0,   nullptr,            kSbatch,     "NO_REQUEUE",       kSbatch,     set_no_requeue,                      Run,        "never requeue the job"},
    {"no-shell",            0,   nullptr,            kSalloc,     nullptr,            0,           flag<&JobOptions::no_shell>,         Run,        "allocate, then exit and leave the job"},
    {"nodes",               'N', "N",                kAllTools,   "JOB_NUM_NODES",    kSrun,       set_nodes,                           Run,        "number of nodes (N = min[-max])"},
    {"ntasks",              'n', "ntasks",           kAllTools,   "NTASKS",           kSrun,       number<&Shape::ntasks>,              Run,        "number of tasks"},
    {"ntasks-per-node",     0,   "n",                kAllTools,   "NTASKS_PER_NODE",  kSrun,       number<&Shape::ntasks_per_node>,     Run,        "number of tasks on each node"},
    {"tasks-per-node",      0,   "n",                kAllTools,   nullptr,            0,           number<&Shape::ntasks_per_node>,     Run,        nullptr},
    {"oom-kill-step",       0,   "[0|1]",            kAllTools,   "OOMKILLSTEP",      kAllTools,   set_oom_kill_step,                   Run,        "out of memory in one task ends the step"},
    {"open-mode",           0,   "append|truncate",  kBatchRun,   "OPEN_MODE",        kBatchRun,   set_open_mode,                       Run,        "how output files are opened"},
    {"output",              'o', "out",              kBatchRun,   "OUTPUT",           kSbatch,     text<&JobRequest::std_out>,          Run,        "file for standard output"},
    {"overcommit",          'O', nullptr,            kAllTools,   "OVERCOMMIT",       kAllTools,   flag<&Shape::overcommit>,            Run,        "more tasks than CPUs"},
    {"overlap",             0,   nullptr,            kSrun,       "OVERLAP",          kSrun,       flag<&JobOptions::overlap>,          Run,        "share the resources with other steps"},
    {"oversubscribe",       's', nullptr,            kAllTools,   nullptr,            0,           flag<&Shape::oversubscribe>,         Run,        "share resources with other jobs"},
    {"parsable",            0,   nullptr,            kBatchRun,   nullptr,            0,           flag<&JobOptions::parsable>,         Run,        "print only the job id (and cluster, after a semicolon)"},
    {"partition",           'p', "partition",        kAllTools,   "PARTITION",        kAllTools,   text<&JobRequest::partition>,        Run,        "partition to run in"},
    {"prefer",              0,   "list",             kAllTools,   nullptr,            0,           set_prefer,                          Constraint, "features preferred, not required"},
    {"preserve-env",        'E', nullptr,            kSrun,       nullptr,            0,           flag<&JobOptions::preserve_env>,     Run,        "the program gets SLURM_NTASKS and SLURM_NNODES as they are"},
    {"priority",            0,   "value",            kAllTools,   nullptr,            0,           set_priority,                        Run,        "priority of the job"},
    {"profile",             0,   "value",            kAllTools,   "PROFILE",          kAllTools,   set_only_none,                       Run,        "profiling (none)"},
    {"prolog",              0,   "program",          kSrun,       "PROLOG",           kSrun,       text<&JobOptions::prolog>,           Run,        "run a program before the step"},
    {"propagate",           0,   "[rlimits]",        kBatchRun,   nullptr,            0,           set_propagate,                       Run,        "resource limits that the job inherits"},
    {"pty",                 0,   nullptr,            kSrun,       nullptr,            0,           flag<&JobOptions::pty>,              Run,        "run task zero in a pseudo terminal"},
    {"qos",                 'q', "qos",              kAllTools,   "QOS",              kAllTools,   text<&JobRequest::qos>,              Run,        "quality of service"},
    {"quiet",               'Q', nullptr,            kAllTools,   nullptr,            0,           flag<&JobOptions::quiet>,            Run,        "print errors only"},
    {"quit-on-interrupt",   0,   nullptr,            kSrun,       nullptr,            0,           flag<&JobOptions::quit_on_interrupt>, Run,       "a single Ctrl-C ends the step"},
    {"reboot",              0,   nullptr,            kAllTools,   nullptr,            0,           nullptr,                             Run,        "reboot the nodes first"},
    {"relative",            'r', "n",                kSrun,       nullptr,            0,           set_relative,                        Run,        "start at node n of the allocation"},
    {"requeue",             0,   "[expedite]",       kSbatch,     "REQUEUE",          kSbatch,     set_requeue,                         Run,        "the job may be requeued"},
    {"resources",           0,   "name:count",       kAllTools,   nullptr,            0,           nullptr,                             Run,        "hierarchical resources"},
    {"resv-ports",          0,   "[n]",              kAllTools,   "RESV_PORTS",       kSrun,       set_resv_ports,                      Consumable, "reserve communication ports"},
    {"send-libs",           0,   "[yes|no]",         kSrun,       "SEND_LIBS",        kSrun,       set_send_libs,                       Run,        "copy shared objects with --bcast"},
    {"signal",              0,   "[[R][B]:]num[@time]", kAllTools, "SIGNAL",          kAllTools,   set_signal,                          Run,        "signal to send some time before the limit"},
    {"slurmd-debug",        0,   "level",            kSrun,       nullptr,            0,           set_slurmd_debug,                    Run,        "show lines of slurmstepd's log up to this level: 0 to 4, or error, info, verbose, debug"},
    {"spread-job",          0,   nullptr,            kAllTools,   "SPREAD_JOB",       kAllTools,   flag<&Shape::spread>,                Run,        "use as many nodes as possible"},
    {"segment",             0,   "n",                kAllTools,   "SEGMENT_SIZE",     kAllTools,   nullptr,                             Run,        "size of topology segments"},
    {"spread-segments",     0,   nullptr,            kAllTools,   nullptr,            0,           nullptr,                             Run,        nullptr},
    {"consolidate-segments", 0,  nullptr,            kAllTools,   nullptr,            0,           nullptr,                             Run,        nullptr},
    {"stepmgr",             0,   nullptr,            kAllTools,   nullptr,            0,           set_accepted,                        Run,        "accepted: many steps, and --async, need no manager of their own"},
    {"stage-in",            0,   "src[:name][,stream]", kAllTools, nullptr,         0,           set_stage_in,                        Run,        "copy a dataset to $SCRATCH/name of each node before the job starts"},
    {"switches",            0,   "max{@max-time}",   kAllTools,   "REQ_SWITCH",       kAllTools,   set_switches,                        Run,        "most switches between the nodes, and how long to wait for that"},
    {"sync",                0,   "local:persistent", kSbatch,     nullptr,            0,           set_sync,                            Run,        "copy checkpoints to persistent storage while the job runs"},
    {"task-epilog",         0,   "program",          kSrun,       "TASK_EPILOG",      kSrun,       text<&JobOptions::task_epilog>,      Run,        "run a program after each task"},
    {"task-prolog",         0,   "program",          kSrun,       "TASK_PROLOG",      kSrun,       text<&JobOptions::task_prolog>,      Run,        "run a program before each task"},
    {"test-only",           0,   nullptr,            kBatchRun,   nullptr,            0,           flag<&JobOptions::test_only>,        Run,        "print when the job would start, submit nothing"},
    {"thread-spec",         0,   "threads",          kAllTools,   "THREAD_SPEC",      kAllTools,   number<&Shape::thread_spec>,         Run,        "threads left to the system on each node"},
    {"threads",             'T', "threads",          kSrun,       "THREADS",          kSrun,       set_accepted,                        Run,        "launch fan-out; has no effect on the result"},
    {"treewidth",           0,   "n",                kSrun,       nullptr,            0,           set_tree_width,                      Run,        "nodes that srun connects to; off: all"},
    {"time",                't', "minutes",          kAllTools,   "TIMELIMIT",        kAllTools,   set_time,                            Run,        "time limit"},
    {"time-min",            0,   "minutes",          kAllTools,   nullptr,            0,           set_time_min,                        Run,        "shortest time limit that is still useful"},
    {"tres-per-task",       0,   "list",             kAllTools,   "TRES_PER_TASK",    kAllTools,   set_tres_per_task,                   Run,        "resources per task: cpu=4,gres/gpu=1"},
    {"uid",                 0,   "user",             kSbatch,     nullptr,            0,           text<&JobOptions::as_user>,          Run,        "user to run the job as (root only)"},
    {"unbuffered",          'u', nullptr,            kSrun,       "UNBUFFEREDIO",     kSrun,       flag<&JobOptions::unbuffered>,       Run,        "do not wait for whole lines of output"},
    {"use-min-nodes",       0,   nullptr,            kAllTools,   "USE_MIN_NODES",    kAllTools,   flag<&Shape::use_min_nodes>,         Run,        "prefer the smaller node count"},
    {"verbose",             'v', nullptr,            kAllTools,   "DEBUG",            kAllTools,   set_verbose,                         Run,        "print more; may be repeated"},
    {"wait",                'W', nullptr,            kSbatch,     "WAIT",             kSbatch,     set_wait,                            Run,        "wait for the end of the job"},
    {"wait",                'W', "sec",              kSrun,       "WAIT",             kSrun,       set_wait,                            Run,        "seconds from the first task's end to killing the others"},
    {"wait-all-nodes",      0,   "0|1",              kBatchAlloc, "WAIT_ALL_NODES",   kBatchAlloc, set_wait_all_nodes,                  Run,        "start when all nodes are ready"},
    {"wait-for-children",   0,   nullptr,            kSrun,       nullptr,            0,           flag<&JobOptions::wait_for_children>, Run,       "the step ends with the last process of its tasks"},
    {"wckey",               0,   "wckey",            kAllTools,   "WCKEY",            kAllTools,   text<&JobRequest::wckey>,            Run,        "workload characterization key"},
    {"wrap",                0,   "command string",   kSbatch,     nullptr,            0,           set_wrap,                            Run,        "submit a command instead of a script"},
    {"x11",                 0,   "[batch|all|first|last]", kAllTools,   "X11",              kSrun,       set_x11,                             Run,        "tasks on these nodes get a display that leads to this one"},

    {"cluster-constraint",  0,   "list",             kAllTools,   nullptr,            0,           nullptr,                             Constraint, "features of clusters"},
    {"constraint",          'C', "list",             kAllTools,   "CONSTRAINT",       kAllTools,   set_constraint,                      Constraint, "features that nodes must have"},
    {"contiguous",          0,   nullptr,            kAllTools,   nullptr,            0,           flag<&Shape::contiguous>,            Constraint, "use neighbouring nodes only"},
    {"exclude",             'x', "hosts...",         kAllTools,   nullptr,            0,           text<&Shape::exclude>,               Constraint, "nodes not to use"},
    {"mem",                 0,   "MB",               kAllTools,   "MEM_PER_NODE",     kAllTools,   set_mem,                             Constraint, "memory per node"},
    {"mincpus",             0,   "n",                kAllTools,   nullptr,            0,           number<&Shape::cpus_min_per_node>,   Constraint, "least number of CPUs per node"},
    {"nodefile",            'F', "filename",         kBatchAlloc, nullptr,            0,           text<&JobOptions::node_file>,        Constraint, "file that lists the nodes to use"},
    {"nodelist",            'w', "hosts...",         kAllTools,   nullptr,            0,           text<&Shape::nodelist>,              Constraint, "nodes to use"},
    {"reservation",         0,   "name",             kAllTools,   "RESERVATION",      kAllTools,   text<&JobRequest::reservation>,      Constraint, "take resources of a reservation"},
    {"tmp",                 0,   "MB",               kAllTools,   nullptr,            0,           set_tmp,                             Constraint, "least temporary disk space"},

    {"exclusive",           0,   "[user]",           kAllTools,   "EXCLUSIVE",        kAllTools,   set_exclusive,                       Consumable, "whole nodes; in a job: --exact"},
    {"mem-per-cpu",         0,   "MB",               kAllTools,   "MEM_PER_CPU",      kAllTools,   set_mem_per_cpu,                     Consumable, "memory per allocated CPU"},

    {"cores-per-socket",    0,   "C",                kAllTools,   nullptr,            0,           number<&Shape::cores_per_socket>,    Affinity,   "least number of cores per socket"},
    {"cpu-bind",            0,   "type",             kSrun,       "CPU_BIND",         kSrun,       set_cpu_bind,                        Affinity,   "binding of tasks to CPUs: none, cores, sockets, threads, map_cpu: ..."},
    {"cpu_bind",            0,   "type",             kSrun,       nullptr,            0,           set_cpu_bind,                        Affinity,   nullptr},
    {"accel-bind",          0,   "options",          kSrun,       nullptr,            0,           nullptr,                             Affinity,   nullptr},
    {"extra-node-info",     'B', "S[:C[:T]]",        kAllTools,   nullptr,            0,           set_extra_node_info,                 Affinity,   "sockets, cores and threads at once"},
    {"hint",                0,   "type",             kAllTools,   "HINT",             kAllTools,   set_hint,                            Affinity,   "compute_bound, memory_bound, multithread or nomultithread"},
    {"mem-bind",            0,   "type",             kAllTools,   "MEM_BIND",         kAllTools,   set_mem_bind,                        Affinity,   "binding of tasks to memory: none, local, map_mem: ..."},
    {"ntasks-per-core",     0,   "n",                kAllTools,   "NTASKS_PER_CORE",  kSrun,       number<&Shape::ntasks_per_core>,     Affinity,   "tasks on each core at most"},
    {"ntasks-per-socket",   0,   "n",                kAllTools,   "NTASKS_PER_SOCKET", kSrun,      number<&Shape::ntasks_per_socket>,   Affinity,   "tasks on each socket at most"},
    {"sockets-per-node",    0,   "S",                kAllTools,   nullptr,            0,           number<&Shape::sockets_per_node>,    Affinity,   "least number of sockets per node"},
    {"threads-per-core",    0,   "T",                kAllTools,   "THREADS_PER_CORE", kAllTools,   set_threads_per_core,                Affinity,   "threads per core: least of the nodes, most of a step"},

    {"cpus-per-gpu",        0,   "n",                kAllTools,   "CPUS_PER_GPU",     kAllTools,   number<&Shape::cpus_per_gpu>,        Gpu,        "CPUs per GPU"},
    {"gpus",                'G', "n",                kAllTools,   "GPUS",             kAllTools,   set_gpus,                            Gpu,        "GPUs of the whole job"},
    {"gpu-bind",            0,   "type",             kAllTools,   "GPU_BIND",         kAllTools,   set_gpu_bind,                        Gpu,        "which of the GPUs each task sees"},
    {"gpu-freq",            0,   "...",              kAllTools,   "GPU_FREQ",         kAllTools,   set_gpu_freq,                        Gpu,        "frequencies of GPUs: medium,memory=high"},
    {"gpus-per-node",       0,   "n",                kAllTools,   "GPUS_PER_NODE",    kAllTools,   set_gpus_per_node,                   Gpu,        "GPUs on each node"},
    {"gpus-per-socket",     0,   "n",                kAllTools,   nullptr,            0,           set_gpus_per_socket,                 Gpu,        "GPUs on each socket"},
    {"gpus-per-task",       0,   "n",                kAllTools,   "GPUS_PER_TASK",    kAllTools,   set_gpus_per_task,                   Gpu,        "GPUs for each task"},
    {"mem-per-gpu",         0,   "n",                kAllTools,   "MEM_PER_GPU",      kAllTools,   set_mem_per_gpu,                     Gpu,        "memory per GPU"},
    {"ntasks-per-gpu",      0,   "n",                kAllTools,   "NTASKS_PER_GPU",   kSrun,       number<&Shape::ntasks_per_gpu>,      Gpu,        "tasks for each GPU"},
    {"ntasks-per-tres",     0,   "list",             kAllTools,   nullptr,            0,           nullptr,                             Gpu,        nullptr},
    {"tres-bind",           0,   "...",              kAllTools,   "TRES_BIND",        kAllTools,   set_tres_bind,                       Gpu,        "--gpu-bind, written as gres/gpu:TYPE"},

    {"help",                'h', nullptr,            kAllTools,   nullptr,            0,           flag<&JobOptions::help>,             Help,       "show this text"},
    {"usage",               0,   nullptr,            kAllTools,   nullptr,            0,           flag<&JobOptions::usage>,            Help,       "show a brief usage text"},
    {"version",             'V', nullptr,            kAllTools,   nullptr,            0,           flag<&JobOptions::version>,          Other,      "print the version and exit"},
};
// clang-format on

constexpr bool comes_before(std::uint8_t option, std::string_view name) {
    return kJobOptions[option].name < name;
}

// Rows of the table. Of several with one name (-K) the first is meant.
constexpr auto kByName = [] {
    std::array<std::uint8_t, std::size(kJobOptions)> order{};
    std::iota(order.begin(), order.end(), std::uint8_t{0});
    std::sort(order.begin(), order.end(), [](std::uint8_t a, std::uint8_t b) {
        return kJobOptions[a].name != kJobOptions[b].name ? comes_before(a, kJobOptions[b].name)
                                                          : a < b;
    });
    return order;
}();

}  // namespace

std::span<const JobOption> job_options() {
    return kJobOptions;
}

std::size_t option_index(std::string_view name) {
    const auto found = std::lower_bound(kByName.begin(), kByName.end(), name, comes_before);
    CHECK(found != kByName.end() && kJobOptions[*found].name == name, name);
    return *found;
}

Source source_of(const JobOptions& options, std::string_view name) {
    std::size_t index = option_index(name);
    return index < options.sources.size() ? options.sources[index] : Source::Nobody;
}

bool is_given(const JobOptions& options, std::string_view name) {
    return source_of(options, name) != Source::Nobody;
}

}  // namespace sluice
