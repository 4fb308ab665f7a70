#include "agent/jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "agent/confinement.h"
#include "agent/devices.h"
#include "agent/gpu_words.h"
#include "agent/launch_check.h"
#include "agent/oci_order.h"
#include "agent/task_binding.h"
#include "base/log.h"
#include "model/errors.h"
#include "node/describe.h"
#include "os/error.h"
#include "os/files.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

NodeTime time_now() {
    return {.steady = std::chrono::steady_clock::now().time_since_epoch(),
            .wall = from_unix(std::time(nullptr))};
}

NodeSettings settings_of(const Site& site) {
    const Config& config = site.config;
    return {.has_prolog = has_prolog(site),
            .has_epilog = has_epilog(site),
            .kill_wait = config.kill_wait,
            .unkillable_step_timeout = config.unkillable_step_timeout,
            .group_update_time = config.group_update_time};
}

std::string key_path(const Site& site) {
    return site.spool + "/controller_key";
}

// Of a step's job, on one of the step's nodes.
std::uint64_t job_memory_in(const wire::LaunchCredential& credential, const std::string& node) {
    for (int i = 0; i < std::min(credential.nodes_size(), credential.job_memory_size()); ++i) {
        if (credential.nodes(i).name() == node) return credential.job_memory(i);
    }
    return 0;
}

}  // namespace

Jobs::Jobs(EventLoop& loop, std::shared_ptr<const Site> site, Hooks& hooks, GpuWatch& gpus,
           ToController controller)
    : loop_(loop),
      site_(std::move(site)),
      hooks_(hooks),
      gpus_(gpus),
      controller_(std::move(controller)),
      stager_(loop, directory_of(site_->stepd_path) + "/../libexec/sluice/sluice-stage",
              {[this](const JobKey& job, std::optional<Error> error) {
                   if (error) log_error("data of job {}: {}", job.job.value, error->detail);
                   handle(DataTaskEnded{job, std::move(error)});
               },
               [this](const JobKey& job, const wire::StageProgress& progress) {
                   tell_progress(job, progress);
               },
               [this](std::vector<std::uint64_t> datasets) { set_datasets(std::move(datasets)); },
               [this] { tidy_data(); }}),
      checkpoints_(loop, [this](const Checkpoints::News& news) { report_data(news); }),
      scratch_(site_->scratch),
      private_dirs_(*site_) {
    // Until the controller answers, launches that srun brings are checked with the key it had.
    if (Result<std::string> key = read_file(key_path(*site_))) (void)trust(*key);
}

Result<void> Jobs::trust(const std::string& public_key) {
    if (public_key == public_key_) return {};
    verifier_ = TRY(CredentialVerifier::create(public_key));
    if (!public_key_.empty()) log_info("the controller has a new key for launch credentials");
    public_key_ = public_key;
    return write_file_atomically(key_path(*site_), public_key, {.durable = true});
}

// What effects cause is decided after the other effects of the same decision.
void Jobs::handle(NodeEvent event) {
    events_.push_back(std::move(event));
    if (is_deciding_) return;
    is_deciding_ = true;
    node_.settings = settings_of(*site_);
    while (!events_.empty()) {
        NodeEffects effects;
        apply(node_, time_now(), events_.front(), effects);
        events_.pop_front();
        for (const NodeEffect& effect : effects) {
            if (log_enabled(LogLevel::Debug)) log_debug("{}", describe(effect));
            std::visit([this](const auto& it) { perform(it); }, effect);
        }
    }
    is_deciding_ = false;
    set_timer();
}

void Jobs::set_timer() {
    const std::optional<Moment> next = next_timer(node_);
    if (next == timer_time_) return;
    loop_.cancel(timer_);
    timer_time_ = next;
    if (!next) return;
    const Moment wait = std::max(*next - time_now().steady, Moment{0});
    timer_ = loop_.after(std::chrono::ceil<std::chrono::milliseconds>(wait), [this] {
        timer_time_.reset();
        handle(NodeTimerDue{});
    });
}

// ---- launching

