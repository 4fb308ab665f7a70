// agent/jobs.h
//
// The runs of this node. node/ decides; this turns messages into its events and performs its
// effects: it has the supervisors, the spool, the programs around a job and the timers.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/checkpoints.h"
#include "agent/gpu_watch.h"
#include "agent/hooks.h"
#include "agent/job_directories.h"
#include "agent/private_dirs.h"
#include "agent/run_key.h"
#include "agent/scratch.h"
#include "agent/site.h"
#include "agent/stager.h"
#include "agent/step_line.h"
#include "auth/identity.h"
#include "auth/launch_credential.h"
#include "node/apply.h"
#include "os/event_loop.h"

namespace sluice {

class Jobs {
public:
    struct ToController {
        std::function<void(wire::AgentReport)> report;            // until it is stored
        std::function<void(const wire::AgentReport&)> tell = {};  // once, if there is a connection
    };

    Jobs(EventLoop& loop, std::shared_ptr<const Site> site, Hooks& hooks, GpuWatch& gpus,
         ToController controller);

    void replace_site(std::shared_ptr<const Site> site) { site_ = std::move(site); }
    // The controller's key, which was proven to be its own; kept in the spool.
    Result<void> trust(const std::string& public_key);
    // Finds the runs that an earlier slurmd has started: keeps those that run, reports those that
    // ended.
    void recover();

    void launch_batch(const wire::LaunchBatch& launch);
    void prepare(const wire::PrepareJob& order);
    // Takes the connection over, or says why not.
    struct Caller {
        Identity identity;
        Fd connection;
        std::function<void(Fd, const Error&)> refuse;  // gets the connection back
    };
    void launch_tasks(const wire::LaunchTasks& launch, Caller caller);
    // launch_tree.cc: the same for several nodes, of which this one is the first. Their tasks are
    // launched by a relay.
    void launch_tree(const wire::LaunchTree& tree, Caller caller);
    // Answers with what the supervisors say, at the latest after kUsageTime; a supervisor that has
    // not answered by then is left out. Refused to other users than the job's.
    using UsageAnswer = std::function<void(Result<wire::StepUsages>)>;
    void ask_usage(const wire::AskUsage& question, const Identity& asker, UsageAnswer answer);
    // adoption.cc: jobs of the user that go on here, the one with the highest number last; and a
    // process of a login that joins the container of one (PrologFlags=Contain).
    std::vector<JobKey> jobs_of(std::uint32_t user) const;
    std::vector<JobKey> going_on() const;  // of all users
    // What runs of the job on this node ends; its record and its output say why.
    void end_for_data(const JobKey& job, const std::string& why);
    Result<void> adopt(const JobKey& job, pid_t pid);
    // sattach: hands the connection to the supervisor of the step, or says why not.
    void attach(const wire::AttachStep& order, Caller caller);
    // data.cc: sdata stage of that user, in a job of the user.
    using Staged = std::function<void(const std::optional<Error>&)>;
    void stage_now(JobId job, uid_t user, const std::string& source, Staged done);
    // data.cc: another node gets pieces of a dataset, or is told why not.
    void serve_peer(const wire::DataPeer& peer, Caller caller);
    void signal(const wire::SignalJob& order);
    void terminate(const wire::Terminate& order);
    // The controller's jobs of this node: what is left of others goes.
    void keep_only(const wire::RunList& jobs);
    void on_acknowledged(const wire::AgentReport& report);
    void on_exit(pid_t pid, int wait_status) { checkpoints_.on_exit(pid, wait_status); }
    std::vector<wire::RunId> known() const;
    std::set<JobKey> jobs_here() const;
    std::vector<pid_t> supervisors_of(const JobKey& job) const;
    // data.cc: in the cache of this node.
    const std::vector<std::uint64_t>& datasets() const { return datasets_; }

private:
    // An order whose run has not been started yet.
    struct Launch {
        wire::StepOrder order;
        Caller caller = {};  // of a step
    };
    // From its start until the controller knows the end of its run.
    struct Supervisor {
        std::shared_ptr<StepLine> line;  // none: it is gone
        std::string place;               // in the mark's name
    };

