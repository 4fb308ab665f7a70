#include "agent/checkpoints.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "agent/private_dirs.h"
#include "base/log.h"
#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "os/error.h"
#include "os/files.h"
#include "os/process.h"

namespace sluice {

namespace {

constexpr std::size_t kLineMost = 4096;
// A process that cannot end itself in time is killed.
constexpr std::chrono::seconds kEndPatience{1};
constexpr std::chrono::seconds kUnkillable{20};

}  // namespace

void Checkpoints::add(wire::SyncOrder order) {
    const JobKey key = key_of(order.run()).job;
    if (!jobs_.contains(key)) jobs_[key].order = std::move(order);
}

Result<void> Checkpoints::keep(const std::string& spool, const JobKey& job) const {
    const auto found = jobs_.find(job);
    if (found == jobs_.end()) return {};
    return write_file_atomically(sync_path(spool, job), found->second.order.SerializeAsString(),
                                 {.mode = 0600});
}

bool Checkpoints::recall(const std::string& spool, const JobKey& job) {
    const Result<std::string> bytes = read_file(sync_path(spool, job));
    wire::SyncOrder order;
    if (!bytes || !order.ParseFromString(*bytes)) return false;
    add(std::move(order));
    return true;
}

void Checkpoints::restore(const Site& site, const JobKey& job, Done done) {
    run_phase(site, job, Phase::Restore, std::move(done));
}

void Checkpoints::begin(const Site& site, const JobKey& job) {
    const auto found = jobs_.find(job);
    if (found == jobs_.end() || std::exchange(found->second.is_begun, true)) return;
    for (const wire::SyncPair& pair : found->second.order.pairs()) {
        if (const Result<pid_t> pid = start(site, found->second, pair, Phase::Background); !pid)
            tell_({job, {}, pid.error().detail});
    }
}

void Checkpoints::finish(const Site& site, const JobKey& job, std::function<void()> done) {
    kill_all(job);
    run_phase(site, job, Phase::Final,
              [done = std::move(done)](const std::optional<Error>&) { done(); });
}

void Checkpoints::stop(const JobKey& job) {
    kill_all(job);
}

void Checkpoints::forget(const JobKey& job) {
    kill_all(job);
    jobs_.erase(job);
}

void Checkpoints::kill_all(const JobKey& job) {
    for (const auto& [pid, process] : processes_) {
        if (process.job == job) kill(pid, SIGKILL);
    }
}

void Checkpoints::run_phase(const Site& site, const JobKey& key, Phase phase, Done done) {
    const auto found = jobs_.find(key);
    if (found == jobs_.end()) return done({});
    Job& job = found->second;
    job.failure.reset();
    job.done = std::move(done);
    job.left = static_cast<std::size_t>(job.order.pairs_size()) + 1;
    // The killed ones must be gone, too; but one that cannot be killed holds nothing up for ever.
    for (const auto& [pid, process] : processes_) job.left += process.job == key ? 1 : 0;
    if (phase == Phase::Final)
        loop_.after(site.config.sync_timeout + kUnkillable, [this, key] { end_phase(key); });
    for (const wire::SyncPair& pair : job.order.pairs()) {
        const Result<pid_t> pid = start(site, job, pair, phase);
        if (!pid) {
            tell_({key, {}, pid.error().detail});
            one_is_over(key, pid.error());
        } else if (phase == Phase::Final) {
            processes_.at(*pid).timeout = loop_.after(site.config.sync_timeout + kEndPatience,
                                                      [pid = *pid] { kill(pid, SIGKILL); });
        }
    }
    one_is_over(key, {});
}

void Checkpoints::end_phase(const JobKey& key) {
    const auto found = jobs_.find(key);
    if (found == jobs_.end() || found->second.left == 0) return;
    log_error("job {}: a synchronisation cannot be killed", key.job.value);
    found->second.left = 1;
    one_is_over(key, {});
}

void Checkpoints::one_is_over(const JobKey& key, std::optional<Error> failure) {
    const auto found = jobs_.find(key);
    if (found == jobs_.end() || found->second.left == 0) return;
    Job& job = found->second;
    if (failure) job.failure = std::move(failure);
    if (--job.left > 0) return;
    loop_.later([done = std::move(job.done), result = job.failure] { done(result); });
}

Result<pid_t> Checkpoints::start(const Site& site, const Job& job, const wire::SyncPair& pair,
                                 Phase phase) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return os_error("pipe");
    Fd read_end(ends[0]);
    const Fd write_end(ends[1]);
    (void)fcntl(write_end.get(), F_SETFL, 0);
    const JobKey key = key_of(job.order.run()).job;
    ProcessSpec spec;
    // It becomes the user, and sees what the job sees. What is wrong is a line of its report.
    spec.program = site.stepd_path;
    spec.argv = {"slurmstepd",
                 "enter",
                 "become",
                 std::to_string(job.order.user()),
                 std::to_string(job.order.group()),
                 job.order.work_dir(),
                 std::to_string(getpid())};
    add_directories(spec.argv, private_directories(site, key),
                    site.container && site.container->shared);
    spec.argv.insert(spec.argv.end(),
                     {"--", directory_of(site.stepd_path) + "/../bin/sdata", "sync", "--expand",
                      "--reports", "--log=" + job.order.log()});
    if (phase == Phase::Restore) spec.argv.emplace_back("--restore");
    if (phase == Phase::Final) {
        spec.argv.emplace_back("--final");
        spec.argv.push_back(fmt::format("--timeout={}", site.config.sync_timeout.count()));
    }
    if (job.order.may_be_missing()) spec.argv.emplace_back("--may-be-missing");
    if (pair.keep() > 0) spec.argv.push_back(fmt::format("--keep={}", pair.keep()));
    spec.argv.push_back(fmt::format("--every={}", pair.every_seconds()));
    spec.argv.insert(spec.argv.end(), {"--", pair.local(), pair.persistent()});
    spec.environment.assign(job.order.variables().begin(), job.order.variables().end());
    spec.directory = "/";
    spec.directory_fallback = "/";
    spec.out = write_end.get();
    spec.new_session = true;
    const pid_t pid = TRY(spawn(spec));
    Process& process = processes_[pid];
    process = {.job = key, .phase = phase, .local = pair.local(), .lines = std::move(read_end)};
    loop_.watch(process.lines.get(), EPOLLIN, [this, pid](std::uint32_t) { read_lines(pid); });
    return pid;
}

