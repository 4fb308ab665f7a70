// The parts of slurmd that decide without touching the machine.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "agent/confinement.h"
#include "agent/controller_link.h"
#include "agent/job_directories.h"
#include "agent/launch_check.h"
#include "agent/options.h"
#include "agent/run_key.h"
#include "agent/task_binding.h"
#include "model/errors.h"
#include "node/outbox.h"
#include "os/files.h"

namespace sluice {
namespace {

wire::AgentReport report_for(std::uint32_t job) {
    wire::AgentReport report;
    report.mutable_job_ended()->mutable_run()->set_job(job);
    return report;
}

TEST(Outbox, KeepsReportsUntilTheyAreOnDisk) {
    Outbox<wire::AgentReport> outbox;
    EXPECT_EQ(outbox.add(report_for(1)).sequence(), 1u);
    outbox.add(report_for(2));
    outbox.add(report_for(3));
    std::vector<wire::AgentReport> done = outbox.acknowledge(2);
    ASSERT_EQ(done.size(), 2u);
    EXPECT_EQ(done[1].job_ended().run().job(), 2u);
    ASSERT_EQ(outbox.pending().size(), 1u);
    EXPECT_TRUE(outbox.acknowledge(2).empty());
    EXPECT_EQ(outbox.add(report_for(4)).sequence(), 4u);
}

TEST(RunKey, MarksRoundTrip) {
    for (StepId step : {kBatchStep, StepId{0}, StepId{17}}) {
        RunKey key{{JobId{12}, 3}, step};
        const std::string place = make_place();
        std::string path = mark_path("/spool", key, place);
        std::optional<Mark> mark = parse_mark("job00012", path.substr(path.rfind('/') + 1));
        ASSERT_TRUE(mark) << path;
        EXPECT_EQ(mark->key, key);
        EXPECT_EQ(mark->place, place);
    }
    EXPECT_EQ(mark_path("/spool", {{JobId{12}, 0}, kBatchStep}, "5f0a12b97c33d481"),
              "/spool/job00012/batch.0.5f0a12b97c33d481");
    EXPECT_NE(make_place(), make_place());
}

TEST(RunKey, OtherFilesAreNoMarks) {
    for (const char* name : {"slurm_script", "batch.0", "batch.x.5f0a12b97c33d481",
                             "x.0.5f0a12b97c33d481", "epilog.0", "0.0.5f0a12b97c33d481.new"}) {
        EXPECT_FALSE(parse_mark("job00012", name)) << name;
    }
    EXPECT_FALSE(parse_mark("controller_key", "batch.0.5f0a12b97c33d481"));
}

TEST(JobDirectories, AreEmptyWhenTheyAreUsedAgain) {
    std::string spool = testing::TempDir() + "spoolXXXXXX";
    ASSERT_NE(mkdtemp(spool.data()), nullptr);
    JobDirectories directories;
    for (std::uint32_t id : {1u, 2u, 3u}) ASSERT_TRUE(directories.make(spool, JobId{id}));
    ASSERT_TRUE(write_file_atomically(spool + "/job00001/slurm_script", "secret"));
    ASSERT_TRUE(make_directories(spool + "/job00002/deep"));
    directories.remove(spool, JobId{1});
    directories.remove(spool, JobId{2});  // with what cannot be there
    directories.remove(spool, JobId{9});  // never was
    EXPECT_EQ(list_directory(spool).size(), 2u);
    ASSERT_TRUE(directories.make(spool, JobId{3}));  // requeued: it is there
    ASSERT_TRUE(directories.make(spool, JobId{4}));
    EXPECT_EQ(list_directory(spool).size(), 2u);
    EXPECT_TRUE(list_directory(spool + "/job00004").empty());
    directories.remove(spool, JobId{4});
    JobDirectories::remove_spare(spool);
    EXPECT_EQ(list_directory(spool), std::vector<std::string>{"job00003"});
    ASSERT_TRUE(directories.make(spool, JobId{5}));  // though the spare one is gone
    remove_tree(spool);
}

// One socket with four cores of two threads.
Site site_with_threads() {
    Site site;
    site.node.cpus = 8;
    site.node.cores_per_socket = 4;
    site.node.threads_per_core = 2;
    site.hardware.cpus = 8;
    site.hardware.cores_per_socket = 4;
    site.hardware.threads_per_core = 2;
    site.hardware.cpu_order = {0, 4, 1, 5, 2, 6, 3, 7};
    for (std::uint32_t i = 0; i < 8; ++i) site.hardware.cpu_places.push_back({0, i / 2, i / 4});
    return site;
}

TEST(Binding, TheSupervisorIsToldWhereItsCpusAre) {
    Site site = site_with_threads();
    wire::NodeShare share;
    for (std::uint32_t cpu : {2u, 3u, 4u}) share.add_cpus(cpu);
    EXPECT_FALSE(binding_of(site, share).affinity());
    site.config.task_plugin.affinity = true;
    site.config.task_plugin.bind = BindKind::Cores;
    const wire::TaskBinding binding = binding_of(site, share);
    auto list = [](const auto& field) { return fmt::format("{}", fmt::join(field, " ")); };
    EXPECT_EQ(list(binding.cpus()), "1 5 2");
    EXPECT_EQ(list(binding.cores()), "1 1 2");
    EXPECT_EQ(list(binding.domains()), "0 0 1");
    EXPECT_EQ(binding.bind(), "quiet,cores");
    EXPECT_FALSE(binding.whole_node());
    for (std::uint32_t cpu : {0u, 1u, 5u}) share.add_cpus(cpu);
    EXPECT_FALSE(binding_of(site, share).whole_node());
    site.node.cpu_spec_list = {6, 7};  // not for jobs
    EXPECT_TRUE(binding_of(site, share).whole_node());
    site.node.cpus = 16;
    EXPECT_EQ(binding_of(site, share).cpus_size(), 0);
}

TEST(Binding, GpusHaveCloseCpus) {
    Site site = site_with_threads();
    site.config.task_plugin.affinity = true;
    site.gres = {{.name = "gpu", .files = {}, .count = 2, .cores = "0-1"},
                 {.name = "gpu", .files = {}, .count = 1, .cores = "3"},
                 {.name = "gpu", .files = {}, .count = 1}};
    wire::NodeShare share;
    wire::NodeShare::Devices& gpus = *share.add_gres();
    gpus.set_name("gpu");
    for (std::uint32_t gpu : {1u, 2u, 3u}) gpus.add_indexes(gpu);
    const wire::TaskBinding binding = binding_of(site, share);
    ASSERT_EQ(binding.gpus_size(), 2);
    EXPECT_EQ(binding.gpus(0).gpu(), 1u);
    EXPECT_EQ(fmt::format("{}", fmt::join(binding.gpus(0).cpus(), " ")), "0 4 1 5");
    EXPECT_EQ(binding.gpus(1).gpu(), 2u);
    EXPECT_EQ(fmt::format("{}", fmt::join(binding.gpus(1).cpus(), " ")), "3 7");
}

TEST(Confinement, CpusAreTheKernelsNumbers) {
    // Core by core, two threads each: the kernel numbers the second threads last.
    Site site = site_with_threads();
    EXPECT_EQ(kernel_cpus(site, {0, 1, 2, 3}), "0-1,4-5");
    EXPECT_EQ(kernel_cpus(site, {6}), "3");
    EXPECT_EQ(kernel_cpus(site, {0, 8}), "");
    // slurm.conf counts cores: each is two CPUs of the kernel.
    site.node.cpus = 4;
    EXPECT_EQ(kernel_cpus(site, {0, 1}), "0-1,4-5");
    EXPECT_EQ(kernel_cpus(site, {3}), "3,7");
    EXPECT_EQ(kernel_cpus(site, {4}), "");
    // slurm.conf says that there are more than there are.
    site.node.cpus = 9;
    EXPECT_EQ(kernel_cpus(site, {0}), "");
}

// The share, as AllowedRAMSpace says, but neither above MaxRAMPercent of the node nor below
// MinRAMSpace.
TEST(Confinement, MemoryStaysBetweenItsBounds) {
    Site site;
    site.cgroups = true;
    site.hardware.memory_mb = 1000;
    CgroupConfig& demand = site.config.cgroup;
    demand.constrain_ram_space = demand.constrain_swap_space = true;
    demand.allowed_ram_space = 110;
    demand.max_ram_percent = 50;
    demand.min_ram_space = 30;
    demand.allowed_swap_space = 20;
    demand.max_swap_percent = 60;
    auto limits = [&](std::uint64_t megabytes) {
        wire::NodeShare share;
        share.set_memory(megabytes);
        const wire::Confinement limits = confinement_of(site, share, megabytes, true);
        EXPECT_EQ(limits.job_memory(), limits.step_memory());
        EXPECT_EQ(limits.job_swap(), limits.swap());
        return std::pair(limits.step_memory() >> 20, limits.swap() >> 20);
    };
    EXPECT_EQ(limits(200), std::pair(220ul, 40ul));
    EXPECT_EQ(limits(800), std::pair(500ul, 100ul));  // together 600: MaxSwapPercent
    EXPECT_EQ(limits(10), std::pair(30ul, 2ul));
    EXPECT_EQ(limits(0), std::pair(500ul, 100ul));  // memory is not counted: all that one may have
    site.node.real_memory = 500;
    EXPECT_EQ(limits(800), std::pair(250ul, 50ul));
    // Swap alone: memory and swap together have the limit of both.
    demand.constrain_ram_space = false;
    demand.max_ram_percent = demand.max_swap_percent = 100;
    EXPECT_EQ(limits(200), std::pair(240ul, 0ul));
}

TEST(Confinement, RulesOfMemoryComeFromTheFiles) {
    Site site;
    site.cgroups = true;
    wire::NodeShare share;
    share.set_memory(100);
    site.config.cgroup.memory_swappiness = 7;
    site.config.cgroup.constrain_ram_space = true;
    EXPECT_FALSE(confinement_of(site, share, 100, true).has_swappiness());
    site.config.cgroup.constrain_swap_space = true;
    EXPECT_EQ(confinement_of(site, share, 100, true).swappiness(), 7u);
    EXPECT_FALSE(confinement_of(site, share, 100, true).kill_as_one());
    site.config.task_plugin.oom_kill_step = true;
    EXPECT_TRUE(confinement_of(site, share, 100, true).kill_as_one());
}

TEST(ControllerLink, PausesDifferBetweenNodes) {
    using std::chrono::milliseconds;
    EXPECT_EQ(with_jitter(milliseconds{5000}, 0), milliseconds{2500});
    EXPECT_EQ(with_jitter(milliseconds{5000}, 2500), milliseconds{5000});
    EXPECT_EQ(with_jitter(milliseconds{5000}, 2501), milliseconds{2500});
    EXPECT_EQ(with_jitter(milliseconds{1}, 7), milliseconds{1});
}

class CheckLaunch : public testing::Test {
protected:
    // A step of three tasks: n1 has two of them, n2 one.
    CheckLaunch() {
        for (const auto& [name, tasks] : {std::pair{"n1", 2u}, std::pair{"n2", 1u}}) {
            wire::NodeShare& share = *credential_.add_nodes();
            share.set_name(name);
            share.set_tasks(tasks);
        }
        launch_.set_node("n1");
        launch_.set_total_tasks(3);
        name_tasks({0, 2});
    }
    void name_tasks(std::initializer_list<std::uint32_t> ids) {
        launch_.clear_task_ids();
        for (std::uint32_t id : ids) launch_.add_task_ids(id);
    }
    bool is_accepted(const char* node = "n1") {
        Result<void> result = check_launch(launch_, credential_, node);
        EXPECT_TRUE(result || result.error().code == ErrorCode::CredentialInvalid);
        return result.has_value();
    }
    wire::LaunchCredential credential_;
    wire::LaunchTasks launch_;
};

TEST_F(CheckLaunch, WhatWasSignedIsAccepted) {
    EXPECT_TRUE(is_accepted());
    launch_.set_node("n2");
    launch_.set_node_rank(1);
    name_tasks({2});
    EXPECT_TRUE(is_accepted("n2"));
}

TEST_F(CheckLaunch, OtherTasksThanWereSignedAreRefused) {
    for (auto ids : {std::initializer_list<std::uint32_t>{0}, {0, 1, 2}, {0, 3}, {1, 1}, {2, 0}}) {
        name_tasks(ids);
        EXPECT_FALSE(is_accepted());
    }
    name_tasks({0, 1});
    EXPECT_TRUE(is_accepted());
    launch_.set_total_tasks(4);
    EXPECT_FALSE(is_accepted());
}

TEST_F(CheckLaunch, ALaunchForAnotherNodeIsRefused) {
    EXPECT_FALSE(is_accepted("n2"));
    launch_.set_node_rank(1);
    EXPECT_FALSE(is_accepted());
    launch_.set_node_rank(2);
    EXPECT_FALSE(is_accepted());
}

TEST_F(CheckLaunch, TheCredentialOfABatchScriptStartsNoTasks) {
    credential_.mutable_run()->set_step(kBatchStep.value);
    EXPECT_FALSE(is_accepted());
}

TEST(SlurmdOptions, ErrorNamesTheOption) {
    const char* bad[] = {"slurmd", "--nosuch"};
    Result<SlurmdOptions> options = parse_slurmd_options(2, const_cast<char**>(bad));
    ASSERT_FALSE(options);
    EXPECT_NE(options.error().detail.find("--nosuch"), std::string::npos);
    const char* good[] = {"slurmd", "-D", "-N", "n1", "-vv", "-f", "/etc/x.conf"};
    options = parse_slurmd_options(7, const_cast<char**>(good));
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->foreground);
    EXPECT_EQ(options->node_name, "n1");
    EXPECT_EQ(options->verbose, 2);
}

}  // namespace
}  // namespace sluice
