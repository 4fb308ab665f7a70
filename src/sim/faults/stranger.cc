// See stranger.h.
#include "sim/faults/stranger.h"

#include <fmt/format.h>

#include "model/errors.h"
#include "model/job_keys.h"

namespace sluice {
namespace {

constexpr RequestId kStrangersRequest{~0ull};

using Records = std::vector<std::shared_ptr<Job>>;

Records records_in(const CowTable<Job>& jobs) {
    Records records;
    jobs.for_each_record([](const ChunkSummary<Job>&) { return true; },
                         [&](const std::shared_ptr<Job>& job) { records.push_back(job); });
    return records;
}

bool is_refusal(const Answer& answer) {
    if (const auto* results = std::get_if<std::vector<JobResult>>(&answer)) {
        for (const JobResult& result : *results) {
            if (!result.error) return false;
        }
        return true;
    }
    return std::holds_alternative<Error>(answer);
}

}  // namespace

JobRef Stranger::ref_to(const Job& job) {
    JobRef ref{.job = job.array_job.value_or(job.id), .tasks = {}, .het_component = {}, .step = {}};
    if (job.array_job && random_.chance(0.7)) {
        const std::uint64_t last = random_.below(6);
        ref.tasks = TaskSet::parse(fmt::format("{}-{}", random_.below(last + 1), last)).value();
    }
    return ref;
}

Event Stranger::request_about(const Job& job) {
    // A user without jobs, or another user of the cluster.
    const bool is_new = random_.chance(0.5);
    const UserId user{is_new ? 2000 : job.user.value == 1000 ? 1001u : 1000u};
    const Caller caller{user, GroupId{user.value}};
    constexpr JobVerb kVerbs[] = {JobVerb::Hold,    JobVerb::UserHold,    JobVerb::Release,
                                  JobVerb::Requeue, JobVerb::RequeueHold, JobVerb::Suspend,
                                  JobVerb::Resume,  JobVerb::Top};
    constexpr std::pair<const char*, const char*> kChanges[] = {
        {"Priority", "0"}, {"Priority", "9"},    {"TimeLimit", "1"},  {"Comment", "x"},
        {"Nice", "5"},     {"Partition", "all"}, {"Account", "mine"}, {"AdminComment", "x"}};
    CancelJobs cancel{.request = kStrangersRequest, .caller = caller, .filter = {}};
    switch (random_.below(12)) {
        case 0:
        case 1:
        case 2:
            return ControlJobs{
                kStrangersRequest, caller, kVerbs[random_.below(std::size(kVerbs))], {ref_to(job)}};
        case 3:
        case 4: {
            const auto& [key, value] = kChanges[random_.below(std::size(kChanges))];
            const JobChange change = parse_job_change({{key, value}}, {}).value();
            return UpdateJob{kStrangersRequest, caller, ref_to(job), change};
        }
        case 5:
            cancel.filter.jobs = {ref_to(job)};
            if (random_.chance(0.3)) cancel.filter.jobs.front().step = StepId{0};
            cancel.signal = random_.chance(0.5) ? 10 : 0;
            return cancel;
        case 6:
            cancel.caller.user = UserId{2000};  // a user without jobs
            cancel.filter.users = {job.user};
            return cancel;
        case 7:
            return WaitJob{kStrangersRequest, caller, job.id,
                           random_.chance(0.5) ? WaitFor::Allocated : WaitFor::Ended};
        case 8:
            return CompleteJob{kStrangersRequest, caller, job.id, {}};
        case 9:
            return CreateStep{kStrangersRequest, caller, StepDemand{.job = job.id}};
        case 10:
            return ShowAllocation{kStrangersRequest, caller, job.id};
        default:
            return UpdateNode{kStrangersRequest, caller, {"n1"}, {.state = NodeCommand::Resume}};
    }
}

std::optional<std::string> Stranger::ask(Cluster& cluster, Time now) {
    const CowTable<Job> kept = cluster.jobs();  // keeps records from being changed in place
    const Records before = records_in(kept);
    if (before.empty()) return {};
    const Job& job = *before[random_.below(before.size())];
    const Event event = request_about(job);
    Effects effects;
    apply(cluster, now, event, effects);
    const std::string what =
        fmt::format("a stranger's request {} about job {}", event.index(), print_job_id(job));
    if (effects.size() != 1) return what + " had effects";
    const Reply* reply = std::get_if<Reply>(&effects.front());
    if (!reply || !is_refusal(reply->answer)) return what + " was not refused";
    apply(cluster, now, RequestDropped{kStrangersRequest}, effects);
    if (effects.size() != 1) return what + " had effects when its connection broke";
    if (records_in(cluster.jobs()) != before) return what + " changed a job";
    ++refusals_;
    return {};
}

}  // namespace sluice
