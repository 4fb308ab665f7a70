#include "agent/scratch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include "base/log.h"
#include "base/text.h"
#include "model/errors.h"
#include "os/empty_directory.h"
#include "os/error.h"
#include "os/fd.h"
#include "os/files.h"
#include "os/mounts.h"

namespace sluice {

namespace {

// What is to be removed is moved there: after a crash the next slurmd goes on.
constexpr const char* kRemoved = "removed";

std::string name_of(const JobKey& job) {
    return fmt::format("{}.{}", job.job.value, job.restarts);
}

std::optional<JobKey> parse_name(std::string_view name) {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return {};
    const auto job = to_number(name.substr(0, dot)), restarts = to_number(name.substr(dot + 1));
    if (!job || !restarts) return {};
    return JobKey{JobId{static_cast<std::uint32_t>(*job)}, static_cast<std::uint32_t>(*restarts)};
}

// The directory above may be open to all users, such as /tmp: what another user has made there is
// not used.
Result<Fd> open_base(const std::string& base) {
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    Fd opened(open(base.c_str(), flags));
    if (!opened && errno == ENOENT) {
        TRY(make_directories(base));
        opened = Fd(open(base.c_str(), flags));
    }
    struct stat status {};
    if (!opened || fstat(opened.get(), &status) != 0) return os_error(base);
    if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return Error{ErrorCode{},
                     fmt::format("{}: must belong to uid {} and be writable by no other user", base,
                                 geteuid())};
    }
    return opened;
}

Result<Fd> open_removed(int base) {
    if (mkdirat(base, kRemoved, S_IRWXU) != 0 && errno != EEXIST) return os_error(kRemoved);
    Fd opened(openat(base, kRemoved, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened) return os_error(kRemoved);
    return opened;
}

// What a job has mounted there, which outlives it: as root, or through fusermount.
void detach_all(int base, const std::string& name, const std::string& base_path) {
    if (geteuid() != 0) return;
    if (Result<void> unmounted = detach_mounts(base, name); !unmounted) {
        log_error("scratch: {}/{}: cannot unmount {}", base_path, name, unmounted.error().detail);
    }
}

Result<void> empty_removed(const std::string& base) {
    const Fd opened = TRY(open_base(base));
    const Fd removed = TRY(open_removed(opened.get()));
    detach_all(opened.get(), kRemoved, base);  // of jobs of an earlier slurmd
    return empty_directory(removed.get());
}

// True: it is gone; otherwise it was moved to where the thread removes it.
Result<bool> move_away(const std::string& base, const std::string& name) {
    const Fd opened = TRY(open_base(base));
    if (unlinkat(opened.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
    detach_all(opened.get(), name, base);
    const Fd removed = TRY(open_removed(opened.get()));
    const std::string place = fmt::format("{}.{}", name, make_place());
    if (renameat(opened.get(), name.c_str(), removed.get(), place.c_str()) != 0) {
        return os_error(fmt::format("{}/{}", base, name));
    }
    return false;
}

void remove_when_wanted(Queue<bool>& wanted, const std::string& base) {
    while (!wanted.take(1).empty()) {
        if (Result<void> emptied = empty_removed(base); !emptied) {
            log_error("scratch: {}/{}: {}", base, kRemoved, emptied.error().detail);
        }
    }
}

}  // namespace

std::string scratch_path(const std::string& base, const JobKey& job) {
    return fmt::format("{}/{}", base, name_of(job));
}

Scratch::Scratch(std::string base, BeforeRemoval before_removal)
    : base_(std::move(base)),
      before_removal_(std::move(before_removal)),
      wanted_(std::make_shared<Queue<bool>>(1)) {}

Scratch::~Scratch() {
    wanted_->close();
    if (base_.empty()) return;
    // Where nothing is left, nothing of ours stays on the disk.
    (void)rmdir(fmt::format("{}/{}", base_, kRemoved).c_str());
    (void)rmdir(base_.c_str());
}

Result<void> Scratch::make(const JobKey& job, uid_t user, gid_t group) {
    const std::string name = name_of(job);
    const Fd base = TRY(as(ErrorCode::NodeUnable, open_base(base_)));
    auto failed = [&] {
        return Error{ErrorCode::NodeUnable, os_error(scratch_path(base_, job)).detail};
    };
    struct stat status {};
    if (fstatat(base.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
        if (status.st_uid == user) return {};
        remove(job);  // an earlier slurmd died before it had given it away, or knew another job 12
    }
    if (mkdirat(base.get(), name.c_str(), S_IRWXU) != 0) return failed();
    const bool is_given =
        geteuid() != 0 || fchownat(base.get(), name.c_str(), user, group, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_given) return failed();
    return {};
}

void Scratch::remove(const JobKey& job) {
    if (before_removal_) before_removal_(scratch_path(base_, job));
    const Result<bool> gone = move_away(base_, name_of(job));
    if (!gone) return log_error("scratch: {}", gone.error().detail);
    if (!*gone) want_removal();
}

void Scratch::keep_only(const std::set<JobKey>& jobs) {
    for (const std::string& name : list_directory(base_)) {
        const std::optional<JobKey> job = parse_name(name);
        if (job && !jobs.contains(*job)) remove(*job);
    }
    if (access(fmt::format("{}/{}", base_, kRemoved).c_str(), F_OK) == 0) want_removal();
}

// At the first use: see SlowWork::start_threads().
void Scratch::want_removal() {
    if (!has_thread_) {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        std::thread([wanted = wanted_, base = base_] {
            remove_when_wanted(*wanted, base);
        }).detach();
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        has_thread_ = true;
    }
    (void)wanted_->try_push(true);
}

}  // namespace sluice
