// The data of the jobs of this node: what sluice-stage is told, and what it says.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "agent/jobs.h"
#include "base/log.h"
#include "model/errors.h"
#include "model/filename.h"
#include "model/hostlist.h"
#include "model/stage_in.h"
#include "os/files.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

constexpr std::string_view kOrderPrefix = "stage.";

std::string order_path(const Site& site, const JobKey& job) {
    return fmt::format("{}/{}{}.{}", site.spool, kOrderPrefix, job.job.value, job.restarts);
}

bool has_stream(const wire::StageOrder& order) {
    const Result<std::vector<StageIn>> sources = parse_stage_ins(order.stage_in());
    return sources && std::any_of(sources->begin(), sources->end(),
                                  [](const StageIn& one) { return one.is_stream; });
}

// Where the user looks for what went wrong: the output of a batch script.
std::string output_of(const wire::StepOrder& order, const wire::JobAllocation& job) {
    const JobRequest request = request_of(job);
    if (request.kind != JobKind::Batch || request.work_dir.empty()) return "";
    FilenameContext context{.job = JobId{order.run().job()},
                            .restarts = order.run().restarts(),
                            .node_name = order.node(),
                            .user = "%u",  // replaced by sluice-stage
                            .job_name = request.name,
                            .sluid = job.sluid()};
    if (job.has_array_task()) {
        context.array_job = JobId{job.array_job()};
        context.array_task = job.array_task();
    }
    std::string pattern = request.std_err.empty() ? request.std_out : request.std_err;
    if (pattern.empty()) pattern = context.array_task ? "slurm-%A_%a.out" : "slurm-%j.out";
    return absolute_path(expand_filename(pattern, context), request.work_dir);
}

}  // namespace

void Jobs::note_data(const wire::StepOrder& order, const wire::JobAllocation& job,
                     const std::string& credential) {
    const std::string stage_in = request_of(job).stage_in;
    if (stage_in.empty()) return;
    const JobKey key = key_of(order.run()).job;
    wire::StageOrder& known = stage_orders_[key];
    if (!known.credential().empty() && credential.empty()) return;  // it says less
    *known.mutable_run() = order.run();
    known.set_user(order.user());
    known.set_group(order.group());
    known.set_stage_in(stage_in);
    known.set_node(order.node());
    known.set_scratch(order.scratch());
    known.set_output(output_of(order, job));
    known.set_slurm_conf(order.slurm_conf());
    known.set_credential(credential);
    known.set_is_repeated(true);
    known.clear_job_nodes();
    if (const Result<Hostlist> nodes = Hostlist::parse(job.node_names())) {
        for (const std::string& node : nodes->names()) known.add_job_nodes(node);
    }
    data_jobs_.insert(key);
}

// The first order of a job on this node counts.
Result<void> Jobs::note_sync(const wire::StepOrder& order, const wire::JobAllocation& facts) {
    const bool is_due = order.has_batch() || rank_in_job(facts, order.node()) > 0;
    if (!is_due || request_of(facts).sync.empty()) return {};
    checkpoints_.add(TRY(sync_order(order, facts)));
    return {};
}

void Jobs::set_places(wire::StageOrder& order) const {
    order.set_cache(site_->data_cache);
    order.set_cache_size(site_->config.data_cache_size << 20);
    order.set_scratch_base(site_->scratch);
}

void Jobs::perform(const RunDataTask& effect) {
    const JobKey& job = effect.job.key;
    if (effect.task.kind == DataKind::Restore) {
        return checkpoints_.restore(*site_, job, [this, job](std::optional<Error> error) {
            handle(DataTaskEnded{job, std::move(error)});
        });
    }
    const auto found = stage_orders_.find(job);
    if (found == stage_orders_.end()) return handle(DataTaskEnded{job});
    wire::StageOrder& order = found->second;
    set_places(order);
    // Shards may arrive while the job runs: then the next slurmd goes on with it.
    (void)write_file_atomically(order_path(*site_, job), order.SerializeAsString(), {.mode = 0600});
    stager_.start(job, order);
}

