#include "stepd/binding.h"

#include <gtest/gtest.h>

#include "model/errors.h"

namespace sluice {
namespace {

// Two tasks on the first socket of a machine with two sockets of two cores.
wire::StepOrder order_on_one_socket() {
    wire::StepOrder order;
    order.set_node("n1");
    for (std::uint32_t task : {4u, 5u}) order.mutable_tasks()->add_task_ids(task);
    wire::TaskBinding& binding = *order.mutable_binding();
    binding.set_affinity(true);
    binding.set_bind("quiet");
    binding.set_machine_cpus(8);
    for (std::uint32_t cpu : {0u, 1u}) {
        binding.add_cpus(cpu);
        binding.add_sockets(0);
        binding.add_cores(cpu);
        binding.add_domains(0);
    }
    return order;
}

struct Task {
    Environment environment;
    ProcessSpec spec;
};

Task task_of(const StepBinding& binding, std::size_t local) {
    Task task;
    EXPECT_TRUE(binding.apply(local, task.environment, task.spec));
    return task;
}

TEST(StepBinding, TasksHaveTheirCpusAndKnowThem) {
    const wire::StepOrder order = order_on_one_socket();
    const StepBinding binding = StepBinding::of_tasks(order).value();
    EXPECT_EQ(task_of(binding, 0).spec.cpus, (Numbers{0}));
    const Task second = task_of(binding, 1);
    EXPECT_EQ(second.spec.cpus, (Numbers{1}));
    EXPECT_EQ(second.environment.get("SLURM_CPU_BIND"), "quiet,mask_cpu:0x01,0x02");
    EXPECT_EQ(second.environment.get("SLURM_CPU_BIND_TYPE"), "mask_cpu:");
    EXPECT_EQ(second.environment.get("SLURM_CPU_BIND_LIST"), "0x01,0x02");
    EXPECT_EQ(second.environment.get("SLURM_CPU_BIND_VERBOSE"), "quiet");
    EXPECT_FALSE(second.environment.has("SLURM_MEM_BIND"));
    EXPECT_FALSE(second.spec.bound_preface);
    EXPECT_FALSE(second.spec.memory_policy);
}

TEST(StepBinding, TheStepCountsMoreThanSlurmConf) {
    wire::StepOrder order = order_on_one_socket();
    order.mutable_binding()->set_bind("verbose,none");
    auto cpus = [&] { return task_of(StepBinding::of_tasks(order).value(), 1).spec.cpus; };
    EXPECT_EQ(cpus(), (Numbers{0, 1}));
    order.mutable_tasks()->mutable_spec()->set_cpu_bind("verbose");
    EXPECT_EQ(cpus(), (Numbers{0, 1}));
    order.mutable_tasks()->mutable_spec()->set_cpu_bind("cores");
    EXPECT_EQ(cpus(), (Numbers{1}));
    EXPECT_TRUE(task_of(StepBinding::of_tasks(order).value(), 1).spec.bound_preface);
    order.mutable_tasks()->mutable_spec()->set_cpu_bind("map_cpu:1,2");
    EXPECT_EQ(StepBinding::of_tasks(order).error().code, ErrorCode::LaunchFailed);
}

TEST(StepBinding, WhatIsNotKnownOrNotWantedIsNotBound) {
    wire::StepOrder order = order_on_one_socket();
    order.mutable_tasks()->mutable_spec()->set_interactive(true);
    Task task = task_of(StepBinding::of_tasks(order).value(), 0);
    EXPECT_EQ(task.spec.cpus, (Numbers{0}));
    EXPECT_TRUE(task.environment.entries().empty());
    order.mutable_binding()->clear_cpus();
    order.mutable_tasks()->mutable_spec()->set_cpu_bind("verbose,map_cpu:99");
    const StepBinding unknown = StepBinding::of_tasks(order).value();
    task = task_of(unknown, 0);
    EXPECT_TRUE(task.spec.cpus.empty());
    EXPECT_TRUE(task.spec.bound_preface().starts_with("cpu-bind=NONE - n1, task  4  0 ["));
    order.mutable_binding()->set_affinity(false);
    EXPECT_FALSE(task_of(StepBinding::of_tasks(order).value(), 0).spec.bound_preface);
}

TEST(StepBinding, OfMemory) {
    wire::StepOrder order = order_on_one_socket();
    auto task = [&](const char* bind) {
        order.mutable_tasks()->mutable_spec()->set_mem_bind(bind);
        return task_of(StepBinding::of_tasks(order).value(), 0);
    };
    EXPECT_EQ(task("local").spec.memory_policy, MemoryPolicy::Local);
    EXPECT_FALSE(task("none").spec.memory_policy);
    const Task first = task("prefer,map_mem:0");
    EXPECT_EQ(first.spec.memory_policy, MemoryPolicy::Prefer);
    EXPECT_EQ(first.spec.memory_domains, (Numbers{0}));
    EXPECT_EQ(first.environment.get("SLURM_MEM_BIND"), "quiet,prefer,map_mem:0");
    EXPECT_EQ(first.environment.get("SLURM_MEM_BIND_LIST"), "0");
    order.mutable_tasks()->mutable_spec()->set_mem_bind("map_mem:1023");
    Task other;
    EXPECT_EQ(
        StepBinding::of_tasks(order).value().apply(0, other.environment, other.spec).error().detail,
        "NUMA node 1023 does not exist; cannot bind local task 0 to it (--mem-bind=map_mem)");
}

TEST(StepBinding, ATaskIsCloseToItsGpu) {
    wire::StepOrder order = order_on_one_socket();
    wire::TaskBinding& binding = *order.mutable_binding();
    binding.clear_sockets();
    for (std::uint32_t socket : {0u, 1u}) binding.add_sockets(socket);
    wire::NodeShare::Devices& gpus = *order.mutable_share()->add_gres();
    gpus.set_name("gpu");
    for (std::uint32_t gpu : {0u, 1u}) {
        gpus.add_indexes(gpu);
        wire::CloseCpus& close = *binding.add_gpus();
        close.set_gpu(gpu);
        close.add_cpus(1 - gpu);
    }
    order.mutable_tasks()->mutable_spec()->set_cpu_bind("cores");
    EXPECT_EQ(task_of(StepBinding::of_tasks(order).value(), 0).spec.cpus, (Numbers{0}));
    order.mutable_tasks()->mutable_spec()->set_tres_bind("gres/gpu:per_task:1");
    EXPECT_EQ(task_of(StepBinding::of_tasks(order).value(), 0).spec.cpus, (Numbers{1}));
    EXPECT_EQ(task_of(StepBinding::of_tasks(order).value(), 1).spec.cpus, (Numbers{0}));
}

}  // namespace
}  // namespace sluice
