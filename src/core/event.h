// core/event.h
//
// All that can happen to the cluster. Events are values: caller and request id are part of them,
// the connection is not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/settings.h"
#include "model/filter.h"
#include "model/gpu_report.h"
#include "model/job.h"
#include "model/job_change.h"
#include "model/node.h"
#include "model/policy.h"
#include "model/reservation.h"
#include "model/trigger.h"

namespace sluice {

using RequestId = Id<struct RequestIdTag, std::uint64_t>;  // chosen by the shell

struct Caller {
    UserId user;
    GroupId group;
    std::vector<std::string> groups =
        {};                              // names, looked up by the shell if AllowGroups needs them
    std::optional<UserId> sent_by = {};  // an administrator who named another user (--uid, --gid)
    bool sent_by_root = false;           // root may have named another user with --uid
    // The host that the request came from, under each of its names in AllocNodes: looked up by the
    // shell from the connection.
    std::vector<std::string> hosts = {};
};
inline constexpr Caller kRoot{UserId{0}, GroupId{0}};

// ---- from users

struct SubmitJob {
    RequestId request;
    Caller caller;
    std::shared_ptr<const JobRequest> demand;
    std::string idempotency_key;  // empty: none
    bool test_only = false;
};

struct CancelJobs {
    RequestId request;
    Caller caller;
    Filter filter;
    int signal = 0;                  // 0: cancel
    bool batch_shell = false;        // --batch
    bool full = false;               // --full
    std::string admin_comment = {};  // empty: none
    std::string message = {};  // scontrol notify: for its standard error; nothing else happens
};

enum class JobVerb : std::uint8_t {
    Hold,
    UserHold,
    Release,
    Requeue,
    RequeueHold,
    Suspend,
    Resume,
    Top
};

struct ControlJobs {
    RequestId request;
    Caller caller;
    JobVerb verb = JobVerb::Hold;
    std::vector<JobRef> jobs;
    bool special_exit = false;  // RequeueHold: shown as SPECIAL_EXIT
};

// strigger --set, --clear (core/triggers.h).
struct SetTrigger {
    RequestId request;
    Caller caller;
    TriggerRequest demand;
};

struct ClearTriggers {
    RequestId request;
    Caller caller;
    TriggerChoice choice;
};

struct UpdateJob {
    RequestId request;
    Caller caller;
    JobRef job;
    JobChange change;
};

struct UpdateNode {
    RequestId request;
    Caller caller;
    std::vector<std::string> nodes;
    NodeChange change;
};

struct UpdatePartition {
    enum class Verb { Update, Create, Delete };
    RequestId request;  // 0: no reply
    Caller caller;
    std::string partition;
    PartitionChange change;
    Verb verb = Verb::Update;
    std::vector<Caller> job_owners =
        {};  // with groups, looked up by the shell: AllowGroups may exclude them
};

struct StepDemand {
    JobId job;
    std::string name;
    std::uint32_t nodes_min = 0;  // 0: as the job
    std::uint32_t nodes_max = 0;  // 0: as the job
    std::optional<std::uint32_t> ntasks;
    std::optional<std::uint32_t> ntasks_per_node;
    std::optional<std::uint32_t> cpus_per_task;
    std::optional<Megabytes> mem_per_node;
    std::optional<Megabytes> mem_per_cpu;
    std::vector<GresCount> gres_per_node;
    std::vector<GresCount> gpus_per_task;
    std::vector<GresCount> gpus;
    std::string nodelist;
    std::string exclude;
    bool exact = false;
    bool overlap = false;
    bool immediate = false;
    TimeLimit time_limit;
    std::string distribution;  // model/distribution.h; empty: as it fits
    bool overcommit = false;
    std::uint32_t first_node = 0;  // --relative: the job's nodes before it are not used
    std::string tres_bind;
    std::string node_sizes;  // "1,5,9": the allowed counts from nodes_min to nodes_max
    std::optional<std::uint32_t> resv_ports = {};  // 0: as many as a node has tasks
    std::optional<std::uint32_t> ntasks_per_core = {}, ntasks_per_socket = {};
    std::optional<std::uint32_t> threads_per_core = {};  // at most so many of each core are used
    std::string container = {};                          // as Step has it
    std::string container_id = {};
    std::string key = {};  // a repeated request with the same key gets the same step; empty: none
    bool only_number = false;           // srun --async: answered at once by the step's number
    std::optional<StepId> number = {};  // that was answered before
};

struct CreateStep {
    RequestId request;
    Caller caller;
    StepDemand demand;
};

enum class WaitFor : std::uint8_t { Allocated, Ended, StepsEnded };

struct WaitJob {
    RequestId request;
    Caller caller;
    JobId job;
    WaitFor until = WaitFor::Ended;
    std::optional<StepId> own_step = {};  // the step that waits for the others
};

// The client of a waiting request has disconnected: no reply is needed. An interactive job that
// still waits for its nodes is cancelled.
struct RequestDropped {
    RequestId request;
};

// The owner gives an interactive allocation back.
struct CompleteJob {
    RequestId request;
    Caller caller;
    JobId job;
    ExitStatus exit;
};

struct ShowAllocation {
    RequestId request;
    Caller caller;
    JobId job;
};

// Asks why a job waits. Changes nothing.
struct ExplainJob {
    RequestId request;
    Caller caller;
    JobRef job;
};

struct ChangeReservation {
    RequestId request;
    Caller caller;
    ReservationChange change;
};

// scontrol reboot. A second request replaces the first, until the node has been told.
struct RebootNodes {
    RequestId request;
    Caller caller;
    std::vector<std::string> nodes;
    bool asap = false;  // no new job starts there until it is done
    AfterReboot next = AfterReboot::AsBefore;
    std::string reason;
};

// scontrol create and delete NodeName=.
struct CreateNodes {
    RequestId request;
    Caller caller;
    std::vector<NodeConfig> nodes;
};

struct DeleteNodes {
    RequestId request;
    Caller caller;
    std::vector<std::string> nodes;
};

// ---- from nodes

struct NodeRegistered {
    std::string node;
    NodeFacts facts;
    std::vector<RunId> running;
    Seconds clock_ahead{0};                               // relative to the controller's clock
    std::shared_ptr<const NodeConfig> dynamic = nullptr;  // slurmd -Z: what it says that it is
    std::string address = {};                             // where it connects from
};

struct NodeHeartbeat {
    NodeIndex node;
    double load = 0;
    Megabytes free_memory = 0;
    Seconds clock_steps{0};  // by how much its clock was set since it registered
    Megabytes free_scratch = 0;
};

// How far a node is with the data that a job needs before it starts.
struct DataProgressed {
    RunId run;
    DataProgress progress;
};

// All datasets that are in the cache of a node now: NodeFacts::datasets.
struct DataCached {
    NodeIndex node;
    std::vector<std::uint64_t> datasets;
};

// PrologSlurmctld of this run has ended.
struct JobProgramEnded {
    RunId run;
    bool failed = false;
};

// SuspendProgram or ResumeProgram runs for these nodes.
struct PowerProgramStarted {
    PowerProgram program = PowerProgram::Suspend;
    std::vector<std::string> nodes;
};

// The connection to a node broke. The node is not lost yet: that takes SlurmdTimeout.
struct NodeDisconnected {
    NodeIndex node;
};

struct LaunchReported {
    NodeIndex node;
    RunId run;
    std::optional<Error> error;
};

struct JobEnded {
    NodeIndex node;
    RunId run;
    ExitStatus exit;
    std::optional<Error> launch_error;
    bool epilog_failed = false;
    Usage usage = {};          // of the batch script
    bool is_cleaning = false;  // something of the job is still there: its end is reported again
    NodeUse use = {};
};

struct StepEnded {
    NodeIndex node;
    RunId run;
    ExitStatus exit;
    bool srun_lost = false;  // ended because its srun was gone
    Usage usage = {};        // on this node
};

struct NodeCleaned {
    NodeIndex node;
    RunId run;
    bool epilog_failed = false;
    NodeUse use = {};
};

// Processes of the run could not be killed. Its end is reported nevertheless.
struct KillFailed {
    NodeIndex node;
    RunId run;
};

// A synchronisation of --sync has ended, or the scratch directory of the run is too large.
struct DataReported {
    NodeIndex node;
    RunId run;
    std::optional<Time> saved = {};  // when its newest saved checkpoint was written
    std::string problem = {};
};

// After each sample of its GPUs.
struct GpusReported {
    NodeIndex node;
    GpuReport report;
};

// ---- from the shell

struct Tick {};  // a timer is due

// The controller was blocked: messages that arrived meanwhile come after this event.
struct StoodStill {
    Seconds length{0};
};

// The controller's wall clock was set: the time of this event is by the new clock.
struct ClockStepped {
    Seconds by{0};  // negative: back
};

// A controller or a database has failed, or works again: for triggers.
struct ServiceChanged {
    TriggerEvent what = TriggerEvent::SlurmdbdFailed;
};

// Facts up to this number are in the accounting database (core/facts.h).
struct FactsDelivered {
    std::uint64_t last = 0;
};

// Accounting has decided anew about users, QOS and limits: of this cluster only, with the numbers
// of the users that are known here.
struct PolicyChanged {
    std::shared_ptr<const Policy> policy;
};

// What runs used that the accounting database got from another cluster manager.
struct UsageImported {
    std::shared_ptr<const UsageImport> import;
};

struct Reconfigure {
    RequestId request;  // 0: by signal, no reply
    Caller caller;
    std::shared_ptr<const Settings> settings;
};

using Event = std::variant<
    SubmitJob, CancelJobs, ControlJobs, UpdateJob, UpdateNode, UpdatePartition, CreateStep, WaitJob,
    RequestDropped, CompleteJob, ShowAllocation, NodeRegistered, NodeHeartbeat, DataProgressed,
    DataCached, NodeDisconnected, LaunchReported, JobEnded, StepEnded, NodeCleaned, KillFailed,
    Tick, Reconfigure, ExplainJob, ChangeReservation, RebootNodes, ClockStepped, StoodStill,
    FactsDelivered, PolicyChanged, JobProgramEnded, UsageImported, DataReported, CreateNodes,
    DeleteNodes, PowerProgramStarted, GpusReported, SetTrigger, ClearTriggers, ServiceChanged>;

}  // namespace sluice