void Checkpoints::read_lines(pid_t pid) {
    Process& process = processes_.at(pid);
    char bytes[kLineMost];
    const ssize_t size = read(process.lines.get(), bytes, sizeof bytes);
    if (size <= 0) {
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
        return loop_.forget(process.lines.get());
    }
    process.unread.append(bytes, static_cast<std::size_t>(size));
    for (std::size_t end = 0; (end = process.unread.find('\n')) != std::string::npos;) {
        on_line(process, std::string_view(process.unread).substr(0, end));
        process.unread.erase(0, end + 1);
    }
    if (process.unread.size() > kLineMost) process.unread.clear();
}

void Checkpoints::on_line(Process& process, std::string_view line) {
    constexpr std::string_view kSaved = "saved ", kProblem = "problem ";
    if (line.starts_with(kProblem))
        return complain(process, std::string(line.substr(kProblem.size())));
    if (!line.starts_with(kSaved)) return;
    const std::optional<std::uint64_t> saved = to_number(line.substr(kSaved.size()));
    if (saved && *saved <= static_cast<std::uint64_t>(sizes::kSeconds))
        tell_({process.job, from_unix(static_cast<std::int64_t>(*saved)), {}});
}

void Checkpoints::complain(Process& process, std::string text) {
    constexpr std::string_view kPhases[] = {"restore", "sync", "last sync"};
    text = fmt::format("{}: {}", kPhases[static_cast<int>(process.phase)], text);
    if (text.size() > sizes::kWord) text.resize(sizes::kWord);
    log_error("job {}: {}", process.job.job.value, text);
    process.problem = text;
    tell_({process.job, {}, std::move(text)});
}

void Checkpoints::on_exit(pid_t pid, int wait_status) {
    const auto found = processes_.find(pid);
    if (found == processes_.end()) return;
    Process& process = found->second;
    for (std::size_t before = 0; before != process.unread.size() + 1;) {
        before = process.unread.size() + 1;
        read_lines(pid);
    }
    const bool was_killed = WIFSIGNALED(wait_status);
    const bool has_failed = wait_status != 0;
    if (has_failed && process.phase != Phase::Background && process.problem.empty()) {
        complain(process,
                 fmt::format("{}: {}", process.local, was_killed ? "it was killed" : "it failed"));
    }
    loop_.forget(process.lines.get());
    loop_.cancel(process.timeout);
    const JobKey job = process.job;
    const Phase phase = process.phase;
    std::optional<Error> failure;
    if (has_failed) failure = Error{ErrorCode::DataUnavailable, process.problem};
    processes_.erase(found);
    if (phase == Phase::Background) failure.reset();
    one_is_over(job, std::move(failure));
}

}  // namespace sluice
