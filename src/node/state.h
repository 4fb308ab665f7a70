// node/state.h
//
// What runs on a node, job by job, and what the controller may not know yet: all that slurmd
// decides by. It is not stored. After a restart it is made from what supervisors left in the spool.
#pragma once

#include <deque>
#include <map>

#include "node/values.h"

namespace sluice {

struct RunHere {
    bool is_supervised = false;  // otherwise it waits for the Prolog, or for the user's record
    bool is_started = false;
    bool is_cancelled = false;              // before it was supervised: it must not start
    std::optional<RunEnd> so_far = {};      // its supervisor is killing what is left
    std::optional<Moment> give_up_at = {};  // then it counts as unkillable
};

struct JobHere {
    HookJob hook;
    std::map<StepId, RunHere> runs;
    std::optional<RunEnd> batch_end;
    bool is_ending = false;   // the controller has ordered it
    bool is_closing = false;  // the last synchronisation or the Epilog runs
    bool is_syncing = false;  // the former
    bool has_run = false;     // something of it was started here
    enum class Prolog : std::uint8_t { Wanted, Running, Done } prolog = Prolog::Wanted;
    enum class Data : std::uint8_t { Wanted, Running, Done } data = Data::Wanted;
    std::size_t data_tasks_done = 0;
    bool is_data_stopped = false;
    bool is_prepared_for = false;  // PrologFlags=Alloc: the controller waits for the Prolog

    bool is_preparing() const { return prolog == Prolog::Running || data == Data::Running; }
    bool takes_no_more() const { return is_ending || is_closing || batch_end; }
};

// Jobs that are gone from the node, for as long as a credential is valid: an srun may still bring a
// step of one.
class RecentEnds {
public:
    void add(const JobKey& job, const NodeTime& now);
    bool contains(const JobKey& job) const { return ends_.contains(job); }
    // Whether a credential of that time is from before the job's end here. A later one is valid:
    // the job may have got the node back.
    bool is_after(const JobKey& job, Time issued) const;

private:
    std::map<JobKey, NodeTime> ends_;
    std::deque<std::pair<JobKey, Moment>> order_;
};

// Which users' records are known, and which are being looked up. One run asks for a user, others of
// that user wait: many tasks of an array need one look-up.
struct UserQuestion {
    RunKey asker;
    std::vector<RunKey> waiting;
};

struct NodeState {
    NodeSettings settings;
    std::map<JobKey, JobHere> jobs;
    std::set<RunKey> unacknowledged;  // ended, and the controller may not know yet
    std::set<RunKey> unreleased;      // of these: their supervisor or its mark is still there
    // Steps that were ended before their srun came: it may still come. Kept as long as the job.
    std::set<RunKey> never_start;
    RecentEnds recent_ends;
    std::map<UserKey, Moment> known_users;  // since when
    std::map<UserKey, UserQuestion> questions;

    JobHere* find(const JobKey& key);
    RunHere* find(const RunKey& key);
    const JobHere* find(const JobKey& key) const;
    const RunHere* find(const RunKey& key) const;
};

// All that runs here or that the controller may not know the end of: what the node registers with.
std::vector<RunKey> known_runs(const NodeState& state);

// The time of the next NodeTimerDue.
std::optional<Moment> next_timer(const NodeState& state);

}  // namespace sluice