Error Jobs::not_registered_yet() const {
    return {ErrorCode::CredentialInvalid,
            fmt::format("node {} has not registered with its controller yet", site_->node.name)};
}

Result<void> Jobs::check_caller(const Caller& caller, const wire::LaunchCredential& claimed) {
    const std::uint32_t user = caller.identity.user.value;
    if (user == claimed.user() || user == 0) return {};
    return Error{ErrorCode::AccessDenied,
                 fmt::format("the step belongs to uid {}, you are uid {}", claimed.user(), user)};
}

Result<wire::LaunchCredential> Jobs::check(const std::string& bytes, const RunKey& key) {
    if (!verifier_) return not_registered_yet();
    wire::LaunchCredential credential =
        TRY(verifier_->verify(bytes, site_->node.name, from_unix(std::time(nullptr))));
    if (key_of(credential.run()) != key || !share_of(credential, site_->node.name)) {
        return Error{ErrorCode::CredentialInvalid,
                     fmt::format("it is for step {}, not for {}",
                                 print_run(key_of(credential.run())), print_run(key))};
    }
    if (geteuid() != 0 && credential.user() != geteuid()) {
        return Error{ErrorCode::LaunchFailed,
                     fmt::format("slurmd of node {} runs as uid {} and can only run that user's "
                                 "jobs, not those of uid {}",
                                 site_->node.name, geteuid(), credential.user())};
    }
    return credential;
}

wire::StepOrder Jobs::make_order(const wire::LaunchCredential& credential) const {
    wire::StepOrder order;
    *order.mutable_run() = credential.run();
    order.set_user(credential.user());
    order.set_group(credential.group());
    *order.mutable_share() = *share_of(credential, site_->node.name);
    renumber(site_->node, site_->gres, *order.mutable_share());
    order.set_node(site_->node.name);
    order.set_hostname(site_->hostname);
    order.set_directory(job_directory(site_->spool, JobId{credential.run().job()}));
    order.set_scratch(scratch_path(site_->scratch, key_of(credential.run()).job));
    order.set_slurm_conf(site_->config.path);
    order.set_cluster_name(site_->config.cluster_name);
    order.set_kill_wait(site_->config.kill_wait.count());
    order.set_gpu_freq_def(site_->config.gpu_freq_def);
    order.set_cpu_freq_def(site_->config.cpu_freq_def);
    order.set_stack_dump_program(site_->config.stack_dump_program);
    order.set_task_prolog(site_->config.task_prolog);
    order.set_task_epilog(site_->config.task_epilog);
    for (const std::string& each : switches_above(site_->config, site_->node.name)) {
        order.add_switches(each);
    }
    wire::Sampling& sampling = *order.mutable_sampling();
    sampling.set_type(site_->config.job_acct_gather_type);
    sampling.set_frequency(site_->config.job_acct_gather_frequency);
    sampling.set_params(site_->config.job_acct_gather_params);
    bool batch = credential.run().step() == kBatchStep.value;
    const std::uint64_t job_memory =
        batch ? order.share().memory() : job_memory_in(credential, site_->node.name);
    *order.mutable_binding() = binding_of(*site_, order.share());
    *order.mutable_confinement() = confinement_of(*site_, order.share(), job_memory, batch);
    *order.mutable_gpus() = gpu_words(*site_, order.share());
    if (site_->config.oci) *order.mutable_oci() = oci_order(*site_->config.oci);
    const std::vector<std::uint32_t> close = close_gpus(*site_, order.share());
    order.mutable_close_gpus()->Add(close.begin(), close.end());
    return order;
}

// Before the Prolog. They are removed when the end of the job on this node is reported.
Result<void> Jobs::make_directories_of(const JobKey& job, wire::StepOrder& order) {
    TRY(scratch_.make(job, order.user(), order.group()));
    private_dirs_.describe(*site_, job, order);
    return private_dirs_.make(*site_, job);
}

void Jobs::remove_directories_of(const JobKey& job) {
    checkpoints_.forget(job);
    scratch_.remove(job);
    private_dirs_.remove(job);
    forget_data(job);
}

