// accounting/modify_jobs.cc
//
// Notes on jobs that have ended. The records of other jobs come from their controller, which would
// overwrite a change.
#include <fmt/format.h>

#include "accounting/service.h"
#include "base/audit_log.h"
#include "model/errors.h"
#include "protocol/field_codec.h"

namespace sluice {

namespace {

// What only operators and administrators may set.
bool is_for_operators(const JobNotes& notes) {
    return notes.admin_comment || notes.system_comment || notes.wckey;
}

void apply(const JobNotes& notes, AccountedJob& job) {
    if (notes.comment) job.comment = *notes.comment;
    if (notes.admin_comment) job.admin_comment = *notes.admin_comment;
    if (notes.system_comment) job.system_comment = *notes.system_comment;
    if (notes.wckey) job.wckey = *notes.wckey;
    if (notes.derived_exit) job.derived_exit = {.code = *notes.derived_exit};
}

// As transactions show them: comment='text'.
std::string words_of(const JobNotes& notes) {
    std::string words;
    const auto add = [&](std::string_view name, const std::optional<std::string>& value) {
        if (value) words += fmt::format("{}{}='{}'", words.empty() ? "" : ", ", name, *value);
    };
    add("comment", notes.comment);
    add("admin_comment", notes.admin_comment);
    add("system_comment", notes.system_comment);
    add("wckey", notes.wckey);
    if (notes.derived_exit) add("derived_ec", std::to_string(*notes.derived_exit));
    return words;
}

Result<void> check_wckey(const Policy& policy, const AccountedRun& run, const std::string& name) {
    for (const Wckey& each : policy.wckeys) {
        if (!each.deleted && each.cluster == run.cluster && each.name == name) return {};
    }
    return Error{ErrorCode::NotFound,
                 fmt::format("no wckey {} on the cluster {}", name, run.cluster)};
}

}  // namespace

Result<std::vector<std::string>> AccountingService::modify_jobs(const AccountingOrder& order,
                                                                const AccountingCaller& actor,
                                                                Time now) {
    const std::shared_ptr<const Policy> policy = this->policy();
    const bool is_operator = level_of(*policy, actor) != AdminLevel::None;
    if (!is_operator && is_for_operators(order.notes))
        return Error{ErrorCode::AccessDenied, "only operators may set this of a job"};
    JobSelection selection = order.jobs;
    selection.no_steps = true;
    if (selection.clusters.empty() && !options_.cluster.empty())
        selection.clusters = {options_.cluster};
    const std::lock_guard guard(writer_mutex_);
    std::vector<AccountedRun> runs;
    std::vector<Transaction> why;
    TRY(writer_->jobs(selection, now, [&](AccountedRun run) -> Result<void> {
        const std::uint32_t number = run.job.job.value;
        if (!is_operator && run.job.user != actor.user) {
            return Error{ErrorCode::AccessDenied,
                         fmt::format("job {} belongs to another user", number)};
        }
        if (!run.job.end) {
            return Error{
                ErrorCode::BadArgument,
                fmt::format("job {} has not ended: use scontrol update JobId={}", number, number)};
        }
        if (order.notes.wckey) TRY(check_wckey(*policy, run, *order.notes.wckey));
        apply(order.notes, run.job);
        why.push_back({.time = now,
                       .action = "Modify Job",
                       .actor = actor.name,
                       .where = fmt::format("jobid={}", number),
                       .info = words_of(order.notes),
                       .cluster = run.cluster});
        runs.push_back(std::move(run));
        return {};
    }));
    std::vector<std::string> rows;
    for (const AccountedRun& run : runs) {
        std::string bytes;
        field_codec::put_fields(run.job, bytes);
        rows.push_back(std::move(bytes));
    }
    if (order.only_check) return rows;
    TRY(writer_->replace_jobs(runs, why));
    for (const Transaction& each : why)
        log_audit("uid {}: modify job {} {}", actor.user.value, each.where, each.info);
    return rows;
}

}  // namespace sluice
