// What slurmd does with orders about steps that are not running yet.
#include "agent/jobs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>

#include "agent/launch_check.h"
#include "agent/scratch_quota.h"
#include "auth/sha256.h"
#include "model/errors.h"
#include "os/files.h"
#include "os/user.h"
#include "protocol/convert.h"

namespace sluice {
namespace {

// A supervisor that ends at once, but starts programs as stepd/enter.h says.
constexpr std::string_view kEnter = R"(#!/bin/sh
if [ "$1" = enter ]; then
    while [ "$1" != -- ]; do shift; done
    shift
    exec "$@"
fi
)";

class JobsHere : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "jobsXXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
        signer_.emplace(CredentialSigner::load_or_create(directory_ + "/key").value());
        site_ = std::make_shared<Site>();
        site_->node.name = "n1";
        site_->spool = directory_;
        site_->scratch = directory_ + "/scratch";
        site_->stepd_path = directory_ + "/stepd";
        ASSERT_TRUE(write_file_atomically(site_->stepd_path, kEnter, {.mode = 0755}));
        gpus_.emplace(loop_, site_, GpuWatch::Handlers{});
        jobs_.emplace(loop_, site_, hooks_, *gpus_,
                      Jobs::ToController{[this](wire::AgentReport report) {
                          reports_.push_back(std::move(report));
                      }});
        ASSERT_TRUE(jobs_->trust(signer_->public_key()));
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    // srun comes with its step 12.0 (or another); the answer says why it was refused, empty: it was
    // not.
    void launch(Seconds from_now = Seconds{0}, std::uint32_t step = 0) {
        launch_as(getuid(), {0}, from_now, step);
    }

    void launch_as(uid_t caller, const std::vector<std::uint32_t>& tasks,
                   Seconds from_now = Seconds{0}, std::uint32_t step = 0, uid_t owner = getuid()) {
        wire::LaunchCredential credential;
        credential.mutable_run()->set_job(12);
        credential.mutable_run()->set_step(step);
        credential.set_user(owner);
        wire::NodeShare& share = *credential.add_nodes();
        share.set_name("n1");
        share.set_tasks(1);
        credential.mutable_job()->set_partition("gpu");
        wire::LaunchTasks launch;
        launch.set_node("n1");
        launch.set_total_tasks(1);
        launch.mutable_job()->set_partition("what the user says");
        launch.mutable_task_ids()->Add(tasks.begin(), tasks.end());
        const Time issued = from_unix(std::time(nullptr)) + from_now;
        launch.set_credential(signer_->sign(credential, issued, Seconds{60}));
        refusal_.clear();
        jobs_->launch_tasks(launch, {{UserId{caller}, GroupId{getgid()}},
                                     Fd(dup(0)),
                                     [this](Fd, const Error& error) { refusal_ = error.detail; }});
    }

    wire::LaunchBatch signed_batch(wire::LaunchCredential credential) {
        JobRequest request;
        request.script_hash = blob_name("script");
        request.environment_hash = blob_name("environment");
        wire::LaunchBatch batch;
        batch.mutable_job()->set_job(credential.run().job());
        batch.mutable_job()->set_request(encode(request));
        batch.set_script("script");
        batch.set_environment("environment");
        credential.mutable_job()->set_request(sha256(batch.job().request()));
        batch.set_credential(signer_->sign(credential, from_unix(std::time(nullptr)), Seconds{60}));
        return batch;
    }

    wire::LaunchBatch batch_launch(std::uint32_t job) {
        wire::LaunchCredential credential;
        credential.mutable_run()->set_job(job);
        credential.mutable_run()->set_step(kBatchStep.value);
        credential.set_user(getuid());
        credential.add_nodes()->set_name("n1");
        return signed_batch(credential);
    }

