#include "stepd/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "model/hostlist.h"
#include "model/job.h"
#include "protocol/convert.h"
#include "stepd/gpu_variables.h"

namespace sluice {

Environment Environment::parse(std::string_view block) {
    Environment environment;
    while (!block.empty()) {
        std::size_t end = std::min(block.find('\0'), block.size());
        std::string_view entry = block.substr(0, end);
        std::size_t equals = entry.find('=');
        if (equals != std::string_view::npos && equals > 0) {
            environment.entries_.emplace_back(entry);
        }
        block.remove_prefix(std::min(end + 1, block.size()));
    }
    return environment;
}

namespace {

bool is_entry_of(const std::string& entry, std::string_view name) {
    return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

}  // namespace

void Environment::set(std::string_view name, std::string_view value) {
    std::string entry = fmt::format("{}={}", name, value);
    for (std::string& each : entries_) {
        if (is_entry_of(each, name)) {
            each = std::move(entry);
            return;
        }
    }
    entries_.push_back(std::move(entry));
}

void Environment::set_default(std::string_view name, std::string_view value) {
    if (!has(name)) set(name, value);
}

void Environment::unset(std::string_view name) {
    std::erase_if(entries_, [&](const std::string& each) { return is_entry_of(each, name); });
}

std::string_view Environment::get(std::string_view name) const {
    for (const std::string& each : entries_) {
        if (is_entry_of(each, name)) return std::string_view(each).substr(name.size() + 1);
    }
    return {};
}

bool Environment::has(std::string_view name) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const std::string& each) { return is_entry_of(each, name); });
}

void Environment::add_missing(const Environment& other) {
    for (const std::string& each : other.entries_) {
        std::string_view name = std::string_view(each).substr(0, each.find('='));
        if (!has(name)) entries_.push_back(each);
    }
}

std::string print_per_node(const std::vector<std::uint32_t>& counts) {
    std::string text;
    for (std::size_t i = 0; i < counts.size();) {
        std::size_t next = i;
        while (next < counts.size() && counts[next] == counts[i]) ++next;
        if (!text.empty()) text += ',';
        text += fmt::format("{}", counts[i]);
        if (next - i > 1) text += fmt::format("(x{})", next - i);
        i = next;
    }
    return text;
}

