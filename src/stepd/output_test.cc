// Files that a task opens itself: which task truncates a shared file, and what is reported.
#include "stepd/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "model/errors.h"
#include "os/files.h"

namespace sluice {
namespace {

wire::LaunchTasks tasks_of(std::uint32_t node_rank, std::vector<std::uint32_t> ids) {
    wire::LaunchTasks tasks;
    tasks.set_node_rank(node_rank);
    tasks.mutable_task_ids()->Add(ids.begin(), ids.end());
    return tasks;
}

TEST(SharedOutput, NoNodeEmptiesAFileThatOthersWriteTo) {
    const wire::LaunchTasks first = tasks_of(0, {0, 1}), second = tasks_of(1, {2, 3});
    for (const char* name : {"out", "out.%j", "out.%s", "\\out.%t"}) {
        EXPECT_FALSE(may_empty(first, 0, name)) << name;
        EXPECT_FALSE(may_empty(first, 1, name)) << name;
        EXPECT_FALSE(may_empty(second, 2, name)) << name;
    }
}

TEST(SharedOutput, AFileOfANodeIsEmptiedByTheFirstTaskThere) {
    const wire::LaunchTasks second = tasks_of(1, {2, 3});
    for (const char* name : {"out.%N", "out.%n"}) {
        EXPECT_TRUE(may_empty(second, 2, name)) << name;
        EXPECT_FALSE(may_empty(second, 3, name)) << name;
    }
    EXPECT_TRUE(may_empty(second, 3, "out.%t"));
}

class OpenedByTheTask : public testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/output_test.XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        directory_ = name;
    }
    void TearDown() override { remove_tree(directory_); }

    void start(FileDemands demands, std::vector<int> cgroups = {}) {
        ProcessSpec spec;
        spec.cgroups = std::move(cgroups);
        spec.program = "/bin/sh";
        spec.argv = {"sh", "-c", "echo out; echo err >&2; exit 3"};
        opening_ = FileOpening::prepare(loop_, spec, std::move(demands), [this](Result<Fd> err) {
                       answer_.emplace(std::move(err));
                   }).value();
        pid_ = spawn(spec).value();
        opening_->started();
    }
    OpenDemand output(const std::string& name) const {
        return {"stdout", directory_ + "/" + name, directory_};
    }
    int status() const {
        int status = 0;
        waitpid(pid_, &status, 0);
        return status;
    }

    std::string directory_;
    EventLoop loop_;
    std::unique_ptr<FileOpening> opening_;
    std::optional<Result<Fd>> answer_;
    pid_t pid_ = -1;
};

TEST_F(OpenedByTheTask, TheSupervisorGetsItsStandardError) {
    start({.out = output("file"), .err_is_out = true});
    while (!answer_) loop_.run_once();
    EXPECT_EQ(WEXITSTATUS(status()), 3);
    ASSERT_TRUE(*answer_);
    write_all((*answer_)->get(), "said\n");
    EXPECT_EQ(read_file(directory_ + "/file").value(), "out\nerr\nsaid\n");
}

TEST_F(OpenedByTheTask, WhyItCouldNotNamesTheFile) {
    ASSERT_TRUE(write_file_atomically(directory_ + "/file", ""));
    start({.out = output("file/below")});
    EXPECT_EQ(WEXITSTATUS(status()), 1);
    opening_->take_answer();  // as its end is handled, before the loop comes to it
    ASSERT_TRUE(answer_ && !*answer_);
    EXPECT_EQ(answer_->error().code, ErrorCode::LaunchFailed);
    EXPECT_NE(answer_->error().detail.find("could not open stdout file " + directory_),
              std::string::npos)
        << answer_->error().detail;
}

// What fails before the user's files is not the job's fault.
TEST_F(OpenedByTheTask, ACgroupThatCannotBeJoinedIsAnErrorOfTheNode) {
    const Fd no_cgroup(open("/dev/full", O_WRONLY | O_CLOEXEC));
    start({.out = output("file")}, {no_cgroup.get()});
    status();
    opening_->take_answer();
    ASSERT_TRUE(answer_ && !*answer_);
    EXPECT_EQ(answer_->error().code, ErrorCode::NodeUnable);
    EXPECT_EQ(answer_->error().detail, "cannot join the job's cgroup: No space left on device");
}

TEST_F(OpenedByTheTask, AFifoWithoutAReaderHoldsNobodyUp) {
    const std::string fifo = directory_ + "/fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0666), 0);
    start({.out = output("fifo")});
    opening_->take_answer();
    EXPECT_FALSE(answer_);
    const Fd reader(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    while (!answer_) loop_.run_once();
    EXPECT_TRUE(*answer_);
    EXPECT_EQ(WEXITSTATUS(status()), 3);
}

TEST_F(OpenedByTheTask, WhatIsKilledBeforeSaysNothing) {
    const std::string fifo = directory_ + "/fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0666), 0);
    start({.out = output("fifo")});
    kill(pid_, SIGKILL);
    EXPECT_EQ(WTERMSIG(status()), SIGKILL);
    opening_->take_answer();
    EXPECT_FALSE(answer_);
}

}  // namespace
}  // namespace sluice