// Orders of an earlier slurmd. Where its work was done, there is nothing to do. A job of which
// nothing runs here is prepared again by the controller, or gone.
void Jobs::recover_data() {
    for (const std::string& name : list_directory(site_->spool)) {
        if (!name.starts_with(kOrderPrefix)) continue;
        const std::string path = site_->spool + "/" + name;
        const Result<std::string> text = read_file(path);
        wire::StageOrder order;
        const bool is_whole = text && order.ParseFromString(*text);
        const JobKey job = key_of(order.run()).job;
        if (!is_whole || !node_.find(job)) {
            unlink(path.c_str());
            continue;
        }
        data_jobs_.insert(job);
        stage_orders_[job] = order;
        if (has_stream(order)) stager_.start(job, order);
    }
}

void Jobs::perform(const StopDataTask& effect) {
    stager_.stop(effect.job);
    checkpoints_.stop(effect.job);
}

void Jobs::stage_now(JobId id, uid_t user, const std::string& source, Staged done) {
    const auto refuse = [&](std::string why) {
        done(Error{ErrorCode::BadArgument, std::move(why)});
    };
    const auto found = std::find_if(node_.jobs.begin(), node_.jobs.end(), [&](const auto& entry) {
        const auto& [key, job] = entry;
        return key.job == id && job.hook.user == user && !job.runs.empty() && !job.takes_no_more();
    });
    if (found == node_.jobs.end())
        return refuse(fmt::format("you have no job {} on this node", id.value));
    const Result<std::vector<StageIn>> sources = parse_stage_ins(source);
    if (!sources) return refuse(sources.error().detail);
    const JobKey& job = found->first;
    wire::StageOrder order = stage_orders_[job];
    *order.mutable_run() = to_run_id(batch_of(job));
    order.set_user(found->second.hook.user);
    order.set_group(found->second.hook.group);
    order.set_stage_in(source);
    order.set_node(site_->node.name);
    order.set_scratch(scratch_path(site_->scratch, job));
    order.set_slurm_conf(site_->config.path);
    order.set_is_repeated(false);
    order.clear_output();
    set_places(order);
    data_jobs_.insert(job);
    stager_.start_beside(job, order, std::move(done));
}

// slurmd of the other node, with what the controller has signed for the job there.
void Jobs::serve_peer(const wire::DataPeer& peer, Caller caller) {
    const uid_t user = caller.identity.user.value;
    const bool is_daemon = user == 0 || user == geteuid() || user == site_->slurm_user;
    const Result<void> allowed =
        !is_daemon   ? Error{ErrorCode::AccessDenied, "only other nodes get pieces of datasets"}
        : !verifier_ ? Error{ErrorCode::CredentialInvalid, "this node has not registered yet"}
                     : verifier_->verify_for_data(peer.credential(), peer.node(),
                                                  from_unix(std::time(nullptr)));
    if (!allowed) return caller.refuse(std::move(caller.connection), allowed.error());
    stager_.serve(*site_, caller.connection);
}

void Jobs::tell_progress(const JobKey& job, const wire::StageProgress& progress) {
    wire::AgentReport report;
    wire::DataProgress& message = *report.mutable_data_progress();
    *message.mutable_run() = to_run_id(batch_of(job));
    message.set_phase(progress.phase());
    message.set_bytes_done(progress.bytes_done());
    message.set_bytes_total(progress.bytes_total());
    message.set_bytes_read(progress.bytes_read());
    if (controller_.tell) controller_.tell(report);
}

void Jobs::set_datasets(std::vector<std::uint64_t> datasets) {
    if (datasets == datasets_) return;
    datasets_ = std::move(datasets);
    wire::AgentReport report;
    for (const std::uint64_t source : datasets_) report.mutable_cached_data()->add_sources(source);
    report.mutable_cached_data();
    if (controller_.tell) controller_.tell(report);
}

void Jobs::forget_data(const JobKey& job) {
    data_jobs_.erase(job);
    if (stage_orders_.erase(job) == 0) return;
    unlink(order_path(*site_, job).c_str());
    stager_.stop(job);
    tidy_data();
}

// Nothing to do where no dataset was ever staged.
void Jobs::tidy_data() {
    if (access(site_->data_cache.c_str(), F_OK) != 0) return;
    for (const auto& [key, job] : node_.jobs) data_jobs_.insert(key);
    stager_.tidy(*site_, data_jobs_);
}

}  // namespace sluice