    // The supervisor's program: a shell script. How often it was started is in the file "started".
    void supervise_with(const std::string& script) {
        site_->stepd_path = directory_ + "/supervisor";
        ASSERT_TRUE(write_file_atomically(
            site_->stepd_path, fmt::format("{}echo >>{}/started\n{}\n", kEnter, directory_, script),
            {.mode = 0755}));
    }
    std::size_t times_started() const {
        const Result<std::string> lines = read_file(directory_ + "/started");
        return lines ? lines->size() : 0;
    }

    void end_job() {
        wire::Terminate order;
        order.mutable_run()->set_job(12);
        order.mutable_run()->set_step(kBatchStep.value);
        jobs_->terminate(order);
    }

    void cancel_step() {
        wire::Terminate order;
        order.mutable_run()->set_job(12);
        order.mutable_run()->set_step(0);
        order.set_only_step(true);
        jobs_->terminate(order);
    }

    void finish_hook() {
        int status = 0;
        pid_t pid = waitpid(-1, &status, 0);
        ASSERT_GT(pid, 0);
        hooks_.on_exit(pid, status);
    }

    std::string directory_;
    std::optional<CredentialSigner> signer_;
    EventLoop loop_;
    Hooks hooks_{loop_};
    std::shared_ptr<Site> site_;
    std::vector<wire::AgentReport> reports_;
    std::optional<GpuWatch> gpus_;
    std::optional<Jobs> jobs_;
    std::string refusal_;
};

TEST_F(JobsHere, StepCancelledBeforeItsSrunCameNeverStarts) {
    cancel_step();
    ASSERT_EQ(reports_.size(), 1u);
    EXPECT_TRUE(reports_[0].has_step_ended());
    jobs_->on_acknowledged(reports_[0]);  // the controller has forgotten it, srun has not
    launch();
    EXPECT_EQ(refusal_, "step 12.0 was cancelled before it started");
    EXPECT_TRUE(jobs_->known().empty());
}

TEST_F(JobsHere, StepCancelledDuringThePrologNeverStarts) {
    site_->config.prolog = "/bin/true";
    launch();
    cancel_step();
    finish_hook();
    EXPECT_EQ(refusal_, "the step was cancelled before it started");
    ASSERT_EQ(reports_.size(), 2u);
    EXPECT_TRUE(reports_[0].has_launch_result());  // it is here, though the prolog comes first
    EXPECT_TRUE(reports_[1].has_step_ended());
}

TEST_F(JobsHere, AStepsFailedPrologIsReported) {
    site_->config.prolog = "/bin/false";
    launch();
    finish_hook();
    ASSERT_EQ(reports_.size(), 3u);
    EXPECT_FALSE(reports_[0].launch_result().has_error());
    EXPECT_EQ(reports_[1].launch_result().error().code(),
              static_cast<std::uint32_t>(ErrorCode::PrologFailed));
    EXPECT_TRUE(reports_[2].has_step_ended());
}

TEST_F(JobsHere, TheProgramsKnowTheJobOfAStepFromTheController) {
    site_->config.prolog = directory_ + "/prolog";
    ASSERT_TRUE(write_file_atomically(site_->config.prolog,
                                      fmt::format("#!/bin/sh\nenv >{}/env\nexit 1\n", directory_),
                                      {.mode = 0755}));
    launch();
    finish_hook();
    const std::string told = read_file(directory_ + "/env").value();
    EXPECT_NE(told.find("SLURM_JOB_PARTITION=gpu\n"), std::string::npos) << told;
}

