// sim/faults/fault_commands.cc: what users and administrators do to jobs.
#include <fmt/format.h>

#include "model/job_keys.h"
#include "sim/faults/fault_world.h"

namespace sluice {
namespace {

constexpr Caller kUser{UserId{1000}, GroupId{1000}};
constexpr Seconds kLook{60};

JobRef ref_to(JobId job) {
    return {.job = job, .tasks = {}, .het_component = {}, .step = {}};
}

}  // namespace

std::optional<JobRef> FaultWorld::random_job() {
    const Client& client = clients_[dice("commands").below(clients_.size())];
    if (!client.job) return {};
    JobRef ref = ref_to(*client.job);
    bool one_task = options_.wide && client.request->array && dice("commands").chance(0.4);
    if (one_task) ref.tasks = TaskSet::parse(std::to_string(dice("commands").below(5))).value();
    return ref;
}

void FaultWorld::command() {
    std::optional<JobRef> ref = random_job();
    if (!ref) return;
    if (options_.wide && dice("commands").chance(0.15) && !busy_.empty()) {
        const JobKey& job = busy_[dice("commands").below(busy_.size())];
        return cancel_step({job, StepId{static_cast<std::uint32_t>(dice("commands").below(3))}});
    }
    if (options_.wide && dice("commands").chance(0.4)) return update_somebody(*ref);
    control_somebody(*ref);
}

void FaultWorld::control_somebody(const JobRef& ref) {
    RequestId request{next_request_++};
    constexpr JobVerb kVerbs[] = {JobVerb::Hold,     JobVerb::Release, JobVerb::Requeue,
                                  JobVerb::Suspend,  JobVerb::Resume,  JobVerb::RequeueHold,
                                  JobVerb::UserHold, JobVerb::Top};
    constexpr std::size_t kFew = 5;
    if (dice("commands").chance(options_.wide ? 0.2 : 0.4)) {
        CancelJobs cancel{
            .request = request, .caller = options_.wide ? kRoot : kUser, .filter = {}};
        if (options_.wide && dice("commands").chance(0.2)) cancel.signal = 10;
        cancel.filter.jobs.push_back(ref);
        return push({std::move(cancel), {}});
    }
    JobVerb verb = kVerbs[dice("commands").below(options_.wide ? std::size(kVerbs) : kFew)];
    if (options_.wide) {
        ask(fmt::format("control {}", static_cast<int>(verb)),
            [verb, ref](RequestId id) {
                return ControlJobs{id, kRoot, verb, {ref}};
            },
            {});
    } else {
        push({ControlJobs{request, kRoot, verb, {ref}}, {}});
    }
}

void FaultWorld::update_somebody(const JobRef& ref) {
    auto number = [&](std::int64_t low, std::int64_t high) {
        return std::to_string(dice("commands").between(low, high));
    };
    std::pair<std::string, std::string> change;
    switch (dice("commands").below(11)) {
        case 0:
            change = {"TimeLimit", number(1, 6)};
            break;
        case 1:
            change = {"Partition", dice("commands").chance(0.5)   ? "urgent"
                                   : dice("commands").chance(0.5) ? "all"
                                                                  : "half,all"};
            break;
        case 2:
            change = {"ArrayTaskThrottle", number(0, 3)};
            break;
        case 3:
            change = {"Nice", number(0, 200)};
            break;
        case 4:
            change = {"Licenses", dice("commands").chance(0.5) ? "" : "matlab:" + number(1, 2)};
            break;
        case 5:
            change = {"NumTasks", number(1, 4)};
            break;
        case 6:
            change = {"Requeue", number(0, 1)};
            break;
        case 7:
            change = {"Priority", number(0, 2000)};
            break;
        case 8:
            change = {"ReservationName", dice("commands").chance(0.5) ? "" : "r" + number(1, 3)};
            break;
        case 9: {
            std::optional<JobRef> other = random_job();
            change = {"Dependency", other && dice("commands").chance(0.7)
                                        ? fmt::format("afterany:{}", other->job.value)
                                        : ""};
            break;
        }
        default:
            change = {"StartTime", fmt::format("now+{}", number(0, 120))};
            break;
    }
    ask("update " + change.first,
        [ref, parsed = parse_job_change({change}, now_).value()](RequestId request) {
            return UpdateJob{request, kRoot, ref, parsed};
        },
        {});
}

// Without this, jobs that users have put aside or that wait for what never comes would do so for
// ever.
void FaultWorld::look_after_jobs() {
    std::vector<JobRef> held, suspended, hopeless, too_long;
    for (const auto& [id, job] : rows_.jobs()) {
        if (job.state == JobState::Pending && job.priority == 0) held.push_back(ref_to(JobId{id}));
        if (job.state == JobState::Suspended) suspended.push_back(ref_to(JobId{id}));
        // sched/builtin does not say which jobs cannot be placed.
        bool nowhere = !first_settings_->backfill.enabled && now_ > calm_from_ + Seconds{3 * 3600};
        // The same for jobs whose reservation has become too small for them.
        nowhere =
            nowhere || (!job.request->reservation.empty() && now_ > calm_from_ + Seconds{3 * 3600});
        bool never = job.dependency.never() || job.reason == Reason::BadConstraints || nowhere;
        if (job.state == JobState::Pending && never) hopeless.push_back(ref_to(JobId{id}));
        if (job.reason == Reason::PartitionTimeLimit) too_long.push_back(ref_to(JobId{id}));
    }
    auto control = [&](JobVerb verb, std::vector<JobRef> jobs) {
        if (jobs.empty()) return;
        push({ControlJobs{RequestId{next_request_++}, kRoot, verb, std::move(jobs)}, {}});
    };
    control(JobVerb::Release, std::move(held));
    if (options_.by_qos) lift_limits();
    control(JobVerb::Resume, std::move(suspended));
    if (options_.wide) {
        if (!hopeless.empty()) {
            CancelJobs cancel{.request = RequestId{next_request_++}, .caller = kRoot, .filter = {}};
            cancel.filter.jobs = std::move(hopeless);
            push({std::move(cancel), {}});
        }
        for (const JobRef& ref : too_long)
            push(
                {UpdateJob{
                     RequestId{next_request_++}, kRoot, ref, {.time_limit = TimeLimit{Minutes{2}}}},
                 {}});
        look_after_cluster();
        if (cluster_) check_steps();
    }
    later(kLook, [this] { look_after_jobs(); });
}

}  // namespace sluice
