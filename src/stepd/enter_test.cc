// stepd/enter_test.cc
#include "stepd/enter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fd.h"
#include "os/user.h"

namespace sluice {
namespace {

struct Outcome {
    std::string output;  // standard output and error
    int code = -1;
};

Outcome run(const std::vector<std::string_view>& words) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        _exit(enter(words));
    }
    close(ends[1]);
    const Fd from(ends[0]);
    Outcome outcome;
    char bytes[4096];
    for (ssize_t count; (count = read(from.get(), bytes, sizeof bytes)) > 0;)
        outcome.output.append(bytes, static_cast<std::size_t>(count));
    int status = 0;
    waitpid(pid, &status, 0);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

TEST(Enter, TheProgramKnowsTheNameOfTheUser) {
    const std::string uid = std::to_string(getuid());
    const Outcome known =
        run({"name", uid, "--", "/bin/sh", "-c", "echo $SLURM_JOB_USER $0 $1", "a b", "--"});
    EXPECT_EQ(known.output, find_user(getuid())->name + " a b --\n");
    EXPECT_EQ(known.code, 0);
    const Outcome unknown =
        run({"name", "3999999999", "--", "/bin/sh", "-c", "echo $SLURM_JOB_USER; exit 3"});
    EXPECT_EQ(unknown.output, "3999999999\n");
    EXPECT_EQ(unknown.code, 3);
}

TEST(Enter, AProgramOfTheUserRunsInTheDirectoryAndReportsWhatIsWrong) {
    const std::string uid = std::to_string(getuid()), gid = std::to_string(getgid()),
                      parent = std::to_string(getpid());
    const Outcome done =
        run({"become", uid, gid, "/usr", parent, "--", "/bin/sh", "-c", "pwd; echo $USER $HOME"});
    const User user = *find_user(getuid());
    EXPECT_EQ(done.output, fmt::format("/usr\n{} {}\n", user.name, user.home));
    const Outcome lost =
        run({"become", uid, gid, "/does/not/exist", parent, "--", "/bin/echo", "done"});
    EXPECT_EQ(lost.output, "problem /does/not/exist: No such file or directory\n");
    EXPECT_EQ(lost.code, 1);
    const Outcome nobody = run({"become", "3999999999", gid, "/", parent, "--", "/bin/echo"});
    EXPECT_EQ(nobody.output, "problem uid 3999999999 is not known on this node\n");
    const Outcome orphan = run({"become", uid, gid, "/", "1", "--", "/bin/echo", "done"});
    EXPECT_EQ(orphan.output, "");
    EXPECT_EQ(orphan.code, 1);
}

TEST(Enter, AProgramThatCannotRunIsNamed) {
    const Outcome missing = run({"--", "/does/not/exist"});
    EXPECT_NE(missing.output.find("/does/not/exist: No such file"), std::string::npos);
    EXPECT_EQ(missing.code, ENOENT);
    EXPECT_EQ(run({"nonsense", "--", "/bin/true"}).code, EINVAL);
    EXPECT_EQ(run({"name", "0"}).code, EINVAL);
}

}  // namespace
}  // namespace sluice
