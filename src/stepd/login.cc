#include "stepd/login.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <csignal>

#include "os/fd.h"
#include "os/files.h"
#include "os/process.h"

namespace sluice {

namespace {

// Start-up files print what they like; the environment begins after this line.
constexpr std::string_view kMark = "sluice-login-environment\n";

std::string read_until_end(const Fd& fd, std::chrono::milliseconds timeout) {
    auto deadline = std::chrono::steady_clock::now() + timeout;
    std::string text;
    char buffer[16 * 1024];
    for (;;) {
        auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        pollfd entry{fd.get(), POLLIN, 0};
        if (left.count() <= 0 || poll(&entry, 1, static_cast<int>(left.count())) == 0) return {};
        ssize_t count = read(fd.get(), buffer, sizeof buffer);
        if (count <= 0) return text;
        text.append(buffer, static_cast<std::size_t>(count));
    }
}

}  // namespace

Environment minimal_environment(const User& user) {
    Environment environment;
    environment.set("HOME", user.home);
    environment.set("USER", user.name);
    environment.set("LOGNAME", user.name);
    environment.set("SHELL", user.shell.empty() ? "/bin/sh" : user.shell);
    environment.set("PATH", "/usr/local/bin:/usr/bin:/bin");
    return environment;
}

Environment login_environment(const User& user, std::chrono::milliseconds timeout) {
    Environment minimal = minimal_environment(user);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return minimal;
    Fd reader(ends[0]), writer(ends[1]);
    std::string shell(minimal.get("SHELL"));
    ProcessSpec spec;
    spec.program = shell;
    spec.argv = {fmt::format("-{}", base_name(shell)), "-c",
                 fmt::format("echo {}; env -0", kMark.substr(0, kMark.size() - 1))};
    spec.environment = minimal.entries();
    spec.directory = user.home;
    spec.directory_fallback =
        std::string("/");  // g++ 12 warns wrongly of the assignment of a literal
    spec.user = &user;
    spec.out = writer.get();
    spec.new_session = true;
    Result<pid_t> shell_pid = spawn(spec);
    writer.reset();
    if (!shell_pid) return minimal;
    std::string text = read_until_end(reader, timeout);
    kill(-*shell_pid, SIGKILL);
    waitpid(*shell_pid, nullptr, 0);
    std::size_t mark = text.find(kMark);
    if (mark == std::string::npos) {
        write_all(STDERR_FILENO,
                  supervisor_line(fmt::format("no login environment for {}: its shell gave no "
                                              "answer in time",
                                              user.name)));
        return minimal;
    }
    Environment environment =
        Environment::parse(std::string_view(text).substr(mark + kMark.size()));
    environment.add_missing(minimal);
    environment.unset("_");
    environment.unset("SHLVL");
    return environment;
}

}  // namespace sluice
