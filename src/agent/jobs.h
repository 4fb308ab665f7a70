// agent/jobs.h
//
// What runs on this node: every step's supervisor, job by job. Launches once, passes signals on,
// and reports a job's end only when nothing of it is left here.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/hooks.h"
#include "agent/job_directories.h"
#include "agent/known_users.h"
#include "agent/run_key.h"
#include "agent/site.h"
#include "agent/step_line.h"
#include "auth/identity.h"
#include "auth/launch_credential.h"
#include "os/event_loop.h"

namespace sluice {

class Jobs {
public:
    using Report = std::function<void(wire::AgentReport)>;
    using Refuse = std::function<void(const Error&)>;

    Jobs(EventLoop& loop, std::shared_ptr<const Site> site, Hooks& hooks, Report report);

    void replace_site(std::shared_ptr<const Site> site) { site_ = std::move(site); }
    // The controller's key, which was proven to be its own; kept in the spool.
    Result<void> trust(const std::string& public_key);
    // Finds the runs that an earlier slurmd has started: keeps those that run, reports those that
    // ended.
    void recover();

    void launch_batch(const wire::LaunchBatch& launch);
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
    void signal(const wire::SignalJob& order);
    void terminate(const wire::Terminate& order);
    void on_acknowledged(const wire::AgentReport& report);
    std::vector<wire::RunId> known() const;

private:
    struct Run {
        std::shared_ptr<StepLine> line;  // none while the prolog runs
        std::string place;               // in the mark's name
        bool started = false;
        bool cancelled = false;               // while it had no line yet: it must not start
        std::optional<wire::StepEnd> so_far;  // its supervisor is killing what is left
        EventLoop::TimerId kill_timer = 0;    // then it counts as unkillable
        KnownUsers::Moment kill_time;
    };
    struct JobHere {
        HookJob who;
        std::map<StepId, Run> runs;
        std::optional<wire::StepEnd> batch_end;
        bool ending = false;   // told to terminate
        bool closing = false;  // the epilog runs
        enum class Prolog { Wanted, Running, Done } prolog = Prolog::Wanted;
        std::vector<std::function<void(bool)>> after_prolog;
    };

    Result<wire::LaunchCredential> check(const std::string& credential, const RunKey& key);
    wire::StepOrder make_order(const wire::LaunchCredential& credential) const;
    void set_known_user(wire::StepOrder& order) const;
    void start(wire::StepOrder order, const wire::JobAllocation& facts, std::shared_ptr<Fd> srun,
               Refuse refuse);
    void spawn_step(wire::StepOrder& order, std::shared_ptr<Fd> srun, const Refuse& refuse);
    void with_prolog(const JobKey& key, std::function<void(bool)> next);
    void with_user(wire::StepOrder& order, std::function<void()> next);
    void user_was_asked_for(const RunKey& asker);
    void drop(const RunKey& key);
    void forget_cancelled_steps(const JobKey& key);
    void note_over(const JobKey& key);
    // Whether a credential of that time is from before the job's end here: it may have got the node
    // back.
    bool is_over(const JobKey& key, std::int64_t issued) const;
    StepLine::Handlers handlers_for(const RunKey& key);
    void on_report(const RunKey& key, const wire::StepReport& report);
    void on_end(const RunKey& key, const wire::StepEnd& end);
    void on_gone(const RunKey& key);
    CgroupPlace cgroup_of(const RunKey& key) const;
    void clear_leftovers(const RunKey& key);
    void clear_rest(const RunKey& key);
    // UnkillableStepTimeout after SIGKILL, which comes when the grace time is over.
    void watch_kill(const RunKey& key, Seconds grace);
    void give_up(const RunKey& key);
    wire::StepEnd end_without_report(const Run& run) const;
    void close_if_clean(const JobKey& key);
    void report_end(const JobKey& key, bool epilog_failed);
    void order_end(const JobKey& key, Seconds grace, const std::string& reason_line);
    void report_launched(const RunKey& key, const Error* error = nullptr);  // or that it was not
    void report_launch_failure(const RunKey& key, const Error& error);
    void report_job_ended(const RunKey& key, const wire::StepEnd& end, bool epilog_failed = false);
    void report_step_ended(const RunKey& key, const wire::StepEnd& end);
    void report_refused_step(const RunKey& key, const wire::StepEnd& end);
    void on_usage(const wire::UsageSoFar& usage);
    void answer_usage(std::uint64_t number);
    JobHere* find(const JobKey& key);
    Run* find(const RunKey& key);

    EventLoop& loop_;
    std::shared_ptr<const Site> site_;
    Hooks& hooks_;
    Report report_;
    std::unique_ptr<CredentialVerifier> verifier_;
    std::string public_key_;
    std::map<JobKey, JobHere> jobs_;
    std::set<RunKey> unacknowledged_;  // ended, and the controller may not know yet
    // What is left of runs that ended, until the controller knows: the supervisor, if it has not
    // gone, and the mark.
    struct Rest {
        std::shared_ptr<StepLine> line;
        std::string place;
    };
    std::map<RunKey, Rest> rests_;
    // Steps that were ended before their srun came: it may still come. Kept as long as the job.
    std::set<RunKey> never_start_;
    KnownUsers known_users_;
    // Users and groups that the supervisor of a run looks up, and the runs that wait for the
    // result.
    struct Question {
        RunKey asker;
        std::vector<std::function<void()>> waiting;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Question> questions_;
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
    // Jobs that are gone from here, and when: an srun with a credential for one may still come.
    struct End {
        KnownUsers::Moment moment;
        std::int64_t time;  // of the wall clock, as credentials have it
    };
    std::map<JobKey, End> over_;
    std::deque<std::pair<JobKey, KnownUsers::Moment>> ends_;
};

}  // namespace sluice
