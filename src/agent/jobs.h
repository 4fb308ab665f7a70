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

#include "agent/hooks.h"
#include "agent/job_directories.h"
#include "agent/private_dirs.h"
#include "agent/run_key.h"
#include "agent/scratch.h"
#include "agent/site.h"
#include "agent/step_line.h"
#include "auth/identity.h"
#include "auth/launch_credential.h"
#include "node/apply.h"
#include "os/event_loop.h"

namespace sluice {

class Jobs {
public:
    using Report = std::function<void(wire::AgentReport)>;

    Jobs(EventLoop& loop, std::shared_ptr<const Site> site, Hooks& hooks, Report report);

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
    // Answers with what the supervisors say, at the latest after kUsageTime; a supervisor that has
    // not answered by then is left out. Refused to other users than the job's.
    using UsageAnswer = std::function<void(Result<wire::StepUsages>)>;
    void ask_usage(const wire::AskUsage& question, const Identity& asker, UsageAnswer answer);
    // adoption.cc: jobs of the user that go on here, the one with the highest number last; and a
    // process of a login that joins the container of one (PrologFlags=Contain).
    std::vector<JobKey> jobs_of(std::uint32_t user) const;
    Result<void> adopt(const JobKey& job, pid_t pid);
    // sattach: hands the connection to the supervisor of the step, or says why not.
    void attach(const wire::AttachStep& order, Caller caller);
    void signal(const wire::SignalJob& order);
    void terminate(const wire::Terminate& order);
    // The controller's jobs of this node: what is left of others goes.
    void keep_only(const wire::RunList& jobs);
    void on_acknowledged(const wire::AgentReport& report);
    std::vector<wire::RunId> known() const;

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

    Result<void> make_directories_of(const JobKey& job, wire::StepOrder& order);
    void remove_directories_of(const JobKey& job);
    FoundRun find_run(const Mark& mark);
    void handle(NodeEvent event);
    void set_timer();
    // perform.cc
    void perform(const SpawnStep& effect);
    void perform(const RefuseLaunch& effect);
    void perform(const RunProlog& effect);
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
    Report report_;
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
    JobDirectories directories_;
    Scratch scratch_;
    PrivateDirs private_dirs_;
};

}  // namespace sluice