    Result<wire::LaunchCredential> check(const std::string& credential, const RunKey& key);
    wire::StepOrder make_order(const wire::LaunchCredential& credential) const;
    // Steps are launched by their user; root launches for all.
    static Result<void> check_caller(const Caller& caller, const wire::LaunchCredential& claimed);
    Error not_registered_yet() const;
    Result<void> start_relay(const wire::LaunchTree& tree, const Caller& caller);

    Result<void> make_directories_of(const JobKey& job, wire::StepOrder& order);
    Result<void> note_sync(const wire::StepOrder& order, const wire::JobAllocation& facts);
    void remove_directories_of(const JobKey& job);
    FoundRun find_run(const Mark& mark);
    // data.cc
    void note_data(const wire::StepOrder& order, const wire::JobAllocation& job,
                   const std::string& credential);
    void tell_progress(const JobKey& job, const wire::StageProgress& progress);
    void set_datasets(std::vector<std::uint64_t> datasets);
    void forget_data(const JobKey& job);
    void recover_data();
    void set_places(wire::StageOrder& order) const;
    void tidy_data();
    void handle(NodeEvent event);
    void set_timer();
    // perform.cc
    void perform(const SpawnStep& effect);
    void perform(const RefuseLaunch& effect);
    void perform(const RunProlog& effect);
    void perform(const RunDataTask& effect);
    void perform(const StopDataTask& effect);
    void perform(const RunFinalSync& effect);
    void perform(const RunEpilog& effect);
    void perform(const PassSignal& effect);
    void perform(const EndRun& effect);
    void perform(const ReleaseRun& effect);
    void perform(const KillLeftovers& effect);
    void perform(const GiveUpRun& effect);
    void perform(const RemoveDirectory& effect);
    void perform(const ReportLaunch& effect);
    void perform(const ReportJobEnd& effect);
    void perform(const ReportStepEnd& effect);
    void perform(const ReportCleaned& effect);
    void perform(const ReportKillFailed& effect);
    void report_data(const Checkpoints::News& news);
    Result<void> spawn_supervisor(const SpawnStep& effect, Launch& launch);

    StepLine::Handlers handlers_for(const RunKey& key);
    void on_report(const RunKey& key, const wire::StepReport& report);
    void on_gone(const RunKey& key);
    void clear_leftovers(const RunKey& key);
    CgroupPlace cgroup_of(const RunKey& key) const;
    StepLine* line_to(const RunKey& key);  // nullptr: there is none
    std::optional<RunEnd> end_in_mark(const RunKey& key, const std::string& place) const;
    // Those of other users are for root and SlurmUser only.
    bool may_see_steps(const Identity& asker, std::uint32_t owner) const;
    void on_usage(const wire::UsageSoFar& usage);
    void answer_usage(std::uint64_t number);

    EventLoop& loop_;
    std::shared_ptr<const Site> site_;
    Hooks& hooks_;
    GpuWatch& gpus_;
    ToController controller_;
    std::unique_ptr<CredentialVerifier> verifier_;
    std::string public_key_;
    NodeState node_;
    std::deque<NodeEvent> events_;  // what effects have caused, until it is decided
    bool is_deciding_ = false;
    EventLoop::TimerId timer_ = 0;
    std::optional<Moment> timer_time_;
    std::map<RunKey, Launch> launches_;
    std::map<RunKey, Supervisor> supervisors_;
    // As the last supervisor that asked the system found them. slurmd never asks itself: the answer
    // may take long.
    std::map<UserKey, wire::UserRecord> users_;
    // Questions of sstat that supervisors have not answered yet, by number.
    struct UsageQuestion {
        std::size_t open = 0;  // supervisors that were asked and have not answered
        wire::StepUsages answers;
        UsageAnswer answer;
        EventLoop::TimerId patience = 0;
    };
    std::map<std::uint64_t, UsageQuestion> usage_questions_;
    std::uint64_t next_question_ = 1;
    // Of jobs with data work; and jobs that may use datasets of the cache.
    std::map<JobKey, wire::StageOrder> stage_orders_;
    std::set<JobKey> data_jobs_;
    std::vector<std::uint64_t> datasets_;
    Stager stager_;
    JobDirectories directories_;
    Checkpoints checkpoints_;
    Scratch scratch_;
    PrivateDirs private_dirs_;
};

}  // namespace sluice
