// core/job/submit.cc
//
// A new job: whether it is possible, and where it waits. A refusal names what is wrong and changes
// nothing; an accepted job gets its id before any reply is sent.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "core/job/deadline.h"
#include "core/job/dependency.h"
#include "core/job/possible.h"
#include "core/job/resize.h"
#include "core/job/verbs.h"
#include "core/limits/access.h"
#include "core/limits/admission.h"
#include "core/limits/allowance.h"
#include "core/limits/licenses.h"
#include "core/limits/memory.h"
#include "core/limits/qos.h"
#include "core/limits/reservations.h"
#include "core/permission.h"
#include "core/place/place.h"
#include "core/place/use.h"
#include "core/schedule/estimate.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/gpu_freq.h"
#include "model/node_counts.h"
#include "model/sampling.h"
#include "model/times.h"

namespace sluice {

namespace {

Error refuse(ErrorCode code, std::string detail = {}) {
    return Error{code, std::move(detail)};
}

std::string partitions_named(const Cluster& cluster, const JobRequest& demand) {
    if (!demand.partition.empty()) return demand.partition;
    const Partition* standard = cluster.default_partition();
    return standard ? standard->config.name : std::string();
}

Result<std::string> partition_wanted(const Cluster& cluster, const Caller& caller,
                                     const JobRequest& demand) {
    if (!demand.partition.empty())
        return partitions_taking(cluster, demand.partition, caller, demand);
    const Partition* standard = cluster.default_partition();
    if (!standard)
        return refuse(ErrorCode::InvalidPartition,
                      "no partition was named and none is the default");
    return partitions_taking(cluster, standard->config.name, caller, demand);
}

Result<void> check_numbers(const Cluster& cluster, const JobRequest& demand) {
    const Shape& shape = demand.shape;
    if (shape.nodes_max && *shape.nodes_max < shape.nodes_min) {
        return refuse(ErrorCode::InvalidNodeCount,
                      fmt::format("--nodes={}-{}", shape.nodes_min, *shape.nodes_max));
    }
    if (!shape.node_sizes.empty()) TRY(parse_node_sizes(shape.node_sizes));
    if (shape.cpus_per_task == 0) return refuse(ErrorCode::InvalidCpuCount, "--cpus-per-task=0");
    if (shape.ntasks == 0u) return refuse(ErrorCode::InvalidTaskCount, "--ntasks=0");
    if (!demand.array) return {};
    if (demand.array->tasks.empty()) return refuse(ErrorCode::InvalidArray);
    std::uint32_t most = cluster.settings().max_array_size;
    if (demand.array->tasks.last() >= most) {
        return refuse(ErrorCode::InvalidArray, fmt::format("index {} is not below MaxArraySize={}",
                                                           demand.array->tasks.last(), most));
    }
    return {};
}

// Time limit in force: what was asked, else the partition's default, else its maximum, but no more
// than MaxWall of the QOS or the association.
TimeLimit time_limit_in(const Cluster& cluster, const Partition& partition, UserId user,
                        const JobRequest& demand) {
    // Compat: a limit of zero asks for no limit of the job's own.
    if (demand.time_limit &&
        (demand.time_limit->unlimited() || demand.time_limit->length().count() > 0)) {
        return *demand.time_limit;
    }
    return std::min(partition.config.default_time.value_or(partition.config.max_time),
                    wall_limit(cluster, user, demand, partition.config));
}

// Whether there is time enough for it; a deadline that cannot be met is refused.
Result<void> check_times(Time now, const JobRequest& demand, TimeLimit limit) {
    bool no_time =
        demand.time_min && !demand.time_min->unlimited() && demand.time_min->length().count() == 0;
    if (no_time || (demand.time_min && *demand.time_min > limit))
        return refuse(ErrorCode::InvalidTimeMin);
    if (!demand.deadline) return {};
    TimeLimit least = demand.time_min.value_or(demand.time_limit.value_or(TimeLimit{}));
    Seconds length = least.unlimited() ? Seconds{1} : least.length();
    if (std::max(now, demand.begin.value_or(now)) + length > *demand.deadline) {
        return refuse(ErrorCode::InvalidTimeLimit);
    }
    return {};
}

// Jobs may be sampled more often than JobAcctGatherFrequency says, not less often: it is also how
// often OverMemoryKill looks.
Result<void> check_sampling(const Cluster& cluster, const JobRequest& demand) {
    const std::optional<Seconds> asked = TRY(parse_task_sampling(demand.acctg_freq));
    const Seconds most = cluster.settings().task_sampling;
    if (!asked || most.count() == 0) return {};
    if (asked->count() > 0 && *asked <= most) return {};
    return refuse(ErrorCode::InvalidSampling,
                  fmt::format("--acctg-freq={}: expected 1 to JobAcctGatherFrequency={}",
                              demand.acctg_freq, most.count()));
}

Result<Job> job_from(const Cluster& cluster, Time now, const SubmitJob& event) {
    const JobRequest& demand = *event.demand;
    Job job;
    job.request = event.demand;
    job.user = event.caller.user;
    job.group = event.caller.group;
    TRY(check_charge_in_any(cluster, job.user, demand, partitions_named(cluster, demand)));
    TRY(check_wckey(cluster, job.user, demand.wckey));
    TRY(check_qos(cluster, demand));
    job.partition = TRY(partition_wanted(cluster, event.caller, demand));
    TRY(check_numbers(cluster, demand));
    TRY(check_names(cluster, demand.shape));
    TRY(check_spec_resources(cluster, demand.shape));
    if (!demand.mail_user.empty() && !is_mail_address(demand.mail_user)) {
        return refuse(ErrorCode::BadArgument, "--mail-user=" + demand.mail_user);
    }
    if (!demand.tres_freq.empty()) TRY(parse_tres_freq(demand.tres_freq));
    TRY(check_sampling(cluster, demand));
    job.time_limit = time_limit_in(cluster, *cluster.find_partition(partitions_of(job).front()),
                                   job.user, demand);
    TRY(check_times(now, demand, job.time_limit));
    job.request = with_cpus_for_memory(cluster, job);
    TRY(check_possible(cluster, job));
    TRY(check_submission(cluster, job, demand.array ? demand.array->tasks.size() : 1, now));
    job.dependency = TRY(resolve_dependency(cluster, demand.dependency));
    TRY(check_expansion(cluster, job, demand.dependency));
    TRY(check_deadline(demand, now));
    TRY(check_licenses(cluster, demand.licenses));
    TRY(check_reservations(cluster, event.caller.user, demand));
    bool full = cluster.jobs().size() >= cluster.settings().max_job_count;
    if (full && !event.test_only) return refuse(ErrorCode::QueueFull);
    const bool may_raise = may(role_in(cluster, event.caller), Action::RaisePriority);
    if (demand.priority && *demand.priority > 0 && !may_raise) {
        return refuse(ErrorCode::AccessDenied, "--priority is for operators");
    }
    if (demand.nice < 0 && !may_raise) {
        return refuse(ErrorCode::AccessDenied, "a negative --nice is for operators");
    }
    job.submit_time = now;
    job.eligible_time = std::max(now, demand.begin.value_or(now));
    job.idempotency_key = event.idempotency_key;
    return job;
}

void number_job(Cluster& cluster, Time now, const SubmitJob& event, Job& job) {
    const JobRequest& demand = *event.demand;
    job.id = cluster.take_job_id();
    job.run.sluid = next_sluid(cluster, job);
    set_first_priority(cluster, job);
    if (job.priority == 0) {
        job.reason = Reason::JobHeldUser;
    } else if (job.eligible_time > now) {
        job.reason = Reason::BeginTime;
    }
    if (demand.array) {
        job.array_job = job.id;
        job.array_tasks = demand.array->tasks;
        job.array_limit = demand.array->limit;
    }
}

// Shows the id that the next job gets, without using it up.
Result<Submitted> test_answer(const Cluster& cluster, Time now, const Job& job) {
    Submitted answer{.job = cluster.next_job_id(), .warnings = {}};
    Planner planner = scratch_planner(cluster, now);
    auto estimate = estimate_start(cluster, planner, now, job);
    if (!estimate) {
        TRY(check_limits_alone(cluster, job));
        return refuse(ErrorCode::NodesBusy, "no start can be foreseen as things are");
    }
    answer.partition = estimate->partition;
    answer.start_estimate = estimate->start;
    answer.nodes = names_of(cluster, estimate->nodes);
    for (const Chosen& chosen : estimate->nodes)
        answer.cpus += static_cast<std::uint32_t>(chosen.take[Amounts::kCpus]);
    return answer;
}

// Checked here because the job's id was not known when its request was checked.
bool waits_for_itself(const Job& job) {
    return std::any_of(job.dependency.left.begin(), job.dependency.left.end(),
                       [&](const Condition& each) {
                           return each.kind != DependencyKind::Singleton && each.job == job.id;
                       });
}

// The answer to the first of several submissions with the same key.
Answer answer_again(const Cluster& cluster, const SubmitJob& event, JobId id) {
    const auto job = cluster.find_job(id);
    const bool was_refused = event.demand->immediate && job && job->state == JobState::Cancelled &&
                             !job->run.allocation && job->run.restarts == 0;
    if (was_refused) return refuse(ErrorCode::NodesBusy);
    return Submitted{.job = id};
}

SubmitJob with_charge(SubmitJob event, ChargedTo charged) {
    JobRequest demand = *event.demand;
    demand.account = std::move(charged.account);
    demand.qos = std::move(charged.qos);
    demand.wckey = std::move(charged.wckey);
    event.demand = std::make_shared<const JobRequest>(std::move(demand));
    return event;
}

// Nothing if the request has all values.
std::optional<SubmitJob> with_defaults(const Cluster& cluster, const SubmitJob& event) {
    const JobRequest& demand = *event.demand;
    ChargedTo charged =
        charged_to(cluster, event.caller.user, demand, partitions_named(cluster, demand));
    if (charged == ChargedTo{demand.account, demand.qos, demand.wckey}) return std::nullopt;
    return with_charge(event, std::move(charged));
}

}  // namespace

Answer test_submission(const Cluster& cluster, Time now, const SubmitJob& question) {
    if (auto complete = with_defaults(cluster, question))
        return test_submission(cluster, now, *complete);
    Result<Job> job = job_from(cluster, now, question);
    if (!job) return std::move(job).error();
    Result<Submitted> answer = test_answer(cluster, now, *job);
    if (!answer) return std::move(answer).error();
    return *std::move(answer);
}

void on_submit(Cluster& cluster, Time now, const SubmitJob& event, Effects& effects) {
    if (auto known = cluster.find_submission(event.idempotency_key)) {
        effects.push_back(Reply{event.request, answer_again(cluster, event, *known)});
        return;
    }
    if (auto complete = with_defaults(cluster, event))
        return on_submit(cluster, now, *complete, effects);
    cluster.refresh_layout();
    Result<Job> job = job_from(cluster, now, event);
    if (!job) {
        effects.push_back(Reply{event.request, std::move(job).error()});
        return;
    }
    number_job(cluster, now, event, *job);
    if (waits_for_itself(*job)) {
        Error problem =
            refuse(ErrorCode::DependencyProblem, "--dependency=" + event.demand->dependency);
        effects.push_back(Reply{event.request, std::move(problem)});
        return;
    }
    job->request = cluster.shared(*job->request);
    job->details = cluster.shared(PackedDetails(*event.demand));
    JobId id = job->id;
    bool immediate = event.demand->immediate;
    const Job& added = cluster.add_job(*std::move(job));
    job_is_here(cluster, added);
    cluster.tally().submitted += count_of_jobs(added);
    watch_deadline(cluster, added);
    if (added.dependency.empty())
        enqueue(cluster, added, now);
    else
        wait_for_others(cluster, now, id, effects);
    if (immediate) schedule(cluster, now, effects);
    if (immediate && cluster.job(id).state == JobState::Pending) {
        cancel_pending(cluster, now, id, event.caller.user, effects);
        effects.push_back(Reply{event.request, refuse(ErrorCode::NodesBusy)});
        return;
    }
    Submitted answer{.job = id};
    if (std::string never = never_allowed(cluster, cluster.job(id)); !never.empty()) {
        answer.warnings.push_back(std::move(never));
    }
    effects.push_back(Reply{event.request, std::move(answer)});
}

}  // namespace sluice
