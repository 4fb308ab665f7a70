// os/self.cc
#include "os/self.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "os/error.h"
#include "os/fd.h"
#include "os/files.h"

namespace sluice {

std::size_t raise_file_limit(std::size_t wanted) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    if (limit.rlim_cur >= wanted) return limit.rlim_cur;
    const rlimit before = limit;
    limit.rlim_cur = wanted;
    limit.rlim_max = std::max<rlim_t>(limit.rlim_max, wanted);  // root may
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return limit.rlim_cur;
    limit.rlim_max = before.rlim_max;
    limit.rlim_cur = std::min<rlim_t>(wanted, before.rlim_max);
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before.rlim_cur;
}

Result<void> become(const User& user) {
    if (geteuid() == user.uid && getuid() == user.uid) return {};
    const auto failed = [&](const char* call) {
        return os_error(fmt::format("cannot become user {}: {}", user.name, call));
    };
    if (initgroups(user.name.c_str(), user.gid) != 0) return failed("initgroups");
    if (setresgid(user.gid, user.gid, user.gid) != 0) return failed("setresgid");
    if (setresuid(user.uid, user.uid, user.uid) != 0) return failed("setresuid");
    setenv("HOME", user.home.c_str(), 1);  // libpq looks there for .pgpass
    prctl(PR_SET_DUMPABLE, 1);  // a core file stays possible, as for any ordinary process
    return {};
}

void make_for(const User& user, const std::string& path, Made what) {
    if (path.empty() || geteuid() != 0 || user.uid == 0) return;
    if (what == Made::Directory) {
        if (mkdir(path.c_str(), 0755) != 0)
            return;  // there already: whose it is was decided before
        if (chown(path.c_str(), user.uid, user.gid) != 0) return;
        return;
    }
    // Do not follow a link: it could lead root to a file of another user.
    Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    if (fchown(file.get(), user.uid, user.gid) != 0) return;
}

Result<void> set_nice(int value) {
    if (setpriority(PRIO_PROCESS, 0, value) != 0) return os_error(fmt::format("nice {}", value));
    return {};
}

void set_session_nice(int value) {
    if (getsid(0) == getpid()) write_to("/proc/self/autogroup", fmt::format("{}", value));
}

}  // namespace sluice
