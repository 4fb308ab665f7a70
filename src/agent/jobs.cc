#include "agent/jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "agent/confinement.h"
#include "agent/devices.h"
#include "agent/launch_check.h"
#include "base/log.h"
#include "model/errors.h"
#include "os/error.h"
#include "os/files.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

constexpr Seconds kRememberedFor{600};  // longer than a credential is valid

KnownUsers::Moment steady_now() {
    return KnownUsers::Moment::clock::now();
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

Jobs::Jobs(EventLoop& loop, std::shared_ptr<const Site> site, Hooks& hooks, Report report)
    : loop_(loop), site_(std::move(site)), hooks_(hooks), report_(std::move(report)) {
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

Jobs::JobHere* Jobs::find(const JobKey& key) {
    auto found = jobs_.find(key);
    return found == jobs_.end() ? nullptr : &found->second;
}

Jobs::Run* Jobs::find(const RunKey& key) {
    JobHere* job = find(key.job);
    if (!job) return nullptr;
    auto found = job->runs.find(key.step);
    return found == job->runs.end() ? nullptr : &found->second;
}

// ---- launching

Result<wire::LaunchCredential> Jobs::check(const std::string& bytes, const RunKey& key) {
    if (!verifier_) {
        return Error{
            ErrorCode::CredentialInvalid,
            fmt::format("node {} has not registered with its controller yet", site_->node.name)};
    }
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
    order.set_slurm_conf(site_->config.path);
    order.set_cluster_name(site_->config.cluster_name);
    order.set_kill_wait(site_->config.kill_wait.count());
    order.set_gpu_freq_def(site_->config.gpu_freq_def);
    order.set_task_prolog(site_->config.task_prolog);
    order.set_task_epilog(site_->config.task_epilog);
    wire::Sampling& sampling = *order.mutable_sampling();
    sampling.set_type(site_->config.job_acct_gather_type);
    sampling.set_frequency(site_->config.job_acct_gather_frequency);
    sampling.set_params(site_->config.job_acct_gather_params);
    bool batch = credential.run().step() == kBatchStep.value;
    const std::uint64_t job_memory =
        batch ? order.share().memory() : job_memory_in(credential, site_->node.name);
    *order.mutable_confinement() = confinement_of(*site_, order.share(), job_memory, batch);
    set_known_user(order);
    const std::vector<std::uint32_t> close = close_gpus(*site_, order.share());
    order.mutable_close_gpus()->Add(close.begin(), close.end());
    return order;
}

void Jobs::set_known_user(wire::StepOrder& order) const {
    const auto* user = known_users_.find(order.user(), order.group(),
                                         site_->config.group_update_time, steady_now());
    if (user) *order.mutable_known_user() = *user;
}

void Jobs::launch_batch(const wire::LaunchBatch& launch) {
    RunKey key{{JobId{launch.job().job()}, launch.job().restarts()}, kBatchStep};
    if (Run* run = find(key)) {
        if (!run->started) return;  // it will be reported when it has
        return report_launched(key);
    }
    if (unacknowledged_.contains(key)) return;  // its end is on the way already
    const JobHere* here = find(key.job);
    if (here && (here->ending || here->closing || here->batch_end)) return;
    Result<wire::LaunchCredential> credential = check(launch.credential(), key);
    if (!credential) return report_launch_failure(key, credential.error());
    log_info("launch batch job {} for UID:{} GID:{}", key.job.job.value, credential->user(),
             credential->group());
    wire::StepOrder order = make_order(*credential);
    *order.mutable_batch() = launch;
    order.mutable_batch()->clear_credential();
    start(std::move(order), launch.job(), std::make_shared<Fd>(),
          [this, key](const Error& error) { report_launch_failure(key, error); });
}

void Jobs::launch_tasks(const wire::LaunchTasks& launch, Caller caller) {
    wire::SignedCredential signed_credential;
    wire::LaunchCredential claimed;
    if (!signed_credential.ParseFromString(launch.credential()) ||
        !claimed.ParseFromString(signed_credential.payload())) {
        return caller.refuse(std::move(caller.connection),
                             {ErrorCode::CredentialInvalid, "this is no launch credential"});
    }
    const RunKey key = key_of(claimed.run());
    // Refusals that need no signature come first: they do not use the credential up.
    Result<void> may_launch = check_launch(launch, claimed, site_->node.name);
    if (caller.identity.user.value != claimed.user() && caller.identity.user.value != 0) {
        may_launch =
            Error{ErrorCode::AccessDenied, fmt::format("the step belongs to uid {}, you are uid {}",
                                                       claimed.user(), caller.identity.user.value)};
    }
    if (!may_launch) return caller.refuse(std::move(caller.connection), may_launch.error());
    Result<wire::LaunchCredential> credential = check(launch.credential(), key);
    if (!credential) return caller.refuse(std::move(caller.connection), credential.error());
    if (never_start_.contains(key)) {
        return caller.refuse(
            std::move(caller.connection),
            {ErrorCode::LaunchFailed,
             fmt::format("step {} was cancelled before it started", print_run(key))});
    }
    const JobHere* here = find(key.job);
    if (is_over(key.job, credential->issued()) ||
        (here && (here->ending || here->closing || here->batch_end))) {
        return caller.refuse(std::move(caller.connection),
                             {ErrorCode::LaunchFailed,
                              fmt::format("job {} has ended on this node", key.job.job.value)});
    }
    if (find(key) || unacknowledged_.contains(key)) {
        return caller.refuse(
            std::move(caller.connection),
            {ErrorCode::LaunchFailed, fmt::format("step {} was launched before", print_run(key))});
    }
    log_info("launch task StepId={} request from UID:{} GID:{}", print_run(key),
             caller.identity.user.value, caller.identity.group.value);
    wire::StepOrder order = make_order(*credential);
    *order.mutable_tasks() = launch;
    order.mutable_tasks()->clear_credential();
    auto connection = std::make_shared<Fd>(std::move(caller.connection));
    start(std::move(order), credential->job(), connection,
          [this, key, connection, refuse = std::move(caller.refuse)](const Error& error) {
              wire::StepEnd end;
              end.mutable_exit()->set_code(1);
              if (is_fault_of_node(error.code)) report_launched(key, &error);
              report_step_ended(key, end);
              refuse(std::move(*connection), error);
          });
}

// Known from here on, so that a repeated order does nothing.
void Jobs::start(wire::StepOrder order, const wire::JobAllocation& facts, std::shared_ptr<Fd> srun,
                 Refuse refuse) {
    RunKey key = key_of(order.run());
    JobHere& job = jobs_[key.job];
    learn(job.who, order, facts);
    job.runs[key.step] = Run{};
    auto kept = std::make_shared<wire::StepOrder>(std::move(order));
    auto go_on = [this, key, kept, srun, refuse](bool ready) {
        JobHere* here = find(key.job);
        if (!here) return;
        Run* run = find(key);
        bool cancelled = run && run->cancelled;
        if (!ready || here->ending || cancelled) {
            refuse(!ready ? Error{ErrorCode::PrologFailed, ""}
                          : Error{ErrorCode::LaunchFailed,
                                  cancelled ? "the step was cancelled before it started"
                                            : "the job was ended before it started"});
            drop(key);
            return close_if_clean(key.job);
        }
        spawn_step(*kept, srun, refuse);
    };
    with_prolog(key.job, [this, kept, go_on](bool ready) {
        if (!ready) return go_on(false);
        with_user(*kept, [go_on] { go_on(true); });
    });
    // The controller gives a step up that its nodes have not got in time, and a prolog may take
    // long.
    if (Run* run = find(key); run && !run->line && key.step != kBatchStep) report_launched(key);
}

void Jobs::spawn_step(wire::StepOrder& order, std::shared_ptr<Fd> srun, const Refuse& refuse) {
    RunKey key = key_of(order.run());
    Result<void> made = directories_.make(site_->spool, key.job.job);
    if (made && !site_->config.epilog.empty()) {
        made = write_file_atomically(epilog_path(site_->spool, key.job),
                                     print_learned(find(key.job)->who), {.mode = 0600});
    }
    if (!made) {
        refuse({ErrorCode::NodeUnable, made.error().detail});
        drop(key);
        return close_if_clean(key.job);
    }
    order.set_place(make_place());
    order.set_mark(mark_path(site_->spool, key, order.place()));
    Result<std::unique_ptr<StepLine>> line =
        StepLine::start(loop_, site_->stepd_path, order, Fd(dup(srun->get())), handlers_for(key));
    if (!line) {
        refuse(line.error());
        drop(key);
        return close_if_clean(key.job);
    }
    srun->reset();
    find(key)->line = std::move(*line);
    find(key)->place = order.place();
}

void Jobs::with_prolog(const JobKey& key, std::function<void(bool)> next) {
    JobHere& job = *find(key);
    if (job.prolog == JobHere::Prolog::Done || site_->config.prolog.empty()) {
        job.prolog = JobHere::Prolog::Done;
        return next(true);
    }
    job.after_prolog.push_back(std::move(next));
    if (job.prolog == JobHere::Prolog::Running) return;
    job.prolog = JobHere::Prolog::Running;
    hooks_.run(*site_, true, job.who, [this, key](int status) {
        JobHere* here = find(key);
        if (!here) return;
        if (status != 0) log_error("prolog of job {} failed", key.job.value);
        here->prolog = status == 0 ? JobHere::Prolog::Done : JobHere::Prolog::Wanted;
        std::vector<std::function<void(bool)>> waiting;
        waiting.swap(here->after_prolog);
        for (auto& each : waiting) each(status == 0);
    });
}

// One run looks up the user, other runs of that user wait for the result: many tasks of an array
// need one look-up.
void Jobs::with_user(wire::StepOrder& order, std::function<void()> next) {
    if (order.has_known_user()) return next();
    auto [question, is_first] =
        questions_.try_emplace({order.user(), order.group()}, Question{key_of(order.run()), {}});
    if (is_first) return next();
    question->second.waiting.push_back([this, &order, next = std::move(next)] {
        set_known_user(order);
        next();
    });
}

// If there was no answer, each may ask for itself.
void Jobs::user_was_asked_for(const RunKey& asker) {
    const auto question =
        std::find_if(questions_.begin(), questions_.end(),
                     [&](const auto& entry) { return entry.second.asker == asker; });
    if (question == questions_.end()) return;
    loop_.later([waiting = std::move(question->second.waiting)] {
        for (const auto& each : waiting) each();
    });
    questions_.erase(question);
}

// A run that never was: the job stays only if something else of it is here.
void Jobs::drop(const RunKey& key) {
    user_was_asked_for(key);
    JobHere* job = find(key.job);
    if (!job) return;
    job->runs.erase(key.step);
    if (job->runs.empty() && !job->ending && !job->batch_end) jobs_.erase(key.job);
}

void Jobs::note_over(const JobKey& key) {
    const auto time = steady_now();
    while (!ends_.empty() && ends_.front().second + kRememberedFor < time) {
        auto known = over_.find(ends_.front().first);
        if (known != over_.end() && known->second.moment == ends_.front().second)
            over_.erase(known);
        ends_.pop_front();
    }
    over_[key] = {time, std::time(nullptr)};
    ends_.emplace_back(key, time);
}

bool Jobs::is_over(const JobKey& key, std::int64_t issued) const {
    auto end = over_.find(key);
    return end != over_.end() && issued <= end->second.time;
}

void Jobs::forget_cancelled_steps(const JobKey& key) {
    std::erase_if(never_start_, [&](const RunKey& step) { return step.job == key; });
}

StepLine::Handlers Jobs::handlers_for(const RunKey& key) {
    return {[this, key](const wire::StepReport& report) { on_report(key, report); },
            [this, key] { on_gone(key); }};
}

}  // namespace sluice
