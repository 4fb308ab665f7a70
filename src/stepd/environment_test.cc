// stepd/environment_test.cc: the variables that jobs and tasks find.
#include "stepd/environment.h"

#include <gtest/gtest.h>

#include "model/job.h"
#include "model/job_id.h"
#include "protocol/convert.h"
#include "stepd/gpus.h"

namespace sluice {
namespace {

wire::NodeShare share_of(int cpus, std::vector<std::uint32_t> gpus) {
    wire::NodeShare share;
    for (int cpu = 0; cpu < cpus; ++cpu) share.add_cpus(static_cast<std::uint32_t>(cpu));
    share.set_tasks(2);
    if (gpus.empty()) return share;
    wire::NodeShare::Devices& devices = *share.add_gres();
    devices.set_name("gpu");
    for (std::uint32_t gpu : gpus) devices.add_indexes(gpu);
    return share;
}

JobRequest train_request() {
    JobRequest request;
    request.name = "train";
    request.work_dir = "/home/u";
    return request;
}

wire::StepOrder batch_order() {
    wire::StepOrder order;
    order.mutable_run()->set_job(12);
    order.mutable_run()->set_step(kBatchStep.value);
    order.set_node("n1");
    order.set_hostname("host1");
    order.set_user(1000);
    order.set_group(100);
    *order.mutable_share() = share_of(2, {2, 3});
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"})
        order.mutable_gpus()->add_variables(name);
    wire::JobAllocation& job = *order.mutable_batch()->mutable_job();
    job.set_node_names("n[1-2]");
    *job.add_nodes() = order.share();
    *job.add_nodes() = share_of(2, {});
    job.set_start_time(1000);
    job.mutable_time_limit()->set_seconds(600);
    job.set_request(encode(train_request()));
    return order;
}

wire::StepOrder step_order() {
    wire::StepOrder order = batch_order();
    wire::JobAllocation job = order.batch().job();
    wire::LaunchTasks& tasks = *order.mutable_tasks();
    *tasks.mutable_job() = job;
    order.mutable_run()->set_step(0);
    tasks.add_task_ids(4);
    tasks.add_task_ids(5);
    tasks.set_total_tasks(6);
    tasks.set_node_rank(2);
    tasks.set_step_nodes("n[1-3]");
    tasks.set_tasks_per_node("2(x3)");
    return order;
}

User ada() {
    return {1000, 100, "ada", "/home/u", "/bin/sh", {100}, "staff"};
}

TEST(Environment, KeepsOneValuePerName) {
    Environment environment = Environment::parse(std::string_view("A=1\0B=x=y\0\0=bad\0C\0", 18));
    environment.set("A", "2");
    environment.set_default("B", "no");
    EXPECT_EQ(environment.entries(), (std::vector<std::string>{"A=2", "B=x=y"}));
    environment.unset("A");
    EXPECT_FALSE(environment.has("A"));
}

TEST(Environment, FoldsEqualCountsPerNode) {
    EXPECT_EQ(print_per_node({2, 2, 2, 1}), "2(x3),1");
    EXPECT_EQ(print_per_node({4}), "4");
    EXPECT_EQ(print_per_node({}), "");
}

TEST(Environment, TheAddressOfANodeNamesItsSwitches) {
    Environment environment;
    wire::StepOrder order = batch_order();
    set_batch_variables(environment, order, "ada");
    EXPECT_EQ(environment.get("SLURM_TOPOLOGY_ADDR"), order.node());
    EXPECT_EQ(environment.get("SLURM_TOPOLOGY_ADDR_PATTERN"), "node");
    order.add_switches("top");
    order.add_switches("s1");
    set_batch_variables(environment, order, "ada");
    EXPECT_EQ(environment.get("SLURM_TOPOLOGY_ADDR"), "top.s1." + order.node());
    EXPECT_EQ(environment.get("SLURM_TOPOLOGY_ADDR_PATTERN"), "switch.switch.node");
}

TEST(Environment, BatchScriptSeesItsJob) {
    Environment environment;
    set_batch_variables(environment, batch_order(), "ada");
    const std::pair<const char*, const char*> kExpected[] = {
        {"SLURM_JOB_ID", "12"},
        {"SLURM_JOBID", "12"},
        {"SLURM_JOB_NAME", "train"},
        {"SLURM_JOB_NODELIST", "n[1-2]"},
        {"SLURM_NNODES", "2"},
        {"SLURM_JOB_CPUS_PER_NODE", "2(x2)"},
        {"SLURM_CPUS_ON_NODE", "2"},
        {"SLURM_JOB_GPUS", "2,3"},
        {"CUDA_VISIBLE_DEVICES", "2,3"},
        {"SLURM_GPUS_ON_NODE", "2"},
        {"SLURM_JOB_END_TIME", "1600"},
        {"SLURM_STEP_ID", "-5"},
        {"SLURM_SUBMIT_DIR", "/home/u"},
        {"SLURM_JOB_USER", "ada"},
        {"ENVIRONMENT", "BATCH"},
        {"HOSTNAME", "host1"},
        {"TMPDIR", "/tmp"},
    };
    for (auto [name, value] : kExpected) EXPECT_EQ(environment.get(name), value) << name;
}

TEST(Environment, MemoryIsToldAlsoWhereItIsADefault) {
    wire::StepOrder order = batch_order();
    wire::JobAllocation& job = *order.mutable_batch()->mutable_job();
    job.set_default_mem_per_cpu(1000);
    Environment environment;
    set_batch_variables(environment, order, "ada");
    EXPECT_EQ(environment.get("SLURM_MEM_PER_CPU"), "1000");
    job.clear_default_mem_per_cpu();
    job.set_default_mem_per_node(0);  // --mem=0: all of it
    Environment without;
    set_batch_variables(without, order, "ada");
    EXPECT_FALSE(without.has("SLURM_MEM_PER_CPU") || without.has("SLURM_MEM_PER_NODE"));
}

TEST(Environment, SizesByTaskKeepTheTypesOfGpus) {
    wire::StepOrder order = batch_order();
    JobRequest request;
    request.shape.cpus_per_task = 2;
    request.shape.cpus_per_task_set = true;
    request.shape.gpus_per_task = {{"gpu", "a40", 1}};
    order.mutable_batch()->mutable_job()->set_request(encode(request));
    Environment environment;
    set_batch_variables(environment, order, "ada");
    EXPECT_EQ(environment.get("SLURM_GPUS_PER_TASK"), "a40:1");
    EXPECT_EQ(environment.get("SLURM_TRES_PER_TASK"), "cpu=2,gres/gpu:a40=1");
}

TEST(Environment, WhatWasNotAskedForIsNotSet) {
    Environment environment;
    set_batch_variables(environment, batch_order(), "ada");
    for (const char* name : {"SLURM_NTASKS", "SLURM_CPUS_PER_TASK", "SLURM_NTASKS_PER_NODE",
                             "SLURM_GPUS", "SLURM_RESTART_COUNT", "SLURM_ARRAY_TASK_ID"}) {
        EXPECT_FALSE(environment.has(name)) << name;
    }
}

TEST(Environment, ArrayTaskKnowsItsArray) {
    wire::StepOrder order = batch_order();
    wire::JobAllocation& job = *order.mutable_batch()->mutable_job();
    job.set_array_job(10);
    job.set_array_task(4);
    JobRequest request;
    request.array = parse_array("0-8:2").value();
    job.set_request(encode(request));
    Environment environment;
    set_batch_variables(environment, order, "ada");
    EXPECT_EQ(environment.get("SLURM_ARRAY_JOB_ID"), "10");
    EXPECT_EQ(environment.get("SLURM_ARRAY_TASK_COUNT"), "5");
    EXPECT_EQ(environment.get("SLURM_ARRAY_TASK_MAX"), "8");
    EXPECT_EQ(environment.get("SLURM_ARRAY_TASK_STEP"), "2");
}

TEST(Environment, OpenModeIsHandedOnToTheSteps) {
    wire::StepOrder order = batch_order();
    Environment plain, append, truncate;
    set_batch_variables(plain, order, "ada");
    EXPECT_FALSE(plain.has("SLURM_OPEN_MODE"));
    JobRequest request;
    request.open_mode = OpenMode::Append;
    order.mutable_batch()->mutable_job()->set_request(encode(request));
    set_batch_variables(append, order, "ada");
    EXPECT_EQ(append.get("SLURM_OPEN_MODE"), "a");
    request.open_mode = OpenMode::Truncate;
    order.mutable_batch()->mutable_job()->set_request(encode(request));
    set_batch_variables(truncate, order, "ada");
    EXPECT_EQ(truncate.get("SLURM_OPEN_MODE"), "t");
}

TEST(Environment, TaskKnowsItsPlaceInTheStep) {
    Environment environment;
    set_task_variables(environment, step_order(), ada(), 1, {2, 3});
    EXPECT_EQ(environment.get("SLURM_PROCID"), "5");
    EXPECT_EQ(environment.get("SLURM_LOCALID"), "1");
    EXPECT_EQ(environment.get("SLURM_NODEID"), "2");
    EXPECT_EQ(environment.get("SLURM_GTIDS"), "4,5");
    EXPECT_EQ(environment.get("SLURM_NTASKS"), "6");
    EXPECT_EQ(environment.get("SLURM_STEP_NUM_NODES"), "3");
    EXPECT_EQ(environment.get("SLURM_STEP_GPUS"), "2,3");
    EXPECT_EQ(environment.get("SLURM_JOB_GROUP"), "staff");
}

TEST(Environment, TaskKnowsWhereItWasLaunchedFrom) {
    wire::StepOrder order = step_order();
    *order.mutable_tasks()->mutable_job()->add_nodes() = share_of(4, {});
    *order.mutable_tasks()->mutable_job()->add_nodes() = share_of(1, {});
    order.mutable_tasks()->set_srun_address("10.0.0.7");
    Environment environment;
    set_task_variables(environment, order, ada(), 1, {});
    EXPECT_EQ(environment.get("SLURM_LAUNCH_NODE_IPADDR"), "10.0.0.7");
    EXPECT_EQ(environment.get("SLURM_SRUN_COMM_HOST"), "10.0.0.7");
    EXPECT_EQ(environment.get("SLURM_JOB_CPUS_PER_NODE"), "2(x2),4,1");
}

TEST(Environment, ABoundTaskSeesItsOwnGpus) {
    wire::StepOrder order = step_order();
    order.mutable_tasks()->mutable_spec()->set_tres_bind("gres/gpu:verbose,per_task:1");
    TaskDevices devices = devices_of_task(order, 1).value();
    EXPECT_EQ(devices.gpus, std::vector<std::uint32_t>{3});
    EXPECT_EQ(devices.binding,
              "gpu-bind: usable_gres=0x8; bit_alloc=0xC; local_inx=0; global_list=3; "
              "local_list=3\n");
    Environment environment;
    set_task_variables(environment, order, ada(), 1, devices.gpus);
    EXPECT_EQ(environment.get("CUDA_VISIBLE_DEVICES"), "3");
    EXPECT_EQ(environment.get("SLURM_STEP_GPUS"), "3");
    EXPECT_EQ(environment.get("SLURM_GPUS_ON_NODE"), "2");
    order.mutable_confinement()->set_devices_constrained(true);
    set_task_variables(environment, order, ada(), 1, devices.gpus);
    EXPECT_EQ(environment.get("CUDA_VISIBLE_DEVICES"), "1");
}

// SLURM_JOB_GPUS and SLURM_STEP_GPUS are always the node's numbers; what programs read are those
// that the driver shows them.
TEST(Environment, GpuNumbersSuitWhatTheProcessesSee) {
    struct Case {
        bool constrained;
        std::vector<std::uint32_t> step;  // of the job's GPUs 2 and 3
        const char* visible;
        const char* own;
    };
    const Case cases[] = {{false, {2, 3}, "2,3", "2,3"}, {true, {2, 3}, "0,1", "2,3"},
                          {false, {2}, "2", "2"},        {true, {2}, "0", "2"},
                          {false, {3}, "3", "3"},        {true, {3}, "0", "3"}};
    for (const Case& each : cases) {
        wire::StepOrder batch = batch_order(), step = step_order();
        for (wire::StepOrder* order : {&batch, &step}) {
            *order->mutable_share() = share_of(2, each.step);
            order->mutable_confinement()->set_devices_constrained(each.constrained);
        }
        Environment script, task;
        set_batch_variables(script, batch, "ada");
        set_task_variables(task, step, ada(), 0, devices_of_task(step, 0).value().gpus);
        for (const char* name : {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                 "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"}) {
            EXPECT_EQ(script.get(name), each.visible) << name;
            EXPECT_EQ(task.get(name), each.visible) << name;
        }
        EXPECT_EQ(script.get("SLURM_JOB_GPUS"), each.own);
        EXPECT_EQ(task.get("SLURM_STEP_GPUS"), each.own);
    }
}

TEST(Environment, ABindingThatCannotBeIsComplainedAbout) {
    wire::StepOrder order = step_order();
    order.mutable_tasks()->mutable_spec()->set_tres_bind("gres/gpu:map:0");
    TaskDevices devices = devices_of_task(order, 0).value();
    EXPECT_EQ(devices.gpus, std::vector<std::uint32_t>{2});
    EXPECT_EQ(devices.complaints,
              std::vector<std::string>{
                  "Bind request gres/gpu:map:0 does not specify any devices within the allocation "
                  "for task 4. Binding to the first device in the allocation instead."});
    order.mutable_tasks()->mutable_spec()->set_tres_bind("nonsense");
    EXPECT_FALSE(devices_of_task(order, 0));
}

}  // namespace
}  // namespace sluice
