#include "agent/sync_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "model/checkpoint_sync.h"
#include "model/filename.h"
#include "model/hostlist.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

// The name of the user is not known here: to ask for it may take long.
constexpr const char* kUserVariable = "${USER}";

FilenameContext context_of(const wire::StepOrder& order, const wire::JobAllocation& job,
                           const JobRequest& request) {
    FilenameContext context;
    context.job = JobId{order.run().job()};
    if (job.has_array_job()) context.array_job = JobId{job.array_job()};
    if (job.has_array_task()) context.array_task = job.array_task();
    context.restarts = order.run().restarts();
    context.node_name = order.node();
    context.user = kUserVariable;
    context.job_name = request.name;
    context.sluid = job.sluid();
    return context;
}

bool is_in_name(char each) {
    return each == '_' || (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') ||
           (each >= 'A' && each <= 'Z');
}

void collect_names(std::string_view text, std::set<std::string, std::less<>>& names) {
    for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at)) {
        ++at;
        if (at < text.size() && text[at] == '{') ++at;
        std::size_t end = at;
        while (end < text.size() && is_in_name(text[end])) ++end;
        names.emplace(text.substr(at, end - at));
        at = end;
    }
}

// As the script will see them, as far as slurmd knows.
std::vector<std::string> own_variables(const wire::StepOrder& order, const wire::JobAllocation& job,
                                       const JobRequest& request) {
    std::vector<std::string> variables = {
        fmt::format("SCRATCH={}", order.scratch()),
        fmt::format("SLURM_TMPDIR={}", order.scratch()),
        fmt::format("SLURM_JOB_ID={}", order.run().job()),
        fmt::format("SLURM_JOBID={}", order.run().job()),
        fmt::format("SLURM_JOB_NAME={}", request.name),
        fmt::format("SLURM_RESTART_COUNT={}", order.run().restarts()),
        fmt::format("SLURM_SUBMIT_DIR={}", request.work_dir),
        fmt::format("SLURMD_NODENAME={}", order.node()),
    };
    if (job.has_array_task()) {
        variables.push_back(fmt::format("SLURM_ARRAY_JOB_ID={}", job.array_job()));
        variables.push_back(fmt::format("SLURM_ARRAY_TASK_ID={}", job.array_task()));
    }
    return variables;
}

std::string log_pattern(const wire::JobAllocation& job, const JobRequest& request) {
    if (!request.std_err.empty()) return request.std_err;
    if (!request.std_out.empty()) return request.std_out;
    return job.has_array_task() ? "slurm-%A_%a.out" : "slurm-%j.out";
}

}  // namespace

std::string sync_path(std::string_view spool, const JobKey& key) {
    return fmt::format("{}/sync.{}", job_directory(spool, key.job), key.restarts);
}

std::uint32_t rank_in_job(const wire::JobAllocation& facts, const std::string& node) {
    const Result<Hostlist> nodes = Hostlist::parse(facts.node_names());
    if (!nodes) return 0;
    const std::vector<std::string>& names = nodes->names();
    const auto found = std::find(names.begin(), names.end(), node);
    return found == names.end() ? 0 : static_cast<std::uint32_t>(found - names.begin());
}

Result<wire::SyncOrder> sync_order(const wire::StepOrder& order, const wire::JobAllocation& facts) {
    const JobRequest request = request_of(facts);
    const FilenameContext context = context_of(order, facts, request);
    const std::uint32_t rank = order.has_batch() ? 0 : rank_in_job(facts, order.node());
    wire::SyncOrder made;
    *made.mutable_run() = order.run();
    made.set_user(order.user());
    made.set_group(order.group());
    made.set_work_dir(request.work_dir);
    made.set_may_be_missing(rank > 0);
    made.set_log(expand_filename(log_pattern(facts, request), context));
    std::set<std::string, std::less<>> names;
    collect_names(made.log(), names);
    for (const SyncRule& rule : TRY(parse_sync_rules(request.sync))) {
        wire::SyncPair& pair = *made.add_pairs();
        pair.set_local(expand_filename(rule.local, context));
        pair.set_persistent(expand_filename(rule.persistent, context));
        if (rank > 0) pair.set_persistent(fmt::format("{}/node.{}", pair.persistent(), rank));
        pair.set_every_seconds(rule.every.count());
        pair.set_keep(rule.keep.value_or(0));
        collect_names(pair.local(), names);
        collect_names(pair.persistent(), names);
    }
    std::map<std::string, std::string, std::less<>> values;  // the last one of a name counts
    const auto add = [&](std::string_view variable) {
        const std::string_view name = variable.substr(0, variable.find('='));
        if (names.contains(name)) values[std::string(name)] = variable;
    };
    const std::string& environment =
        order.has_batch() ? order.batch().environment() : order.tasks().spec().environment();
    for (const std::string_view each : split(environment, '\0')) add(each);
    for (const std::string& each : own_variables(order, facts, request)) add(each);
    for (const auto& [name, variable] : values) made.add_variables(variable);
    return made;
}

}  // namespace sluice
