#include "agent/stager.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <utility>

#include "base/log.h"
#include "model/errors.h"
#include "os/error.h"
#include "os/fd_passing.h"
#include "os/process.h"

namespace sluice {

struct Stager::Program {
    pid_t pid = -1;
    FrameReader reader;
    std::unique_ptr<Stream> stream;
    bool is_over = false;  // it has said how it ended
    bool is_stopped = false;
};

Stager::Stager(EventLoop& loop, std::string program, Handlers handlers)
    : loop_(loop), program_(std::move(program)), handlers_(std::move(handlers)) {}

Stager::~Stager() = default;

std::shared_ptr<Stager::Program> Stager::spawn(
    const std::string& title, const wire::StageJob& order,
    std::function<void(const wire::StageReport&)> on_report, std::function<void()> on_gone) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        log_error("{}: {}", title, os_error("socketpair").detail);
        return nullptr;
    }
    Fd ours(pair[0]), theirs(pair[1]);
    const Result<pid_t> pid = spawn_helper(program_, {title}, {theirs.get()});
    if (!pid) {
        log_error("{}: {}", program_, pid.error().detail);
        return nullptr;
    }
    auto program = std::make_shared<Program>();
    program->pid = *pid;
    const auto on_data = [raw = program.get(),
                          on_report = std::move(on_report)](std::string_view bytes) {
        raw->reader.feed(bytes);
        for (;;) {
            auto frame = raw->reader.next();
            if (!frame || !*frame) return;
            const Result<wire::StageReport> report = decode<wire::StageReport>(**frame);
            if (report) on_report(*report);
        }
    };
    program->stream = std::make_unique<Stream>(loop_, std::move(ours),
                                               Stream::Handlers{on_data, std::move(on_gone), {}});
    std::string frame;
    append_frame(frame, order);
    program->stream->send(frame);
    return program;
}

void Stager::start(const JobKey& job, const wire::StageOrder& order) {
    wire::StageJob message;
    *message.mutable_stage() = order;
    const std::string title = fmt::format("sluice-stage: [{}]", job.job.value);
    auto program = spawn(
        title, message, [this, job](const wire::StageReport& report) { on_report(job, report); },
        [this, job] { on_gone(job); });
    if (program) {
        programs_[job] = std::move(program);
    } else {
        loop_.later([this, job] {
            handlers_.on_end(job, Error{ErrorCode::NodeUnable, "sluice-stage cannot be started"});
        });
    }
}

void Stager::start_beside(const JobKey& job, const wire::StageOrder& order, Done done) {
    wire::StageJob message;
    *message.mutable_stage() = order;
    const auto answer = std::make_shared<Done>(std::move(done));
    const auto say = [answer](const std::optional<Error>& error) {
        if (const Done once = std::exchange(*answer, nullptr)) once(error);
    };
    const auto place = beside_.emplace(job, nullptr);
    place->second = spawn(
        fmt::format("sluice-stage: [{}]", job.job.value), message,
        [this, say](const wire::StageReport& report) {
            const auto& sources = report.cached().sources();
            if (report.has_cached()) handlers_.on_cached({sources.begin(), sources.end()});
            if (report.has_ready()) say({});
            if (!report.failed().empty()) say(Error{ErrorCode::DataUnavailable, report.failed()});
        },
        [this, place, say] {
            drop(place->second);
            beside_.erase(place);
            say(Error{ErrorCode::DataUnavailable, "sluice-stage was killed"});
            handlers_.on_gone();
        });
    if (place->second) return;
    beside_.erase(place);
    say(Error{ErrorCode::NodeUnable, "sluice-stage cannot be started"});
}

void Stager::stop(const JobKey& job) {
    const auto [from, to] = beside_.equal_range(job);
    for (auto each = from; each != to; ++each) kill(-each->second->pid, SIGKILL);

    const auto found = programs_.find(job);
    if (found == programs_.end()) return;
    found->second->is_stopped = true;
    kill(-found->second->pid, SIGKILL);
}

void Stager::on_report(const JobKey& job, const wire::StageReport& report) {
    const auto found = programs_.find(job);
    if (found == programs_.end()) return;
    Program& program = *found->second;
    if (report.has_progress()) {
        handlers_.on_progress(job, report.progress());
    } else if (report.has_cached()) {
        handlers_.on_cached({report.cached().sources().begin(), report.cached().sources().end()});
    } else if (!program.is_over && !program.is_stopped) {
        program.is_over = true;
        const bool ok = report.has_ready();
        handlers_.on_end(
            job,
            ok ? std::nullopt : std::optional(Error{ErrorCode::DataUnavailable, report.failed()}));
    }
}

void Stager::on_gone(const JobKey& job) {
    auto gone = programs_.extract(job);
    if (gone.empty()) return;
    const bool was_over = gone.mapped()->is_over;
    const char* why = gone.mapped()->is_stopped ? "the job was ended" : "sluice-stage was killed";
    drop(gone.mapped());
    if (!was_over) handlers_.on_end(job, Error{ErrorCode::DataUnavailable, why});
    handlers_.on_gone();
}

// We may be in one of its functions.
void Stager::drop(const std::shared_ptr<Program>& program) {
    kill(-program->pid, SIGKILL);  // processes of its session
    loop_.later([program] { program->stream.reset(); });
}

void Stager::serve(const Site& site, const Fd& connection) {
    if (!server_) {
        wire::StageJob message;
        message.mutable_serve()->set_cache(site.data_cache);
        server_ = spawn(
            "sluice-stage: [peers]", message, [](const wire::StageReport&) {},
            [this] { drop(std::exchange(server_, nullptr)); });
    }
    if (!server_) return;
    const Fd line(dup(server_->stream->fd()));
    if (Result<void> sent = send_fd(line, connection); !sent)
        log_error("data for another node: {}", sent.error().detail);
}

void Stager::tidy(const Site& site, const std::set<JobKey>& jobs) {
    wire::StageJob message;
    wire::TidyOrder& order = *message.mutable_tidy();
    order.set_cache(site.data_cache);
    order.set_cache_size(site.config.data_cache_size << 20);
    order.set_scratch_base(site.scratch);
    order.set_made_ns(std::chrono::system_clock::now().time_since_epoch() /
                      std::chrono::nanoseconds{1});
    for (const JobKey& job : jobs) {
        wire::RunId& run = *order.add_jobs();
        run.set_job(job.job.value);
        run.set_restarts(job.restarts);
    }
    next_tidy_ = std::move(message);
    if (!tidying_) tidy_next();
}

void Stager::tidy_next() {
    if (!next_tidy_) return;
    const wire::StageJob order = *std::exchange(next_tidy_, std::nullopt);
    tidying_ = spawn(
        "sluice-stage: [cache]", order,
        [this](const wire::StageReport& report) {
            const auto& sources = report.cached().sources();
            if (report.has_cached()) handlers_.on_cached({sources.begin(), sources.end()});
        },
        [this] {
            drop(std::exchange(tidying_, nullptr));
            tidy_next();
        });
}

}  // namespace sluice
