#include "cli/common/job_variables.h"

#include <fmt/format.h>

#include "cli/common/job_setup.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

void set_if(Environment& environment, std::string_view name, const std::string& value) {
    if (!value.empty()) environment.set(name, value);
}

void set_shape_variables(Environment& environment, const Shape& shape, std::uint64_t nodes) {
    auto set_number = [&](std::string_view name, std::uint64_t value) {
        environment.set(name, fmt::format("{}", value));
    };
    if (shape.ntasks || shape.ntasks_per_node) {
        const std::uint64_t tasks = shape.ntasks ? *shape.ntasks : *shape.ntasks_per_node * nodes;
        set_number("SLURM_NTASKS", tasks);
        set_number("SLURM_NPROCS", tasks);
    }
    if (shape.overcommit) set_number("SLURM_OVERCOMMIT", 1);
    if (shape.ntasks_per_node) set_number("SLURM_NTASKS_PER_NODE", *shape.ntasks_per_node);
    if (shape.cpus_per_task_set) set_number("SLURM_CPUS_PER_TASK", shape.cpus_per_task);
    set_if(environment, "SLURM_TRES_PER_TASK", tres_per_task(shape));
    if (shape.ntasks_per_socket) {
        set_number("SLURM_NTASKS_PER_SOCKET", *shape.ntasks_per_socket);
    }
    if (shape.ntasks_per_core) set_number("SLURM_NTASKS_PER_CORE", *shape.ntasks_per_core);
    if (shape.ntasks_per_gpu) set_number("SLURM_NTASKS_PER_GPU", *shape.ntasks_per_gpu);
    if (shape.cpus_per_gpu) set_number("SLURM_CPUS_PER_GPU", *shape.cpus_per_gpu);
    if (shape.mem_per_gpu) set_number("SLURM_MEM_PER_GPU", *shape.mem_per_gpu);
    if (shape.threads_per_core) set_number("SLURM_THREADS_PER_CORE", *shape.threads_per_core);
    if (shape.mem_per_node) set_number("SLURM_MEM_PER_NODE", *shape.mem_per_node);
    if (shape.mem_per_cpu) set_number("SLURM_MEM_PER_CPU", *shape.mem_per_cpu);
    set_if(environment, "SLURM_GPUS", print_gpus(shape.gpus));
    set_if(environment, "SLURM_GPUS_PER_NODE", print_gpus(shape.gres_per_node));
    set_if(environment, "SLURM_GPUS_PER_TASK", print_gpus(shape.gpus_per_task));
    set_if(environment, "SLURM_GPUS_PER_SOCKET", print_gpus(shape.gpus_per_socket));
}

}  // namespace

void set_job_variables(Environment& environment, const wire::JobAllocation& allocation) {
    const JobRequest request = request_of(allocation);
    std::vector<std::uint32_t> cpus, tasks;
    for (const wire::NodeShare& node : allocation.nodes()) {
        cpus.push_back(static_cast<std::uint32_t>(node.cpus_size()));
        tasks.push_back(tasks_announced(node, request.shape));
    }
    const std::string id = fmt::format("{}", allocation.job());
    const std::string nodes = fmt::format("{}", allocation.nodes_size());
    environment.set("SLURM_JOB_ID", id);
    environment.set("SLURM_JOBID", id);
    environment.set("SLURM_JOB_NODELIST", allocation.node_names());
    environment.set("SLURM_NODELIST", allocation.node_names());
    environment.set("SLURM_JOB_NUM_NODES", nodes);
    environment.set("SLURM_NNODES", nodes);
    environment.set("SLURM_JOB_CPUS_PER_NODE", fold_counts(cpus));
    environment.set("SLURM_TASKS_PER_NODE", fold_counts(tasks));
    environment.set("SLURM_CLUSTER_NAME", allocation.cluster_name());
    environment.set("SLURM_JOB_NAME", request.name);
    environment.set("SLURM_JOB_PARTITION", allocation.partition());
    environment.set("SLURM_SUBMIT_HOST", request.submit_host);
    set_if(environment, "SLURM_JOB_ACCOUNT", request.account);
    set_if(environment, "SLURM_JOB_QOS", request.qos);
    set_if(environment, "SLURM_JOB_RESERVATION", request.reservation);
    constexpr std::string_view kGpus = "gres/gpu:";
    if (request.tres_bind.starts_with(kGpus)) {
        environment.set("SLURM_GPU_BIND", request.tres_bind.substr(kGpus.size()));
    }
    set_if(environment, "SLURM_ACCTG_FREQ", request.acctg_freq);
    constexpr std::string_view kGpuFreq = "gpu:";
    if (request.tres_freq.starts_with(kGpuFreq)) {
        environment.set("SLURM_GPU_FREQ", request.tres_freq.substr(kGpuFreq.size()));
    }
    if (request.oom_kill_step) environment.set("SLURM_OOM_KILL_STEP", "1");
    set_shape_variables(environment, request.shape, allocation.nodes_size());
}

}  // namespace sluice
