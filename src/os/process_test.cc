// Processes that block before their program runs, their limits, and cgroups with cgroups inside.
#include "os/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "os/cgroup_kill.h"
#include "os/files.h"

namespace sluice {
namespace {

class Spawned : public testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/process_test.XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        directory_ = name;
        chmod(name, 0755);
    }
    void TearDown() override { remove_tree(directory_); }

    ProcessSpec shell(const std::string& command) const {
        ProcessSpec spec;
        spec.program = "/bin/sh";
        spec.argv = {"sh", "-c", command};
        spec.environment = {"PATH=/usr/bin:/bin"};
        spec.directory = directory_;
        return spec;
    }
    std::string output_of(const ProcessSpec& spec) const {
        const std::string path = directory_ + "/output";
        const Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        ProcessSpec with_file = spec;
        with_file.out = with_file.err = file.get();
        const Result<pid_t> pid = spawn(with_file);
        EXPECT_TRUE(pid);
        waitpid(*pid, nullptr, 0);
        return read_file(path).value();
    }
    static void make_program(const std::string& path, const std::string& text, mode_t mode) {
        ASSERT_TRUE(make_directories(directory_of(path)));
        std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
        chmod(path.c_str(), mode);
    }

    std::string directory_;
};

// Also if it has the number of another descriptor that is moved.
TEST_F(Spawned, AProgramInheritsOneDescriptor) {
    std::ofstream(directory_ + "/text") << "inherited\n";
    const Fd file(open((directory_ + "/text").c_str(), O_RDONLY | O_CLOEXEC));
    const Fd low(fcntl(file.get(), F_DUPFD_CLOEXEC, kKeptFd));
    const Fd other(open("/dev/null", O_RDONLY | O_CLOEXEC));
    ProcessSpec spec = shell("cat <&4; ls /proc/self/fd | wc -l");
    spec.inherited = low.get();
    spec.kept = other.get();
    EXPECT_EQ(output_of(spec), "inherited\n5\n");  // 0, 1, 2, 4, and that of ls
    spec.inherited = -1;
    spec.argv[2] = "ls /proc/self/fd | wc -l";
    EXPECT_EQ(output_of(spec), "4\n");
}

TEST_F(Spawned, IsThereThoughItsFilesBlockAndEndsByASignal) {
    const std::string fifo = directory_ + "/fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0666), 0);
    ProcessSpec spec = shell("exit 7");
    spec.open_files = [&] { return open(fifo.c_str(), O_WRONLY) >= 0; };  // nobody reads it
    const Result<pid_t> pid = spawn(spec);
    ASSERT_TRUE(pid);
    EXPECT_FALSE(wait_for_exit(*pid, std::chrono::milliseconds{20}));
    kill(*pid, SIGTERM);
    int status = 0;
    ASSERT_EQ(waitpid(*pid, &status, 0), *pid);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

// A connection of ours must not stay open in a process that blocks before its program.
TEST_F(Spawned, HasClosedOurDescriptorsBeforeItsFilesAreOpened) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    Fd reader(ends[0]), writer(ends[1]);
    ProcessSpec spec = shell("true");
    spec.open_files = [] { return pause() == 0; };
    const Result<pid_t> pid = spawn(spec);
    ASSERT_TRUE(pid);
    writer.reset();
    char byte = 0;
    EXPECT_EQ(read(reader.get(), &byte, 1), 0);  // the end, though the process lives
    kill(*pid, SIGKILL);
    waitpid(*pid, nullptr, 0);
}

TEST_F(Spawned, ALimitAboveOurHardLimitIsCutToIt) {
    rlimit ours{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &ours), 0);
    ProcessSpec spec = shell("ulimit -Hn; ulimit -Sn");
    spec.limits = {{RLIMIT_NOFILE, RLIM_INFINITY}};
    EXPECT_EQ(output_of(spec), fmt::format("{0}\n{0}\n", ours.rlim_max));
    spec.limits = {{RLIMIT_NOFILE, ours.rlim_max - 1}};
    EXPECT_EQ(output_of(spec), fmt::format("{}\n{}\n", ours.rlim_max, ours.rlim_max - 1));
}

TEST_F(Spawned, FindsTheProgramWithTheRightsOfItsUser) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: another user's rights";
    make_program(directory_ + "/roots/tool", "echo root", 0700);
    make_program(directory_ + "/all/tool", "echo all", 0755);
    ProcessSpec spec = shell("");
    spec.program = "tool";
    spec.argv = {"tool"};
    spec.search_path = directory_ + "/roots:" + directory_ + "/all";
    EXPECT_EQ(output_of(spec), "root\n");
    const User nobody{65534, 65534, "nobody", "/", "/bin/sh", {65534}};
    spec.user = &nobody;
    EXPECT_EQ(output_of(spec), "all\n");
}

TEST_F(Spawned, WritingToAFullPipeTakesNoLongerThanAllowed) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const Fd reader(ends[0]), writer(ends[1]);
    fcntl(writer.get(), F_SETFL, O_NONBLOCK);
    const std::string block(4096, 'x');
    while (write(writer.get(), block.data(), block.size()) > 0) {
    }
    fcntl(writer.get(), F_SETFL, 0);
    write_in_time(writer.get(), "too much", std::chrono::milliseconds{20});  // returns
    int status = 0;
    EXPECT_GT(wait(&status), 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    std::string drained(1 << 20, 0);
    EXPECT_GT(read(reader.get(), drained.data(), drained.size()), 0);
    write_in_time(writer.get(), "line\n", std::chrono::seconds{10});
    const ssize_t count = read(reader.get(), drained.data(), drained.size());
    EXPECT_EQ(drained.substr(0, static_cast<std::size_t>(count)), "line\n");
}

// A cgroup of the first generation, and one that a process in it has made and frozen.
TEST_F(Spawned, ACgroupIsKilledAndRemovedWithThoseInside) {
    const std::string outer = fmt::format("/sys/fs/cgroup/freezer/sluice_test_{}", getpid());
    const std::string inner = outer + "/made/inside";
    if (!make_directories(inner)) GTEST_SKIP() << "no freezer to write to";
    const Fd entry(open((inner + "/cgroup.procs").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(entry);
    ProcessSpec spec = shell("exec sleep 1000");
    spec.cgroups = {entry.get()};
    const Result<pid_t> pid = spawn(spec);
    ASSERT_TRUE(pid);
    while (pids_in_cgroup(outer).empty()) usleep(1000);
    EXPECT_EQ(pids_in_cgroup(outer), std::vector<pid_t>{*pid});
    ASSERT_TRUE(freeze_cgroup(inner, true));
    EXPECT_FALSE(remove_cgroup(outer));
    kill_cgroup(outer);
    int status = 0;
    ASSERT_EQ(waitpid(*pid, &status, 0), *pid);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    for (int i = 0; i < 1000 && !remove_cgroup(outer); ++i) usleep(1000);
    EXPECT_NE(access(outer.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace sluice
