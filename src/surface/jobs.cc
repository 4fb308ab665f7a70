#include "surface/jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/filename.h"
#include "model/job.h"

namespace sluice {

JobState base_state(const SheetRow& job) {
    std::int64_t state = job.number(JobColumn::BaseState);
    return state >= 0 && state < kJobStateCount ? static_cast<JobState>(state) : JobState::Pending;
}

ShownState shown_state(const SheetRow& job) {
    std::int64_t state = job.number(JobColumn::State);
    return state >= 0 && state < kShownStateCount ? static_cast<ShownState>(state)
                                                  : ShownState::Pending;
}

bool is_array_record(const SheetRow& job) {
    return job.has(JobColumn::ArrayJobId) && !job.has(JobColumn::ArrayTaskId) &&
           job.task == kAbsent;
}

void append_array_tasks(const SheetRow& job, std::string& out) {
    if (job.task != kAbsent) return append_number(job.task, out);
    if (job.has(JobColumn::ArrayTaskId))
        return append_number(job.number(JobColumn::ArrayTaskId), out);
    if (!is_array_record(job)) return;
    std::string_view tasks = job.text(JobColumn::ArrayTasks);
    const std::size_t most = job.looks().array_text_max;
    // Compat: the limit counts the three dots and C's zero byte.
    if (most > 4 && tasks.size() > most - 4) {
        out.append(tasks.substr(0, most - 4)).append("...");
    } else {
        out += tasks;
    }
    const std::int64_t limit = job.number(JobColumn::ArrayLimit);
    if (limit > 0) {
        out += '%';
        append_number(limit, out);
    }
}

void append_job_id(const SheetRow& job, std::string& out) {
    if (!job.has(JobColumn::ArrayJobId)) return append_number(job.number(JobColumn::Id), out);
    append_number(job.number(JobColumn::ArrayJobId), out);
    out += '_';
    const bool many = is_array_record(job);
    if (many) out += '[';
    append_array_tasks(job, out);
    if (many) out += ']';
}

std::int64_t elapsed_seconds(const SheetRow& job) {
    const JobState state = base_state(job);
    const std::int64_t start = job.number(JobColumn::StartTime);
    if (state == JobState::Pending || start == kAbsent || start <= 0) return 0;
    std::int64_t end = to_unix(job.looks().now);
    const std::int64_t ended = job.number(JobColumn::EndTime);
    if (is_finished(state) && ended != kAbsent) end = ended;
    if (state == JobState::Suspended && job.has(JobColumn::SuspendTime)) {
        end = job.number(JobColumn::SuspendTime);
    }
    const std::int64_t suspended =
        std::max<std::int64_t>(job.number(JobColumn::SuspendedSeconds), 0);
    return std::max<std::int64_t>(end - start - suspended, 0);
}

void append_reason(const SheetRow& job, std::string& out) {
    std::int64_t reason = job.number(JobColumn::Reason);
    if (reason < 0 || reason >= kReasonCount) reason = 0;
    std::string_view detail = job.text(JobColumn::ReasonDetail);
    out += print_reason(static_cast<Reason>(reason), detail);
}

void append_nodes(const SheetRow& job, std::string& out) {
    std::string_view left = job.text(JobColumn::CompletingNodes);
    const bool completing = shown_state(job) == ShownState::Completing;
    out += completing && !left.empty() ? left : job.text(JobColumn::NodeList);
}

void append_exit_code(std::int64_t code, std::string& out) {
    if (code < 0) code = 0;
    append_number(code >> 8, out);
    out += ':';
    append_number(code & 255, out);
}

std::string_view exclusive_word(const SheetRow& job) {
    switch (static_cast<Exclusive>(job.number(JobColumn::Exclusive))) {
        case Exclusive::Node:
            return "NODE";
        case Exclusive::User:
            return "USER";
        case Exclusive::No:
            break;
    }
    return "NO";
}

std::string_view over_subscribe_word(const SheetRow& job) {
    const std::int64_t shares = job.number(JobColumn::OverSubscribe);
    return shares == 1 ? "YES" : shares == 2 ? "OK" : "NO";
}

std::string expanded_path(const SheetRow& job, std::string_view pattern) {
    if (pattern.empty()) return "";
    FilenameContext context;
    context.job = JobId{static_cast<std::uint32_t>(job.number(JobColumn::Id))};
    if (job.has(JobColumn::ArrayJobId)) {
        context.array_job = JobId{static_cast<std::uint32_t>(job.number(JobColumn::ArrayJobId))};
    }
    std::int64_t task = job.task != kAbsent ? job.task : job.number(JobColumn::ArrayTaskId);
    if (task != kAbsent) context.array_task = static_cast<std::uint32_t>(task);
    context.restarts =
        static_cast<std::uint32_t>(std::max<std::int64_t>(job.number(JobColumn::Restarts), 0));
    context.node_name = job.text(JobColumn::BatchHost);
    context.user = job.sheet->user_name(job.number(JobColumn::UserId));
    context.job_name = job.text(JobColumn::Name);
    context.sluid = job.text(JobColumn::Sluid);
    std::string path = expand_filename(pattern, context);
    if (path.starts_with('/')) return path;
    return fmt::format("{}/{}", job.text(JobColumn::WorkDir), path);
}

}  // namespace sluice
