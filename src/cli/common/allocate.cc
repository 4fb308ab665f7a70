#include "cli/common/allocate.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/common/listing.h"
#include "cli/common/start_hint.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/states.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

// How long an allocation may take before the user is told that the job is queued.
constexpr std::chrono::milliseconds kQueuedAfter{300};

bool has_nodes(const wire::JobAllocation& allocation) {
    return allocation.state() == static_cast<std::uint32_t>(JobState::Running) &&
           allocation.nodes_size() > 0;
}

Result<wire::Reply> submit(const JobOptions& options, Client& client) {
    wire::Request request;
    request.mutable_submit()->set_request(encode(options.request));
    request.mutable_submit()->set_idempotency_key(idempotency_key());
    return client.call(request);
}

struct Obstacle {
    Reason reason;
    std::string_view text;
};
constexpr std::string_view kPartitionLimits = "Requested partition configuration not available now";
constexpr std::string_view kHeld = "Job is in held state, pending scheduler release";
constexpr Obstacle kObstacles[] = {
    {Reason::JobHeldAdmin, kHeld},
    {Reason::JobHeldUser, kHeld},
    {Reason::PartitionConfig, kPartitionLimits},
    {Reason::PartitionDown, "Partition in DOWN state"},
    {Reason::PartitionNodeLimit, kPartitionLimits},
    {Reason::PartitionTimeLimit, kPartitionLimits},
    {Reason::ReqNodeNotAvail, "Required node not available (down, drained or reserved)"},
};

// Compat: obstacles that no end of another job removes are printed first.
void print_obstacle(std::uint32_t job, Client& client, const Invocation& invocation,
                    Streams& streams) {
    Filter filter;
    filter.jobs.push_back({.job = JobId{job}, .tasks = {}, .het_component = {}, .step = {}});
    filter.include_hidden = true;
    const Result<Table> table =
        fetch_table(client, TableKind::Jobs, {static_cast<ColumnId>(JobColumn::Reason)}, filter);
    if (!table || table->rows() == 0) return;
    const auto reason = static_cast<Reason>(table->number(0, JobColumn::Reason));
    for (const Obstacle& obstacle : kObstacles) {
        if (obstacle.reason == reason) print_info(streams, invocation, obstacle.text);
    }
}

void print_queued(std::uint32_t job, const AllocationTexts& texts, const Invocation& invocation,
                  Streams& streams) {
    if (texts.says_pending) {
        print_info(streams, invocation, fmt::format("Pending job allocation {}", job));
    }
    print_info(streams, invocation, fmt::format("job {} queued and waiting for resources", job));
}

void print_revoked(std::uint32_t job, const AllocationTexts& texts, bool by_signal,
                   const Invocation& invocation, Streams& streams) {
    print_info(streams, invocation,
               fmt::format("Job allocation {} has been revoked{}", job, texts.revoked_end));
    if (by_signal) {
        print_info(streams, invocation, fmt::format(fmt::runtime(texts.on_signal), job));
    }
}

}  // namespace

SignalWatch::SignalWatch() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    CHECK(fd_);
}

int SignalWatch::take() {
    signalfd_siginfo info{};
    if (read(fd_.get(), &info, sizeof info) != sizeof info) return 0;
    return static_cast<int>(info.ssi_signo);
}

Allocated allocate_job(JobOptions& options, const AllocationTexts& texts,
                       const Invocation& invocation, Client& client, Streams& streams,
                       SignalWatch& signals) {
    Allocated result;
    Result<wire::Reply> submitted = submit(options, client);
    if (!submitted) {
        print_refusal(streams, invocation, texts.failed, submitted.error());
        result.exit_code = exit_code_for_error(invocation);
        return result;
    }
    const std::uint32_t job = submitted->submitted().job();
    for (const std::string& warning : submitted->submitted().warnings()) {
        print_warning(streams, invocation, warning);
    }
    bool told = false;
    Waiting waiting{.slow_after = kQueuedAfter, .wake_fd = signals.fd()};
    waiting.on_slow = [&](Client& other) {
        told = true;
        if (options.quiet) return;
        print_obstacle(job, other, invocation, streams);
        print_queued(job, texts, invocation, streams);
        if (isatty(STDERR_FILENO) != 1) return;
        const auto hint = start_hint(fmt::format("{}", job), other);
        if (hint) print_info(streams, invocation, *hint);
    };
    if (options.immediate_for) waiting.give_up_after = *options.immediate_for;
    wire::Request request;
    request.mutable_wait_job()->set_job(job);
    request.mutable_wait_job()->set_until(wire::WaitJob::ALLOCATED);
    Result<wire::Reply> reply = client.call(request, waiting);
    if (reply && has_nodes(reply->allocation())) {
        result.ok = true;
        result.allocation = std::move(*reply->mutable_allocation());
        if (told && !options.quiet) {
            print_info(streams, invocation,
                       fmt::format("job {} has been allocated resources", job));
        }
        return result;
    }
    bool by_signal = !reply && reply.error().code == ErrorCode::None;
    if (by_signal || (!reply && options.immediate_for)) cancel_job(job, client);
    if (reply || by_signal) {
        print_revoked(job, texts, by_signal, invocation, streams);
        if (by_signal) result.exit_code = 128 + signals.take();
    } else {
        Error error = options.immediate_for ? Error{ErrorCode::NodesBusy, ""} : reply.error();
        print_refusal(streams, invocation, texts.failed, error);
        result.exit_code = exit_code_for_error(invocation);
    }
    return result;
}

void give_back(std::uint32_t job, const wire::ExitStatus& exit, Client& client) {
    wire::Request request;
    request.set_complete_job(job);
    *request.mutable_exit() = exit;
    // A job that has ended meanwhile is as good as given back.
    static_cast<void>(client.call(request));
}

void cancel_job(std::uint32_t job, Client& client) {
    wire::Request request;
    request.mutable_cancel()->mutable_filter()->add_jobs(fmt::format("{}", job));
    static_cast<void>(client.call(request));
}

}  // namespace sluice