TEST_F(JobsHere, TheProgramsKnowTheBatchJob) {
    site_->config.prolog = directory_ + "/prolog";
    ASSERT_TRUE(write_file_atomically(site_->config.prolog,
                                      fmt::format("#!/bin/sh\nenv >{}/env\nexit 1\n", directory_),
                                      {.mode = 0755}));
    wire::LaunchCredential credential;
    credential.mutable_run()->set_job(13);
    credential.mutable_run()->set_step(kBatchStep.value);
    credential.set_user(getuid());
    wire::NodeShare& share = *credential.add_nodes();
    share.set_name("n1");
    share.add_gres()->set_name("gpu");
    share.mutable_gres(0)->add_indexes(3);
    share.mutable_gres(0)->add_indexes(1);
    wire::LaunchBatch batch = signed_batch(credential);
    batch.mutable_job()->set_array_job(12);
    batch.mutable_job()->set_array_task(5);
    batch.mutable_job()->set_partition("gpu");
    batch.mutable_job()->set_node_names("n[1-2]");
    site_->config.epilog = "/bin/true";
    jobs_->launch_batch(batch);
    finish_hook();
    EXPECT_TRUE(reports_.empty());  // the Epilog comes first
    finish_hook();
    const std::string told = read_file(directory_ + "/env").value();
    for (const char* line :
         {"SLURM_JOB_ID=13\n", "SLURM_ARRAY_JOB_ID=12\n", "SLURM_ARRAY_TASK_ID=5\n",
          "SLURM_JOB_PARTITION=gpu\n", "SLURM_JOB_NODELIST=n[1-2]\n", "SLURM_JOB_GPUS=1,3\n",
          "CUDA_VISIBLE_DEVICES=1,3\n", "SLURMD_NODENAME=n1\n"}) {
        EXPECT_NE(told.find(line), std::string::npos) << line;
    }
    ASSERT_EQ(reports_.size(), 1u);
    EXPECT_EQ(reports_[0].job_ended().launch_error().code(),
              static_cast<std::uint32_t>(ErrorCode::PrologFailed));
    EXPECT_EQ(reports_[0].job_ended().exit().signal(), 53u);  // "0:53"
}

TEST_F(JobsHere, AJobThatLeftTheNodeMayComeBackWithANewCredential) {
    wire::Terminate order;
    order.mutable_run()->set_job(12);
    order.mutable_run()->set_step(kBatchStep.value);
    jobs_->terminate(order);
    launch(Seconds{-5});
    EXPECT_EQ(refusal_, "job 12 has ended on this node");
    refusal_.clear();
    site_->config.prolog = "/bin/true";
    launch(Seconds{5});
    EXPECT_EQ(refusal_, "");
    EXPECT_EQ(jobs_->known().size(), 1u);
    cancel_step();
    finish_hook();
}

TEST_F(JobsHere, AFailedEpilogIsReported) {
    site_->config.prolog = "/bin/true";
    site_->config.epilog = "/bin/false";
    launch();
    wire::Terminate order;
    order.mutable_run()->set_job(12);
    order.mutable_run()->set_step(kBatchStep.value);
    jobs_->terminate(order);
    finish_hook();  // the job was ended meanwhile, so its step does not start
    finish_hook();
    ASSERT_FALSE(reports_.empty());
    EXPECT_TRUE(reports_.back().has_node_cleaned());
    EXPECT_TRUE(reports_.back().node_cleaned().epilog_failed());
}

TEST_F(JobsHere, TheEpilogRunsOnceAlsoWhereNothingOfTheJobRan) {
    site_->config.epilog = directory_ + "/epilog";
    ASSERT_TRUE(write_file_atomically(site_->config.epilog,
                                      fmt::format("#!/bin/sh\nenv >>{}/env\n", directory_),
                                      {.mode = 0755}));
    wire::Terminate order;
    order.mutable_run()->set_job(12);
    order.mutable_run()->set_step(kBatchStep.value);
    order.mutable_job()->set_user(getuid());
    order.mutable_job()->set_partition("gpu");
    order.mutable_job()->set_node_names("n[0-1]");
    wire::NodeShare& share = *order.mutable_job()->add_nodes();
    share.set_name("n1");
    share.add_gres()->set_name("gpu");
    share.mutable_gres(0)->add_indexes(2);
    jobs_->terminate(order);
    jobs_->terminate(order);
    launch();
    EXPECT_EQ(refusal_, "job 12 has ended on this node");
    EXPECT_TRUE(reports_.empty());  // the node is not clean before the epilog is done
    finish_hook();
    ASSERT_EQ(reports_.size(), 1u);
    EXPECT_TRUE(reports_[0].has_node_cleaned());
    jobs_->terminate(order);  // the controller had not heard of it yet
    ASSERT_EQ(reports_.size(), 2u);
    EXPECT_TRUE(reports_[1].has_node_cleaned());
    const std::string told = read_file(directory_ + "/env").value();
    for (const char* line :
         {"SLURM_JOB_ID=12\n", "SLURM_JOB_PARTITION=gpu\n", "SLURM_JOB_GPUS=2\n",
          "SLURM_JOB_NODELIST=n[0-1]\n", "SLURM_SCRIPT_CONTEXT=epilog_slurmd\n"}) {
        const std::size_t first = told.find(line);
        EXPECT_NE(first, std::string::npos) << line;
        EXPECT_EQ(told.find(line, first + 1), std::string::npos) << line;
    }
}