namespace {

template <typename Number>
void set_number(Environment& environment, std::string_view name, Number number) {
    environment.set(name, fmt::format("{}", number));
}

void set_if(Environment& environment, std::string_view name, const std::string& value) {
    if (!value.empty()) environment.set(name, value);
}

void set_identity(Environment& environment, const wire::StepOrder& order,
                  const wire::JobAllocation& job, const JobRequest& request,
                  std::string_view user_name) {
    set_number(environment, "SLURM_JOB_ID", order.run().job());
    set_number(environment, "SLURM_JOBID", order.run().job());
    environment.set("SLURM_JOB_USER", user_name);
    set_number(environment, "SLURM_JOB_UID", order.user());
    set_number(environment, "SLURM_JOB_GID", order.group());
    set_if(environment, "SLURM_JOB_NAME", request.name);
    set_if(environment, "SLURM_JOB_ACCOUNT", request.account);
    set_if(environment, "SLURM_JOB_QOS", request.qos);
    set_if(environment, "SLURM_JOB_PARTITION", job.partition());
    set_if(environment, "SLURM_JOB_RESERVATION", request.reservation);
    set_if(environment, "SLURM_JOB_LICENSES", request.licenses);
    set_if(environment, "SLURM_JOB_SLUID", job.sluid());
    set_if(environment, "SLURM_CLUSTER_NAME", order.cluster_name());
    set_if(environment, "SLURM_CONF", order.slurm_conf());
    environment.set("SLURMD_NODENAME", order.node());
    set_if(environment, "SCRATCH", order.scratch());
    set_if(environment, "SLURM_TMPDIR", order.scratch());
    std::string address, pattern;
    for (const std::string& each : order.switches()) {
        address += each + '.';
        pattern += "switch.";
    }
    environment.set("SLURM_TOPOLOGY_ADDR", address + order.node());
    environment.set("SLURM_TOPOLOGY_ADDR_PATTERN", pattern + "node");
    // Compat: set only from the first requeue on; scripts test whether it is set at all.
    if (order.run().restarts() > 0) {
        set_number(environment, "SLURM_RESTART_COUNT", order.run().restarts());
    } else {
        environment.unset("SLURM_RESTART_COUNT");
    }
}

void set_times(Environment& environment, const wire::JobAllocation& job) {
    if (job.start_time() == 0) return;
    set_number(environment, "SLURM_JOB_START_TIME", job.start_time());
    if (job.time_limit().has_seconds()) {
        set_number(environment, "SLURM_JOB_END_TIME",
                   job.start_time() + job.time_limit().seconds());
    }
}

void set_array(Environment& environment, const wire::JobAllocation& job,
               const JobRequest& request) {
    if (!job.has_array_task()) return;
    TaskSet tasks = request.array ? request.array->tasks : TaskSet{};
    tasks.insert(job.array_task());
    set_number(environment, "SLURM_ARRAY_JOB_ID", job.array_job());
    set_number(environment, "SLURM_ARRAY_TASK_ID", job.array_task());
    set_number(environment, "SLURM_ARRAY_TASK_COUNT", tasks.size());
    set_number(environment, "SLURM_ARRAY_TASK_MIN", tasks.first());
    set_number(environment, "SLURM_ARRAY_TASK_MAX", tasks.last());
    set_number(environment, "SLURM_ARRAY_TASK_STEP", tasks.ranges().front().step);
}

void set_cpus_per_node(Environment& environment, const wire::JobAllocation& job) {
    std::vector<std::uint32_t> cpus;
    for (const wire::NodeShare& share : job.nodes()) {
        cpus.push_back(static_cast<std::uint32_t>(share.cpus_size()));
    }
    environment.set("SLURM_JOB_CPUS_PER_NODE", print_per_node(cpus));
}

void set_nodes(Environment& environment, const wire::JobAllocation& job, const Shape& shape) {
    environment.set("SLURM_JOB_NODELIST", job.node_names());
    environment.set("SLURM_NODELIST", job.node_names());
    set_number(environment, "SLURM_JOB_NUM_NODES", job.nodes_size());
    set_number(environment, "SLURM_NNODES", job.nodes_size());
    std::vector<std::uint32_t> tasks;
    for (const wire::NodeShare& share : job.nodes()) {
        tasks.push_back(tasks_announced(share, shape));
    }
    set_cpus_per_node(environment, job);
    environment.set("SLURM_TASKS_PER_NODE", print_per_node(tasks));
}

// The sizes that have a variable of the same name.
void set_sizes(Environment& environment, const Shape& shape) {
    auto set_size = [&](std::string_view name, const auto& size) {
        if (size) set_number(environment, name, *size);
    };
    set_size("SLURM_NTASKS_PER_SOCKET", shape.ntasks_per_socket);
    set_size("SLURM_NTASKS_PER_CORE", shape.ntasks_per_core);
    set_size("SLURM_NTASKS_PER_GPU", shape.ntasks_per_gpu);
    set_size("SLURM_CPUS_PER_GPU", shape.cpus_per_gpu);
    set_size("SLURM_MEM_PER_GPU", shape.mem_per_gpu);
    set_size("SLURM_THREADS_PER_CORE", shape.threads_per_core);
    set_if(environment, "SLURM_GPUS_PER_SOCKET", print_gpus(shape.gpus_per_socket));
}

// What was asked for; absent when it was not, since tools inside the job read it as their options.
void set_demands(Environment& environment, const wire::JobAllocation& job,
                 const JobRequest& request) {
    const Shape& shape = request.shape;
    if (shape.ntasks || shape.ntasks_per_node) {
        const std::uint32_t tasks = shape.ntasks.value_or(
            shape.ntasks_per_node.value_or(0) * static_cast<std::uint32_t>(job.nodes_size()));
        set_number(environment, "SLURM_NTASKS", tasks);
        set_number(environment, "SLURM_NPROCS", tasks);
    }
    if (shape.ntasks_per_node) {
        set_number(environment, "SLURM_NTASKS_PER_NODE", *shape.ntasks_per_node);
    }
    if (shape.overcommit) environment.set("SLURM_OVERCOMMIT", "1");
    set_sizes(environment, shape);
    if (shape.cpus_per_task_set) {
        set_number(environment, "SLURM_CPUS_PER_TASK", shape.cpus_per_task);
    }
    set_if(environment, "SLURM_GPUS_PER_TASK", print_gpus(shape.gpus_per_task));
    set_if(environment, "SLURM_TRES_PER_TASK", tres_per_task(shape));
    set_if(environment, "SLURM_GPUS", print_gpus(shape.gpus));
    constexpr std::string_view kGpuBind = "gres/gpu:";
    if (const std::string& bind = request.tres_bind; bind.starts_with(kGpuBind)) {
        environment.set("SLURM_GPU_BIND", bind.substr(kGpuBind.size()));
    }
    set_if(environment, "SLURM_ACCTG_FREQ", request.acctg_freq);
    constexpr std::string_view kGpuFreq = "gpu:";
    if (const std::string& freq = request.tres_freq; freq.starts_with(kGpuFreq)) {
        environment.set("SLURM_GPU_FREQ", freq.substr(kGpuFreq.size()));
    }
    // Compat: also where it is a default; but all of a node (--mem=0) is no number to hand on.
    if (job.default_mem_per_cpu() > 0) {
        set_number(environment, "SLURM_MEM_PER_CPU", job.default_mem_per_cpu());
    } else if (job.default_mem_per_node() > 0) {
        set_number(environment, "SLURM_MEM_PER_NODE", job.default_mem_per_node());
    }
    constexpr std::string_view kExclusive[] = {"NO", "NODE", "USER"};
    environment.set("SLURM_JOB_EXCLUSIVE", kExclusive[static_cast<std::size_t>(shape.exclusive)]);
    environment.set("SLURM_JOB_OVERSUBSCRIBE", shape.oversubscribe ? "YES" : "NO");
    environment.set("SLURM_OOM_KILL_STEP", request.oom_kill_step ? "1" : "0");
}

// An image has no such variable: srun would take its name for a bundle.
void set_container(Environment& environment, const std::string& container,
                   const std::string& setup) {
    if (!container.empty() && setup.empty()) environment.set("SLURM_CONTAINER", container);
}

// For the job's sruns, which read it as their own --open-mode.
void set_open_mode(Environment& environment, OpenMode mode) {
    if (mode == OpenMode::Append) environment.set("SLURM_OPEN_MODE", "a");
    if (mode == OpenMode::Truncate) environment.set("SLURM_OPEN_MODE", "t");
}

// MPI launchers started in a job go through srun; this makes them do it without new steps' rules.
void set_launchers(Environment& environment) {
    for (const char* name :
         {"OMPI_MCA_plm_slurm_args", "PRTE_MCA_plm_slurm_args", "HYDRA_LAUNCHER_EXTRA_ARGS",
          "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS"}) {
        environment.set(name, "--external-launcher");
    }
    environment.set("HYDRA_BOOTSTRAP", "slurm");
    environment.set("I_MPI_HYDRA_BOOTSTRAP", "slurm");
}

void set_position(Environment& environment, std::uint32_t task, std::uint32_t local,
                  std::uint32_t node, const std::string& all_local) {
    set_number(environment, "SLURM_PROCID", task);
    set_number(environment, "SLURM_LOCALID", local);
    set_number(environment, "SLURM_NODEID", node);
    environment.set("SLURM_GTIDS", all_local);
    environment.unset("SLURM_TASK_PID");  // the new process fills it in
}

}  // namespace

