// A step's tasks and the connection to its srun, with real processes and an srun that misbehaves.
#include "stepd/tasks.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>

#include "model/errors.h"
#include "os/files.h"

namespace sluice {
namespace {

class StepTasks : public testing::Test {
protected:
    void SetUp() override {
        wire::LaunchTasks& tasks = *order_.mutable_tasks();
        tasks.mutable_spec()->set_work_dir("/");
        tasks.mutable_spec()->set_environment(std::string("PATH=/usr/bin:/bin\0", 19));
        int pair[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        ours_.reset(pair[0]);
        theirs_.reset(pair[1]);
        user_.uid = geteuid();
        user_.gid = getegid();
        user_.shell = "/bin/sh";
    }
    void TearDown() override {
        for (pid_t pid : container_->pids()) kill(pid, SIGKILL);
        while (wait(nullptr) > 0) {
        }
    }

    void start(const std::vector<std::string>& commands) {
        container_.emplace(Container::create(order_).value());
        wire::LaunchTasks& tasks = *order_.mutable_tasks();
        for (std::uint32_t id = 0; id < commands.size(); ++id) tasks.add_task_ids(id);
        for (const char* word : {"sh", "-c"}) tasks.mutable_spec()->add_argv(word);
        std::string script;
        for (std::size_t i = 0; i < commands.size(); ++i) {
            script += "[ $SLURM_PROCID = " + std::to_string(i) + " ] && { " + commands[i] + "; }\n";
        }
        tasks.mutable_spec()->add_argv(script);
        work_.emplace(
            loop_, order_, std::move(theirs_), [this](bool lost) { ended_.push_back(lost); },
            [](int, bool) {},
            [this](const Error& error) {
                failure_ = error.detail;
                failure_code_ = error.code;
            });
        work_->prepare(user_, *container_);
        loop_.on_signals({SIGCHLD}, [this](int) {
            int status = 0;
            for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) work_->on_exit(pid, status);
        });
        const Result<void> started = work_->start("");
        ASSERT_TRUE(started) << started.error().detail;
    }

    wire::StepOrder order_;
    User user_;
    EventLoop loop_;
    Fd ours_, theirs_;
    std::optional<Container> container_;
    std::optional<TaskWork> work_;
    std::vector<bool> ended_;  // was srun lost, each time the step was told to end
    std::string failure_;
    ErrorCode failure_code_ = ErrorCode::None;
};

TEST_F(StepTasks, ADeathBySignalIsABadExit) {
    order_.mutable_tasks()->mutable_spec()->set_kill_on_bad_exit(true);
    start({"kill -9 $$", "exec sleep 1000"});
    while (ended_.empty()) loop_.run_once();
    EXPECT_EQ(ended_, std::vector<bool>{false});
    EXPECT_EQ(work_->exit().signal(), 9u);
}

TEST_F(StepTasks, AGoodExitEndsNobodyElse) {
    order_.mutable_tasks()->mutable_spec()->set_kill_on_bad_exit(true);
    start({"exit 0", "exit 0"});
    while (!work_->finished()) loop_.run_once();
    EXPECT_TRUE(ended_.empty());
}

TEST_F(StepTasks, AnSrunThatSendsNoMessagesIsCutOff) {
    start({"exec sleep 1000"});
    const std::string frame(8, '\xff');  // a length of 4 GiB
    ASSERT_EQ(write(ours_.get(), frame.data(), frame.size()), 8);
    while (ended_.empty()) loop_.run_once();
    EXPECT_EQ(ended_, std::vector<bool>{true});
    // The task's process, which has just been forked, may have its copy for another moment.
    while (send(ours_.get(), "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 || errno == EAGAIN) {
    }
    EXPECT_EQ(errno, EPIPE);
}

// Two tasks that read nothing: what is kept for them is a few hundred kilobytes each.
TEST_F(StepTasks, InputIsTakenOnlyAsFastAsTheTasksRead) {
    start({"exec sleep 1000", "exec sleep 1000"});
    wire::StepInput input;
    input.mutable_input()->set_task(0xffffffff);
    input.mutable_input()->set_data(std::string(64u << 10, 'x'));
    std::string frame;
    append_frame(frame, input);
    constexpr std::size_t kPlenty = 64u << 20;
    std::size_t taken = 0, idle = 0;
    while (taken < kPlenty && idle < 20) {
        const ssize_t count = send(ours_.get(), frame.data() + taken % frame.size(),
                                   frame.size() - taken % frame.size(), MSG_DONTWAIT);
        if (count > 0) taken += static_cast<std::size_t>(count);
        idle = count > 0 ? 0 : idle + 1;
        loop_.after(std::chrono::milliseconds{1}, [] {});
        loop_.run_once();
    }
    EXPECT_GT(taken, 256u << 10);
    EXPECT_LT(taken, 4u << 20);
    EXPECT_TRUE(ended_.empty());
}

TEST_F(StepTasks, TasksThatShareAFileDoNotEmptyItAfterOneAnother) {
    const std::string file = testing::TempDir() + "shared_output.n1";
    ASSERT_TRUE(write_file_atomically(file, "old\n"));
    order_.set_node("n1");
    order_.mutable_tasks()->mutable_spec()->set_std_out(testing::TempDir() + "shared_output.%N");
    start({"echo a", "echo b", "echo c", "echo d"});
    while (!work_->finished()) loop_.run_once();
    EXPECT_EQ(read_file(file).value().size(), 8u) << read_file(file).value();
    EXPECT_EQ(failure_, "");
}

// As when it cannot join its cgroup: the node is the cause, not the program.
TEST_F(StepTasks, ATaskThatCannotBeConfinedFailsTheStepForTheNode) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: other users do not change their groups";
    user_.groups.assign(70'000, 0);  // more than Linux takes
    start({"true"});
    while (failure_.empty()) loop_.run_once();
    EXPECT_EQ(failure_, "setgroups: Invalid argument");
    EXPECT_EQ(failure_code_, ErrorCode::NodeUnable);
    while (!work_->finished()) loop_.run_once();
}

TEST_F(StepTasks, AFileThatCannotBeOpenedFailsTheStep) {
    order_.mutable_tasks()->mutable_spec()->set_std_out("/dev/null/below");
    start({"true", "true"});
    while (failure_.empty()) loop_.run_once();
    EXPECT_EQ(failure_, "could not open stdout file /dev/null/below: Not a directory");
    while (!work_->finished()) loop_.run_once();  // the second task is not started
}

}  // namespace
}  // namespace sluice