void Jobs::launch_batch(const wire::LaunchBatch& launch) {
    const RunKey run = batch_of({JobId{launch.job().job()}, launch.job().restarts()});
    BatchOrdered event{.job = {.key = run.job}};
    if (!wants_batch(node_, run.job)) return handle(event);
    Result<wire::LaunchCredential> credential = check(launch.credential(), run);
    if (!credential) {
        event.refused = credential.error();
        return handle(event);
    }
    if (const Result<void> bound = check_batch(launch, *credential); !bound) {
        event.refused = bound.error();
        return handle(event);
    }
    log_info("launch batch job {} for UID:{} GID:{}", run.job.job.value, credential->user(),
             credential->group());
    wire::StepOrder order = make_order(*credential);
    *order.mutable_batch() = launch;
    order.mutable_batch()->clear_credential();
    event.job = hook_job(order, launch.job());
    note_data(order, launch.job(), "");
    if (Result<void> made = make_directories_of(run.job, order); !made)
        event.refused = made.error();
    if (Result<void> noted = note_sync(order, launch.job()); !noted) event.refused = noted.error();
    launches_[run] = {std::move(order), {}};
    handle(event);
}

void Jobs::prepare(const wire::PrepareJob& demand) {
    Result<wire::LaunchCredential> claimed = claimed_by(demand.credential());
    if (!claimed) return log_error("an order to prepare a job: {}", to_string(claimed.error()));
    const RunKey run = extern_of(key_of(claimed->run()).job);
    PrepareOrdered event{.job = {.key = run.job}, .contain = demand.contain()};
    if (!wants_preparation(node_, run.job)) return handle(event);
    Result<wire::LaunchCredential> credential = check(demand.credential(), run);
    if (!credential) {
        event.refused = credential.error();
        return handle(event);
    }
    wire::StepOrder order = make_order(*credential);
    order.mutable_container();
    order.clear_task_prolog();
    order.clear_task_epilog();
    event.job = hook_job(order, credential->job());
    note_data(order, credential->job(), demand.credential());
    if (const auto data = stage_orders_.find(run.job); data != stage_orders_.end())
        *data->second.mutable_peers() = demand.peers();
    if (Result<void> made = make_directories_of(run.job, order); !made)
        event.refused = made.error();
    if (!event.refused) gpus_.run_begins(run, order.user(), gpus_of(order.share()));
    if (demand.contain()) launches_[run] = {std::move(order), {}};
    handle(event);
}

void Jobs::launch_tasks(const wire::LaunchTasks& launch, Caller caller) {
    const auto refuse = [&](const Error& error) {
        caller.refuse(std::move(caller.connection), error);
    };
    const Result<wire::LaunchCredential> claimed = claimed_by(launch.credential());
    if (!claimed) return refuse(claimed.error());
    const RunKey run = key_of(claimed->run());
    // Refusals that need no signature come first: they do not use the credential up.
    Result<void> may_start = check_caller(caller, *claimed);
    if (may_start) may_start = check_launch(launch, *claimed, site_->node.name);
    if (!may_start) return refuse(may_start.error());
    Result<wire::LaunchCredential> credential = check(launch.credential(), run);
    if (!credential) return refuse(credential.error());
    may_start = may_launch(node_, run, from_unix(credential->issued()));
    if (!may_start) return refuse(may_start.error());
    log_info("launch task StepId={} request from UID:{} GID:{}", print_run(run),
             caller.identity.user.value, caller.identity.group.value);
    wire::StepOrder order = make_order(*credential);
    *order.mutable_tasks() = launch;
    order.mutable_tasks()->clear_credential();
    StepBrought event{run, hook_job(order, credential->job())};
    note_data(order, credential->job(), "");
    if (Result<void> made = make_directories_of(run.job, order); !made)
        event.refused = made.error();
    if (Result<void> noted = note_sync(order, credential->job()); !noted)
        event.refused = noted.error();
    launches_[run] = {std::move(order), std::move(caller)};
    handle(std::move(event));
}

}  // namespace sluice