void set_batch_variables(Environment& environment, const wire::StepOrder& order,
                         std::string_view user_name) {
    const wire::JobAllocation& job = order.batch().job();
    const JobRequest request = request_of(job);
    set_identity(environment, order, job, request, user_name);
    set_times(environment, job);
    set_array(environment, job, request);
    set_nodes(environment, job, request.shape);
    set_demands(environment, job, request);
    set_number(environment, "SLURM_CPUS_ON_NODE", order.share().cpus_size());
    set_gpu_variables(environment, order, gpus_of(order.share()), "SLURM_JOB_GPUS");
    set_container(environment, request.container, request.container_setup);
    set_open_mode(environment, request.open_mode);
    set_launchers(environment);
    set_position(environment, 0, 0, 0, "0");
    environment.set("SLURM_STEP_ID", "-5");
    environment.set("SLURM_STEPID", "-5");
    environment.set_default("SLURM_PRIO_PROCESS", "0");
    environment.set_default("SLURM_SUBMIT_DIR", request.work_dir);
    environment.set_default("SLURM_SUBMIT_HOST", request.submit_host);
    environment.set("ENVIRONMENT", "BATCH");
    environment.set("HOSTNAME", order.hostname());
    environment.set_default("TMPDIR", "/tmp");
}

void set_task_variables(Environment& environment, const wire::StepOrder& order, const User& user,
                        std::size_t local, const std::vector<std::uint32_t>& gpus) {
    const wire::LaunchTasks& launch = order.tasks();
    const wire::JobAllocation& job = launch.job();
    const JobRequest request = request_of(job);
    set_identity(environment, order, job, request, user.name);
    set_times(environment, job);
    set_array(environment, job, request);
    environment.set("SLURM_JOB_NODELIST", job.node_names());
    environment.set("SLURM_NODELIST", job.node_names());
    set_number(environment, "SLURM_JOB_NUM_NODES", std::max(1, job.nodes_size()));
    set_cpus_per_node(environment, job);
    set_number(environment, "SLURM_STEP_ID", order.run().step());
    set_number(environment, "SLURM_STEPID", order.run().step());
    environment.set("SLURM_STEP_NODELIST", launch.step_nodes());
    Result<Hostlist> step_nodes = Hostlist::parse(launch.step_nodes());
    std::size_t node_count = step_nodes ? step_nodes->size() : 1;
    set_number(environment, "SLURM_STEP_NUM_NODES", node_count);
    environment.set("SLURM_STEP_TASKS_PER_NODE", launch.tasks_per_node());
    set_number(environment, "SLURM_STEP_NUM_TASKS", launch.total_tasks());
    if (!launch.spec().preserve_env()) {
        set_number(environment, "SLURM_NNODES", node_count);
        environment.set("SLURM_TASKS_PER_NODE", launch.tasks_per_node());
        set_number(environment, "SLURM_NTASKS", launch.total_tasks());
        set_number(environment, "SLURM_NPROCS", launch.total_tasks());
    }
    set_number(environment, "SLURM_CPUS_ON_NODE", order.share().cpus_size());
    environment.set("SLURM_JOB_GROUP", user.group_name);
    // srun listens on no port, so there is no SLURM_SRUN_COMM_PORT.
    set_if(environment, "SLURM_LAUNCH_NODE_IPADDR", launch.srun_address());
    set_if(environment, "SLURM_SRUN_COMM_HOST", launch.srun_address());
    set_if(environment, "SLURM_STEP_RESV_PORTS", launch.spec().resv_ports());

    const auto& ids = launch.task_ids();
    set_position(environment, ids[static_cast<int>(local)], static_cast<std::uint32_t>(local),
                 launch.node_rank(), fmt::format("{}", fmt::join(ids.begin(), ids.end(), ",")));

    // Compat: SLURM_STEP_GPUS is what the task sees, not all that the step has. The shell of salloc
    // stands for the job, as a batch script does.
    set_gpu_variables(environment, order, gpus,
                      launch.spec().interactive() ? "SLURM_JOB_GPUS" : "SLURM_STEP_GPUS");
    set_container(environment, launch.spec().container(), launch.spec().container_setup());
    set_launchers(environment);
    environment.set_default("TMPDIR", "/tmp");
}

}  // namespace sluice