// It never answers here: then each of the others asks for itself.
TEST_F(JobsHere, OneSupervisorAsksWhoTheUserIsAndTheOthersWait) {
    const std::string asked = directory_ + "/asked", over = directory_ + "/over";
    site_->stepd_path = directory_ + "/supervisor";
    ASSERT_TRUE(write_file_atomically(
        site_->stepd_path,
        fmt::format("#!/bin/sh\necho >>{}\nwhile [ ! -e {} ]; do sleep 0.01; done\n", asked, over),
        {.mode = 0755}));
    for (std::uint32_t step : {0u, 1u, 2u}) launch(Seconds{0}, step);
    const auto count = [&] {
        const Result<std::string> lines = read_file(asked);
        return lines ? lines->size() : 0;
    };
    const auto has_ended = [](const wire::AgentReport& report) { return report.has_step_ended(); };
    while (count() == 0) usleep(1000);
    EXPECT_EQ(jobs_->known().size(), 3u);
    EXPECT_EQ(count(), 1u);
    ASSERT_TRUE(write_file_atomically(over, ""));
    while (std::count_if(reports_.begin(), reports_.end(), has_ended) < 3) loop_.run_once();
    EXPECT_EQ(count(), 3u);
    while (wait(nullptr) > 0) {
    }
}

TEST_F(JobsHere, AStepIsLaunchedByItsOwnerOrRootAlone) {
    supervise_with("exit 0");
    const uid_t owner = getuid(), stranger = owner + 1;
    launch_as(stranger, {0});
    EXPECT_EQ(refusal_, fmt::format("the step belongs to uid {}, you are uid {}", owner, stranger));
    EXPECT_TRUE(jobs_->known().empty());
    if (owner != 0) GTEST_SKIP() << "the rest needs root: jobs of another user";
    launch_as(stranger, {0}, Seconds{0}, 0, stranger);
    EXPECT_EQ(refusal_, "");
    launch_as(0, {0}, Seconds{0}, 1, stranger);
    EXPECT_EQ(refusal_, "");
}

// The connection comes from sattach directly: the controller has been asked by the user, not by us.
TEST_F(JobsHere, AStepIsSeenByItsOwnerAndAdministratorsAlone) {
    supervise_with("exec sleep 1000");
    launch();
    ASSERT_EQ(refusal_, "");
    wire::AttachStep order;
    order.set_job(12);
    const auto attach_as = [&](uid_t user) {
        std::optional<ErrorCode> refused;
        jobs_->attach(order, {{UserId{user}, GroupId{getgid()}},
                              Fd(dup(0)),
                              [&](Fd, const Error& error) { refused = error.code; }});
        return refused;
    };
    site_->slurm_user = getuid() + 2;
    EXPECT_EQ(attach_as(getuid() + 1), ErrorCode::AccessDenied);
    // It goes on to the supervisor, which does not listen here.
    for (const uid_t user : {getuid(), uid_t{0}, getuid() + 2})
        EXPECT_EQ(attach_as(user), ErrorCode::LaunchFailed);
    std::optional<Error> answer;
    wire::AskUsage question;
    question.set_job(12);
    question.set_all_steps(true);
    jobs_->ask_usage(question, {UserId{getuid() + 1}, GroupId{getgid()}},
                     [&](const Result<wire::StepUsages>& usages) {
                         if (!usages) answer = usages.error();
                     });
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->code, ErrorCode::AccessDenied);
    for (const pid_t pid : jobs_->supervisors_of({JobId{12}, 0})) kill(pid, SIGKILL);
    while (wait(nullptr) > 0) {
    }
}

