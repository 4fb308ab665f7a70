// Linux, asked for small things.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "os/busy.h"
#include "os/daemonize.h"
#include "os/event_loop.h"
#include "os/files.h"
#include "os/nvidia_proc.h"
#include "os/process.h"
#include "os/pty.h"
#include "os/self.h"
#include "os/socket.h"
#include "os/stream.h"

namespace sluice {
namespace {

class TemporaryDirectory {
public:
    TemporaryDirectory() {
        char name[] = "/tmp/os_test.XXXXXX";
        path = mkdtemp(name);
    }
    ~TemporaryDirectory() { remove_tree(path); }
    std::string path;
};

std::pair<Fd, Fd> make_pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    return {Fd(ends[0]), Fd(ends[1])};
}

std::string read_to_end(const Fd& fd) {
    std::string text;
    char buffer[256];
    for (ssize_t count; (count = read(fd.get(), buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
}

struct Ran {
    std::string output;
    int status = 0;
};

Ran run(ProcessSpec spec) {
    auto [reader, writer] = make_pipe();
    spec.out = spec.err = writer.get();
    Result<pid_t> pid = spawn(spec);
    EXPECT_TRUE(pid);
    writer.reset();
    Ran ran;
    ran.output = read_to_end(reader);
    waitpid(*pid, &ran.status, 0);
    return ran;
}

ProcessSpec shell(const std::string& command) {
    ProcessSpec spec;
    spec.program = "/bin/sh";
    spec.argv = {"sh", "-c", command};
    return spec;
}

TEST(Become, ChangesTheHomeDirectory) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    const User nobody = find_user("nobody").value();
    const pid_t child = fork();
    if (child == 0) {
        setenv("HOME", "/root", 1);
        const bool done = become(nobody).has_value() && getenv("HOME") == nobody.home;
        _exit(done && geteuid() == nobody.uid ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST(EventLoop, RunsTimersInOrderAndCancelledOnesNever) {
    EventLoop loop;
    std::string order;
    loop.after(std::chrono::milliseconds{2}, [&] {
        order += 'b';
        loop.stop();
    });
    loop.after(std::chrono::milliseconds{1}, [&] { order += 'a'; });
    loop.cancel(loop.after(std::chrono::milliseconds{0}, [&] { order += 'x'; }));
    loop.run();
    EXPECT_EQ(order, "ab");
}

TEST(Stream, MovesMoreThanAPipeHolds) {
    EventLoop loop;
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    std::string received;
    Stream reader(loop, Fd(pair[1]),
                  {[&](std::string_view bytes) { received += bytes; }, [&] { loop.stop(); }, {}});
    Stream writer(loop, Fd(pair[0]), {});
    std::string sent(3u << 20, 'z');
    writer.send(sent);
    EXPECT_GT(writer.backlog(), 0u);
    writer.close_after_drain();
    loop.run();
    EXPECT_EQ(received, sent);
}

TEST(Stream, WhatWasInThePipeWhenTheWriterLeftIsNotLost) {
    EventLoop loop;
    auto [reader_end, writer_end] = make_pipe();
    std::string received;
    Stream reader(loop, std::move(reader_end),
                  {[&](std::string_view bytes) { received += bytes; }, [&] { loop.stop(); }, {}});
    reader.read_more(false);
    write_all(writer_end.get(), "last words");
    writer_end.reset();
    loop.after(std::chrono::milliseconds{1}, [&] { reader.read_more(true); });
    loop.run();
    EXPECT_EQ(received, "last words");
}

TEST(Stream, WhatThePeerSentBeforeItLeftIsReadAlsoWhenAWriteFails) {
    signal(SIGPIPE, SIG_IGN);
    EventLoop loop;
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    std::string received;
    int closed = 0;
    auto on_close = [&] {
        ++closed;
        loop.stop();
    };
    Stream ours(loop, Fd(pair[0]),
                {[&](std::string_view bytes) { received += bytes; }, on_close, {}});
    Fd peer(pair[1]);
    const std::string sent(150'000, 'z');  // more than one read
    write_all(peer.get(), sent);
    peer.reset();
    ours.send("input that nobody takes");
    loop.run();
    EXPECT_EQ(received, sent);
    EXPECT_EQ(closed, 1);
    EXPECT_EQ(ours.backlog(), 0u);
}

TEST(Stream, AFailedWriteClosesAStreamThatIsNotRead) {
    signal(SIGPIPE, SIG_IGN);
    EventLoop loop;
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    Stream ours(loop, Fd(pair[0]), {{}, [&] { loop.stop(); }, {}});
    Fd(pair[1]).reset();
    ours.read_more(false);
    ours.send("x");
    loop.run();
    EXPECT_TRUE(ours.closed());
}

TEST(Process, ChildGetsWhatTheSpecSays) {
    ProcessSpec spec = shell("echo $A $PID_IS $$; pwd; umask; ulimit -n");
    spec.environment = {"A=1"};
    spec.pid_variable = "PID_IS";
    spec.directory = "/usr";
    spec.umask = 027;
    spec.limits = {{RLIMIT_NOFILE, 77}};
    Ran ran = run(spec);
    std::string pid = ran.output.substr(2, ran.output.find(' ', 2) - 2);
    EXPECT_EQ(ran.output, "1 " + pid + " " + pid + "\n/usr\n0027\n77\n");
}

// Descriptors of ours that a program is not to have, beside 0, 1 and 2.
constexpr int kForgotten = 200;

TEST(Process, ChildHasNoDescriptorsButItsThree) {
    Fd forgotten(dup2(STDERR_FILENO, kForgotten));
    Ran ran = run(shell("[ ! -h /proc/$$/fd/200 ] || echo open; echo end"));
    EXPECT_EQ(ran.output, "end\n");
}

TEST(Process, HelperHasNoDescriptorsButThoseHandedToIt) {
    Fd forgotten(dup2(STDERR_FILENO, kForgotten));
    auto [reader, writer] = make_pipe();
    Result<pid_t> pid = spawn_helper(
        "/bin/sh", {"sh", "-c", "{ [ ! -h /proc/$$/fd/200 ] || echo open; echo end; } >&3"},
        {writer.get()});
    ASSERT_TRUE(pid);
    writer.reset();
    EXPECT_EQ(read_to_end(reader), "end\n");
    waitpid(*pid, nullptr, 0);
}

TEST(Process, MissingDirectoryFallsBackAndSaysSo) {
    ProcessSpec spec = shell("pwd");
    spec.directory = "/nonexistent/here";
    spec.directory_fallback = "/tmp";
    Ran ran = run(spec);
    EXPECT_NE(ran.output.find("error: couldn't chdir to `/nonexistent/here': No such file or "
                              "directory: going to /tmp instead\n/tmp\n"),
              std::string::npos)
        << ran.output;
}

TEST(Process, ProgramThatIsNotThereExitsWithErrno) {
    ProcessSpec spec;
    spec.program = "nosuch";
    spec.argv = {"nosuch"};
    Ran ran = run(spec);
    EXPECT_NE(ran.output.find("error: execve(): nosuch: No such file or directory\n"),
              std::string::npos);
    EXPECT_EQ(WEXITSTATUS(ran.status), ENOENT);
}

TEST(Process, FindsProgramsInThePathGiven) {
    EXPECT_EQ(find_program("sh", "/nonexistent:/bin", "/"), "/bin/sh");
    EXPECT_EQ(find_program("./x", "/bin", "/"), "./x");
    EXPECT_EQ(find_program("nosuch", "/bin", "/"), "nosuch");
}

TEST(Process, DescendantsIncludeThoseInOtherSessions) {
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "setsid sleep 1000 & wait", nullptr);
        _exit(1);
    }
    auto count = [&] { return descendants(child).size(); };
    while (count() == 0) sched_yield();
    for (pid_t pid : descendants(child)) kill(pid, SIGKILL);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(count(), 0u);
}

TEST(Files, AtomicWriteReplacesTheWhole) {
    TemporaryDirectory directory;
    std::string path = directory.path + "/a/b/file";
    EXPECT_FALSE(write_file_atomically(path, "x"));
    ASSERT_TRUE(make_directories(directory.path + "/a/b"));
    ASSERT_TRUE(write_file_atomically(path, "first, and longer"));
    ASSERT_TRUE(write_file_atomically(path, "second"));
    EXPECT_EQ(*read_file(path), "second");
    EXPECT_EQ(list_directory(directory.path + "/a/b").size(), 1u);
}

TEST(Socket, LocalPeersKnowEachOther) {
    Result<Fd> listener = listen_tcp(0, "127.0.0.1");
    ASSERT_TRUE(listener);
    std::uint16_t port = bound_port(*listener);
    Result<Fd> local = listen_local("test", port);
    ASSERT_TRUE(local);
    Result<Connection> connection =
        connect_to({"localhost", port, "test"}, std::chrono::milliseconds{1000});
    ASSERT_TRUE(connection) << connection.error().detail;
    EXPECT_TRUE(connection->local);
    EXPECT_EQ(own_address(*connection, "127.0.0.1"), "127.0.0.1");
    Fd accepted = accept_connection(*local);
    ASSERT_TRUE(accepted);
    EXPECT_EQ(peer_of(accepted)->uid, getuid());
    local->reset();
    connection = connect_to({"127.0.0.1", port, "test"}, std::chrono::milliseconds{1000});
    ASSERT_TRUE(connection);
    EXPECT_FALSE(connection->local);
    EXPECT_EQ(own_address(*connection, "not asked"), "127.0.0.1");
}

TEST(Socket, NamesAreTakenOnceAndGoWithTheListener) {
    const std::string name = fmt::format("sluice.os_test.{}", getpid());
    Result<Fd> listener = listen_as(name);
    ASSERT_TRUE(listener) << listener.error().detail;
    EXPECT_FALSE(listen_as(name));
    Result<Fd> caller = connect_as(name);
    ASSERT_TRUE(caller);
    EXPECT_EQ(peer_of(*caller)->uid, geteuid());
    listener->reset();
    EXPECT_FALSE(connect_as(name));
}

int tcp_option(const Fd& fd, int level, int option) {
    int value = -1;
    socklen_t length = sizeof value;
    EXPECT_EQ(getsockopt(fd.get(), level, option, &value, &length), 0);
    return value;
}

// After how many seconds a silent connection is over when nothing comes back any more.
int seconds_until_dead(const Fd& fd) {
    EXPECT_EQ(tcp_option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    return tcp_option(fd, IPPROTO_TCP, TCP_KEEPIDLE) +
           tcp_option(fd, IPPROTO_TCP, TCP_KEEPCNT) * tcp_option(fd, IPPROTO_TCP, TCP_KEEPINTVL);
}

TEST(Socket, BothSidesNoticeAPeerThatHasVanished) {
    Result<Fd> listener = listen_tcp(0, "127.0.0.1");
    ASSERT_TRUE(listener);
    Result<Connection> connection =
        connect_to({"127.0.0.1", bound_port(*listener), "test"}, std::chrono::milliseconds{1000});
    ASSERT_TRUE(connection);
    Fd accepted = accept_connection(*listener);
    ASSERT_TRUE(accepted);
    for (const Fd* fd : {&connection->fd, &accepted}) {
        EXPECT_EQ(seconds_until_dead(*fd), kDeadPeerAfter.count());
        EXPECT_EQ(tcp_option(*fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 1000 * kDeadPeerAfter.count());
        allow_stopped_peer(*fd);
        EXPECT_EQ(tcp_option(*fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
        EXPECT_EQ(seconds_until_dead(*fd), kDeadPeerAfter.count());
    }
}

TEST(Socket, RefusedConnectionNamesWhere) {
    Result<Connection> connection =
        connect_to({"127.0.0.1", 1, "slurmctld"}, std::chrono::milliseconds{1000});
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().detail, "slurmctld at 127.0.0.1:1: Connection refused");
}

TEST(Pty, TaskSeesTheSize) {
    Result<Pty> pty = open_pty({30, 100});
    ASSERT_TRUE(pty);
    ProcessSpec spec = shell("stty size");
    spec.environment = {"PATH=/usr/bin:/bin"};
    spec.in = pty->task.get();
    EXPECT_EQ(run(spec).output, "30 100\n");
}

TEST(Users, OneWhoDoesNotExistIsNoErrorOfTheDatabase) {
    const Result<std::optional<User>> root = look_up_user(uid_t{0});
    ASSERT_TRUE(root);
    ASSERT_TRUE(*root);
    EXPECT_EQ((*root)->uid, 0u);
    const Result<std::optional<User>> nobody = look_up_user("no such user, ever");
    ASSERT_TRUE(nobody);
    EXPECT_FALSE(*nobody);
    EXPECT_TRUE(means_no_such_user(0));
    EXPECT_TRUE(means_no_such_user(ENOENT));
    for (int number : {EIO, EAGAIN, ETIMEDOUT, ECONNREFUSED, ENOMEM, EMFILE, ERANGE})
        EXPECT_FALSE(means_no_such_user(number)) << number;
}

TEST(Process, IsNotProtectedFromTheOomKillerAsItsParentIs) {
    const char* path = "/proc/self/oom_score_adj";
    const std::string before = read_file(path).value();
    const auto set = [&](const std::string& text) {
        const Fd file(open(path, O_WRONLY | O_CLOEXEC));
        return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    };
    ASSERT_TRUE(set("7"));
    EXPECT_EQ(run(shell("cat /proc/self/oom_score_adj")).output, "7\n");
    const bool may_protect = set("-7");
    if (may_protect) {
        EXPECT_EQ(run(shell("cat /proc/self/oom_score_adj")).output, "0\n");
        EXPECT_EQ(read_file(path).value(), "-7\n");
    }
    EXPECT_TRUE(set(before));
    if (!may_protect) GTEST_SKIP() << "needs CAP_SYS_RESOURCE";
}

TEST(PidFile, GoesWithItsOwnerAndNotWithAnother) {
    TemporaryDirectory directory;
    const std::string path = directory.path + "/pid";
    {
        Result<PidFile> first = PidFile::create(path);
        ASSERT_TRUE(first);
        EXPECT_FALSE(PidFile::create(path));
        EXPECT_EQ(access(path.c_str(), F_OK), 0);
    }
    EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(PidFile, IsNotWrittenThroughALink) {
    TemporaryDirectory directory;
    const std::string path = directory.path + "/pid", other = directory.path + "/precious";
    ASSERT_TRUE(write_file_atomically(other, "data"));
    ASSERT_EQ(symlink(other.c_str(), path.c_str()), 0);
    Result<PidFile> file = PidFile::create(path);
    ASSERT_FALSE(file);
    EXPECT_NE(file.error().detail.find(path), std::string::npos);
    EXPECT_EQ(*read_file(other), "data");
}

TEST(PidFile, NamesNoProcessWhereItCannotBeRemoved) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    TemporaryDirectory directory;
    ASSERT_EQ(chmod(directory.path.c_str(), 0755), 0);
    const std::string path = directory.path + "/pid";
    const pid_t child = fork();
    if (child == 0) {  // root makes the file, another user cannot remove it
        Result<PidFile> file = PidFile::create(path);
        if (!file || read_file(path)->empty() || setuid(65534) != 0) _exit(1);
        file->remove();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(read_file(path).value(), "");
}

TEST(Busy, MoreWantToRunThanThereAreCores) {
    EXPECT_FALSE(is_busy("0.52 0.30 0.10 2/175 8090\n", 2));
    EXPECT_TRUE(is_busy("0.00 0.00 0.00 3/175 8090\n", 2));
    EXPECT_FALSE(is_busy("", 2));
    EXPECT_FALSE(is_busy("9.00 x/175", 2));
}

TEST(NvidiaGpus, AreThoseThatTheDriverListsInTheOrderOfTheBus) {
    TemporaryDirectory directory;
    const std::string top = directory.path + "/driver/nvidia/gpus/";
    const std::string sys = directory.path + "/bus/pci/devices/0000:01:00.0";
    for (const char* place : {"0000:81:00.0", "0000:01:00.0"}) {
        std::filesystem::create_directories(top + place);
        std::ofstream(top + place + "/information")
            << "Model: \t\t NVIDIA A40\nGPU UUID: \t GPU-" << place << "\nDevice Minor: \t "
            << (place[5] == '8' ? 0 : 1) << "\n";
    }
    std::filesystem::create_directories(sys);
    std::ofstream(sys + "/local_cpulist") << "0-1,4\n";
    const auto gpus = read_nvidia_gpus(directory.path, directory.path);
    ASSERT_TRUE(gpus) << gpus.error().detail;
    ASSERT_EQ(gpus->size(), 2u);
    EXPECT_EQ((*gpus)[0].name, "NVIDIA A40");
    EXPECT_EQ((*gpus)[0].uuid, "GPU-0000:01:00.0");
    EXPECT_EQ((*gpus)[0].minor, 1u);
    EXPECT_EQ((*gpus)[0].cpus, (std::vector<int>{0, 1, 4}));
    EXPECT_TRUE((*gpus)[1].cpus.empty());
    EXPECT_FALSE(read_nvidia_gpus(directory.path + "/none", directory.path));
}

TEST(NvidiaGpus, MigDevicesHaveFilesForBothInstances) {
    const MigDevice mig{"1g.5gb", "MIG-1", 7, 0};
    const char* minors =
        "config 1\ngpu0/gi7/access 66\ngpu0/gi7/ci0/access 67\n"
        "gpu1/gi7/access 201\n";
    EXPECT_EQ(mig_files(minors, 0, mig),
              (std::vector<std::string>{"/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap66",
                                        "/dev/nvidia-caps/nvidia-cap67"}));
    EXPECT_EQ(mig_files("", 1, mig), std::vector<std::string>{"/dev/nvidia1"});
}

}  // namespace
}  // namespace sluice
