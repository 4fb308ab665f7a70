// surface/job_cells.cc
//
// Fields of squeue that are no plain columns. Most are used by records too.
#include "surface/job_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/job.h"

namespace sluice::job_cells {

namespace {

bool shows_reason(ShownState state) {
    switch (state) {
        case ShownState::Pending:
        case ShownState::Failed:
        case ShownState::Timeout:
        case ShownState::Deadline:
        case ShownState::OutOfMemory:
        case ShownState::BootFail:
            return true;
        default:
            return false;
    }
}

}  // namespace

void array_job_id(const SheetRow& job, std::string& out) {
    append_number(job.number(job.has(C::ArrayJobId) ? C::ArrayJobId : C::Id), out);
}

void array_task_id(const SheetRow& job, std::string& out) {
    const std::size_t start = out.size();
    append_array_tasks(job, out);
    if (out.size() == start) out += "N/A";
}

// Compat: tasks come in the order of their array, those that have not started last.
std::int64_t id_key(const SheetRow& job) {
    const bool in_array = job.has(C::ArrayJobId);
    const std::int64_t id = job.number(in_array ? C::ArrayJobId : C::Id);
    std::int64_t task = 0;
    if (in_array) task = job.task != kAbsent ? job.task : job.number(C::ArrayTaskId);
    if (task == kAbsent) task = kArrayTaskMax + 1;
    return (id << 24) + task;
}

void state(const SheetRow& job, std::string& out) {
    out += state_name(shown_state(job));
}
void state_short(const SheetRow& job, std::string& out) {
    out += state_letters(shown_state(job));
}

// Compat: by the letters, so that CG comes before PD before R.
std::int64_t state_key(const SheetRow& job) {
    static const auto ranks = [] {
        std::array<std::int64_t, kShownStateCount> table{};
        for (int i = 0; i < kShownStateCount; ++i) {
            for (int j = 0; j < kShownStateCount; ++j) {
                table[i] += state_letters(static_cast<ShownState>(j)) <
                            state_letters(static_cast<ShownState>(i));
            }
        }
        return table;
    }();
    return ranks[static_cast<std::size_t>(shown_state(job))];
}

void nodes_or_reason(const SheetRow& job, std::string& out) {
    if (!shows_reason(shown_state(job))) return append_nodes(job, out);
    out += '(';
    append_reason(job, out);
    out += ')';
}

void batch_host(const SheetRow& job, std::string& out) {
    std::string_view host = job.text(C::BatchHost);
    if (job.number(C::Batch) != 1) host = job.text(C::AllocNode);
    out += host.empty() ? "n/a" : host;
}

void time_used(const SheetRow& job, std::string& out) {
    append_duration(elapsed_seconds(job), out);
}
std::int64_t time_used_key(const SheetRow& job) {
    return elapsed_seconds(job);
}

void time_limit(const SheetRow& job, std::string& out) {
    const std::int64_t limit = job.number(C::TimeLimit);
    if (limit == kAbsent) {
        out += "NOT_SET";
    } else {
        append_duration(limit, out);
    }
}

std::int64_t time_left_key(const SheetRow& job) {
    const std::int64_t limit = job.number(C::TimeLimit);
    return limit == kAbsent || limit == kUnlimited ? limit : limit - elapsed_seconds(job);
}

void time_left(const SheetRow& job, std::string& out) {
    const std::int64_t left = time_left_key(job);
    if (left == kAbsent) {
        out += "NOT_SET";
    } else {
        append_duration(left, out);
    }
}

void time_min(const SheetRow& job, std::string& out) {
    append_duration(job.has(C::TimeMin) ? job.number(C::TimeMin) : 0, out);
}

void pending_time(const SheetRow& job, std::string& out) {
    std::int64_t until = to_unix(job.looks().now);
    if (base_state(job) != JobState::Pending && job.has(C::StartTime))
        until = job.number(C::StartTime);
    const std::int64_t since = job.has(C::SubmitTime) ? job.number(C::SubmitTime) : until;
    append_number(std::max<std::int64_t>(until - since, 0), out);
}

std::int64_t memory_key(const SheetRow& job) {
    if (job.has(C::MemPerGpu)) return job.number(C::MemPerGpu);
    return job.has(C::MemPerNode) ? job.number(C::MemPerNode) : job.number(C::MemPerCpu);
}

void memory(const SheetRow& job, std::string& out) {
    append_memory(memory_key(job), job.looks(), out);
}

void disk(const SheetRow& job, std::string& out) {
    append_memory(job.number(C::MinTmpDisk), job.looks(), out);
}

// Compat: what was once a share of 2^32 is still shown as one.
void priority_share(const SheetRow& job, std::string& out) {
    const double most = 4294967296.0;
    fmt::format_to(std::back_inserter(out), "{:.14f}",
                   static_cast<double>(std::max<std::int64_t>(job.number(C::Priority), 0)) / most);
}

void over_subscribe(const SheetRow& job, std::string& out) {
    out += over_subscribe_word(job);
}

void sockets_cores_threads(const SheetRow& job, std::string& out) {
    number_or<C::SocketsPerNode, "*">(job, out);
    out += ':';
    number_or<C::CoresPerSocket, "*">(job, out);
    out += ':';
    number_or<C::ThreadsPerCore, "*">(job, out);
}

// Jobs without a start time come last.
std::int64_t start_key(const SheetRow& job) {
    const std::int64_t start = job.number(C::StartTime);
    return start != kAbsent && start > 0 ? start : kUnlimited - 1;
}

// In percent; of a stage whose size is not known yet, the bytes.
void stage_progress(const SheetRow& job, std::string& out) {
    const std::int64_t done = job.number(C::StageBytes), total = job.number(C::StageTotal);
    if (done == kAbsent) {
        out += "N/A";
    } else if (total <= 0) {
        out += fmt::format("{}B", done);
    } else {
        out += fmt::format("{}%", static_cast<int>(100.0 * static_cast<double>(done) /
                                                   static_cast<double>(total)));
    }
}

void switches_wait(const SheetRow& job, std::string& out) {
    append_duration(job.has(C::SwitchesMax) ? job.number(C::SwitchesWait) : 0, out);
}

void exclusive(const SheetRow& job, std::string& out) {
    out += exclusive_word(job);
}
void group_name(const SheetRow& job, std::string& out) {
    out += job.sheet->group_name(job.number(C::GroupId));
}
void cluster(const SheetRow& job, std::string& out) {
    out += job.looks().cluster;
}

void core_spec(const SheetRow& job, std::string& out) {
    if (job.has(C::ThreadSpec)) {
        append_number(job.number(C::ThreadSpec), out);
        out += " Threads";
    } else {
        number_or<C::CoreSpec, "N/A">(job, out);
    }
}

void nodes_max(const SheetRow& job, std::string& out) {
    append_number(job.number(job.has(C::NodeCountMax) ? C::NodeCountMax : C::NodeCount), out);
}

void tres_alloc(const SheetRow& job, std::string& out) {
    std::string_view tres = job.text(C::AllocTres);
    if (tres.empty()) tres = job.text(C::ReqTres);
    out += tres.empty() ? "N/A" : tres;
}

}  // namespace sluice::job_cells