TEST_F(JobsHere, AStepHasNoMoreTasksThanTheControllerSigned) {
    supervise_with("exit 0");
    launch_as(getuid(), {0, 1});
    EXPECT_EQ(refusal_, "the launch names 2 tasks for node n1, the credential 1");
    EXPECT_TRUE(jobs_->known().empty());
    launch_as(getuid(), {0});
    EXPECT_EQ(refusal_, "");
    EXPECT_EQ(jobs_->known().size(), 1u);
}

TEST_F(JobsHere, AnSrunThatComesAfterTheEndOfTheJobIsRefused) {
    end_job();
    ASSERT_EQ(reports_.size(), 1u);
    EXPECT_TRUE(reports_[0].has_node_cleaned());
    jobs_->on_acknowledged(reports_[0]);
    launch(Seconds{-1});
    EXPECT_EQ(refusal_, "job 12 has ended on this node");
    launch(Seconds{0});
    EXPECT_EQ(refusal_, "job 12 has ended on this node");
    launch(Seconds{2});  // the job was resized: it has got the node back
    EXPECT_EQ(refusal_, "");
}

// Also where the credential is genuine: the connection of the controller may have been changed on
// its way.
TEST_F(JobsHere, ABatchJobIsTheOneThatWasSigned) {
    supervise_with("exit 0");
    using Change = void (*)(wire::LaunchBatch&);
    const std::pair<Change, const char*> changes[] = {
        {[](wire::LaunchBatch& batch) { batch.set_script("another"); }, "the script"},
        {[](wire::LaunchBatch& batch) { batch.set_environment("another"); }, "the environment"},
        {[](wire::LaunchBatch& batch) {
             JobRequest request = decode_request(batch.job().request()).value();
             request.work_dir = "/another";
             batch.mutable_job()->set_request(encode(request));
         },
         "the request"},
        {[](wire::LaunchBatch& batch) { batch.mutable_job()->clear_request(); }, "the request"}};
    std::uint32_t job = 20;
    for (const auto& [change, what] : changes) {
        wire::LaunchBatch batch = batch_launch(++job);
        change(batch);
        reports_.clear();
        jobs_->launch_batch(batch);
        ASSERT_EQ(reports_.size(), 1u) << what;
        const wire::Error& error = reports_[0].job_ended().launch_error();
        EXPECT_EQ(error.code(), static_cast<std::uint32_t>(ErrorCode::CredentialInvalid)) << what;
        EXPECT_EQ(error.detail().find(what), 0u) << error.detail();
    }
    EXPECT_EQ(times_started(), 0u);
    reports_.clear();
    jobs_->launch_batch(batch_launch(++job));
    while (reports_.empty() || !reports_.back().has_job_ended()) loop_.run_once();
    EXPECT_EQ(times_started(), 1u);
    while (wait(nullptr) > 0) {
    }
}

// Otherwise the controller would take the run for lost, and run the job again.
TEST_F(JobsHere, ARunIsKnownUntilTheControllerHasItsEnd) {
    supervise_with("exit 0");
    const wire::LaunchBatch order = batch_launch(12);
    jobs_->launch_batch(order);
    EXPECT_EQ(jobs_->known().size(), 1u);
    const auto end = [&]() -> const wire::AgentReport* {
        for (const auto& report : reports_) {
            if (report.has_job_ended()) return &report;
        }
        return nullptr;
    };
    while (!end()) loop_.run_once();
    ASSERT_EQ(jobs_->known().size(), 1u);
    EXPECT_EQ(jobs_->known()[0].job(), 12u);
    EXPECT_EQ(jobs_->known()[0].step(), kBatchStep.value);
    jobs_->launch_batch(order);  // repeated: the controller does not know yet
    EXPECT_EQ(jobs_->known().size(), 1u);
    EXPECT_EQ(times_started(), 1u);
    jobs_->on_acknowledged(*end());
    EXPECT_TRUE(jobs_->known().empty());
    while (wait(nullptr) > 0) {
    }
}

// What an earlier slurmd has left in the spool: a supervisor that is gone, with its end or without.
TEST_F(JobsHere, EndsInTheSpoolAreReportedAndTheirMarksStayUntilTheyAreKnown) {
    const RunKey with_end{{JobId{12}}, StepId{0}}, without_end{{JobId{12}}, StepId{1}};
    wire::StepEnd end;
    end.mutable_exit()->set_code(3);
    end.mutable_usage()->set_rss_max_kb(77);
    end.set_srun_lost(true);
    ASSERT_TRUE(make_directories(job_directory(directory_, JobId{12})));
    const std::string marks[] = {mark_path(directory_, with_end, "0123456789abcdef"),
                                 mark_path(directory_, without_end, "0123456789abcdee")};
    ASSERT_TRUE(write_file_atomically(marks[0], end.SerializeAsString()));
    ASSERT_TRUE(write_file_atomically(marks[1], ""));
    jobs_->recover();
    ASSERT_EQ(reports_.size(), 2u);
    EXPECT_EQ(reports_[0].step_ended().exit().code(), 3u);
    EXPECT_EQ(reports_[0].step_ended().usage().rss_max_kb(), 77u);
    EXPECT_TRUE(reports_[0].step_ended().srun_lost());
    EXPECT_EQ(reports_[1].step_ended().exit().signal(), 9u);
    EXPECT_EQ(jobs_->known().size(), 2u);
    for (const int i : {0, 1}) {
        EXPECT_TRUE(std::filesystem::exists(marks[i]));
        jobs_->on_acknowledged(reports_[i]);
        EXPECT_FALSE(std::filesystem::exists(marks[i]));
    }
    EXPECT_TRUE(jobs_->known().empty());
}

TEST_F(JobsHere, AHookThatTakesTooLongIsKilled) {
    site_->config.prolog = directory_ + "/prolog";
    ASSERT_TRUE(write_file_atomically(site_->config.prolog, "#!/bin/sh\n(exec sleep 1000)\n",
                                      {.mode = 0755}));
    site_->config.prolog_timeout = Seconds{1};
    loop_.on_signals({SIGCHLD}, [this](int) {
        int status = 0;
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) hooks_.on_exit(pid, status);
    });
    jobs_->launch_batch(batch_launch(12));
    while (reports_.empty()) loop_.run_once();
    EXPECT_EQ(reports_[0].job_ended().launch_error().code(),
              static_cast<std::uint32_t>(ErrorCode::PrologFailed));
}

TEST_F(JobsHere, AProgramForUnkillableStepsIsKilledInTheEnd) {
    site_->config.unkillable_step_program = directory_ + "/unkillable";
    ASSERT_TRUE(write_file_atomically(site_->config.unkillable_step_program,
                                      "#!/bin/sh\nexec sleep 1000\n", {.mode = 0755}));
    site_->config.unkillable_step_timeout = Seconds{1};
    std::optional<int> ended;
    loop_.on_signals({SIGCHLD}, [&](int) {
        int status = 0;
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
            hooks_.on_exit(pid, status);
            ended = status;
        }
    });
    hooks_.run_unkillable(*site_, {{JobId{12}, 0}, kBatchStep});
    while (!ended) loop_.run_once();
    EXPECT_TRUE(WIFSIGNALED(*ended) && WTERMSIG(*ended) == SIGKILL);
}

// Each time that is measured, not only the first time.
TEST_F(JobsHere, AJobThatUsesTooMuchScratchSpaceIsEndedWheneverThatHappens) {
    site_->config.prolog = "/bin/true";
    site_->config.scratch_quota = 1;
    SlowWork slow_work(loop_);
    ScratchQuota quota(loop_, slow_work, *jobs_, std::chrono::milliseconds{1});
    quota.replace_site(site_);
    for (const std::uint32_t job : {12u, 13u}) {
        jobs_->launch_batch(batch_launch(job));
        const std::string big = scratch_path(site_->scratch, {JobId{job}, 0}) + "/big";
        ASSERT_TRUE(write_file_atomically(big, std::string(2 << 20, 'x')));
        while (reports_.empty()) loop_.run_once();
        ASSERT_EQ(reports_.size(), 1u);
        EXPECT_EQ(reports_[0].data().run().job(), job);
        EXPECT_NE(reports_[0].data().problem().find("ScratchQuota is 1 MB"), std::string::npos);
        reports_.clear();
        ASSERT_EQ(unlink(big.c_str()), 0);  // an empty directory is removed at once
    }
    finish_hook();
    finish_hook();
}

TEST_F(JobsHere, DataIsStagedIntoOnesOwnJobsOnly) {
    site_->config.prolog = "/bin/true";
    launch();
    std::string answer;
    const auto stage = [&](std::uint32_t job, uid_t user) {
        answer.clear();
        jobs_->stage_now(
            JobId{job}, user, "/etc/passwd:own",
            [&](const std::optional<Error>& error) { answer = error ? error->detail : "staged"; });
        return answer;
    };
    EXPECT_EQ(stage(12, getuid() + 1), "you have no job 12 on this node");
    EXPECT_EQ(stage(13, getuid()), "you have no job 13 on this node");
    EXPECT_EQ(stage(12, getuid()), "sluice-stage cannot be started");  // it is not installed here
    end_job();
    EXPECT_EQ(stage(12, getuid()), "you have no job 12 on this node");
    finish_hook();
}

// Also where the one that fails is not the last one.
TEST_F(JobsHere, AfterAProgramThatFailsNoOtherOneRuns) {
    JobContainerLine& container = site_->container.emplace();
    container.init_script = directory_ + "/init";
    site_->config.prolog = directory_ + "/prolog";
    const std::string ran = directory_ + "/ran";
    const auto write = [&](const std::string& path, int code) {
        const std::string script = fmt::format("#!/bin/sh\necho >>{}\nexit {}\n", ran, code);
        ASSERT_TRUE(write_file_atomically(path, script, {.mode = 0755}));
    };
    write(container.init_script, 3);
    write(site_->config.prolog, 0);
    std::optional<int> ended;
    hooks_.run(*site_, true, {.key = {JobId{12}}}, [&](int status) { ended = status; });
    finish_hook();
    ASSERT_TRUE(ended);
    EXPECT_EQ(WEXITSTATUS(*ended), 3);
    EXPECT_EQ(*read_file(ran), "\n");
    write(container.init_script, 0);
    ended.reset();
    hooks_.run(*site_, true, {.key = {JobId{13}}}, [&](int status) { ended = status; });
    finish_hook();
    EXPECT_FALSE(ended);
    finish_hook();
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(*read_file(ran), "\n\n\n");
}

TEST(Hooks, WhatWasLearnedComesBack) {
    HookJob job{.gpus = {0, 12}, .variables = {"SLURM_JOB_PARTITION=gpu", "SLURM_JOB_QOS=a\nb"}};
    HookJob back;
    recall(back, print_learned(job));
    EXPECT_EQ(back.gpus, job.gpus);
    EXPECT_EQ(back.variables, job.variables);
}

}  // namespace
}  // namespace sluice
