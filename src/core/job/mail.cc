#include "core/job/mail.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/times.h"

namespace sluice {

namespace {

struct LimitPart {
    MailType type;
    int percent;
};
constexpr LimitPart kLimitParts[] = {
    {MailType::TimeLimit50, 50}, {MailType::TimeLimit80, 80}, {MailType::TimeLimit90, 90}};

bool wants(const Job& job, MailType type) {
    return has_mail_type(job.request->mail_types, type);
}

bool is_heard_of_as_a_whole(const Job& job) {
    return job.array_job && !job.request->mail_types.empty() && !wants(job, MailType::ArrayTasks);
}

// Compat: a waiting array with ARRAY_TASKS is shown by its id alone.
std::string name_of(const Job& job) {
    const std::string name(job.details->name());
    if (is_heard_of_as_a_whole(job)) {
        return fmt::format("Slurm Array Summary Job_id={0}_* ({0}) Name={1}", job.array_job->value,
                           name);
    }
    if (!job.array_task) return fmt::format("Slurm Job_id={} Name={}", job.id.value, name);
    return fmt::format("Slurm Array Task Job_id={}_{} ({}) Name={}", job.array_job->value,
                       *job.array_task, job.id.value, name);
}

// A line end in a name would start a new mail header.
std::string on_one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    return text;
}

// `length`: how long it has waited (begin) or run.
void send(MailType type, const Job& job, std::optional<Seconds> length, const std::string& ending,
          Effects& effects, std::optional<TaskEndings> tasks = {}) {
    std::string subject = fmt::format("{} {}", name_of(job), mail_word(type));
    if (length && !is_heard_of_as_a_whole(job)) {
        const char* did = type == MailType::Begin ? "Queued" : "Run";
        subject += fmt::format(", {} time {}", did, print_duration(*length));
    }
    if (!ending.empty()) subject += ", " + ending;
    effects.push_back(SendMail{type, std::make_shared<const Job>(job),
                               on_one_line(std::move(subject)), length, tasks});
}

std::optional<Seconds> mailed_time(const Job& job, Time now) {
    if (!job.run.start_time) return {};
    return job.run.end_time.value_or(now) - *job.run.start_time - job.run.suspended;
}

Time part_of_limit(const Job& job, int percent) {
    return *job.run.start_time + job.run.suspended + job.time_limit.length() * percent / 100;
}

// Compat: a job that was ended from outside shows exit code 0, one killed by a signal shows none.
std::string ending_in_words(const Job& job) {
    const std::string state(state_name(job.state));
    const bool was_ended = job.state == JobState::Cancelled || job.run.kill_reason;
    if (was_ended) return state + ", ExitCode 0";
    return job.run.exit.signal != 0 ? state
                                    : fmt::format("{}, ExitCode {}", state, job.run.exit.code);
}

// One mail, of whichever type was asked for.
std::optional<MailType> end_type(const Job& job, bool failed) {
    if (failed && wants(job, MailType::Fail)) return MailType::Fail;
    if (wants(job, MailType::End)) return MailType::End;
    return {};
}

void array_task_ended(Cluster& cluster, const Job& job, Effects& effects) {
    const TaskEndings endings = cluster.arrays().note_end(*job.array_job, job);
    if (!is_array_over(cluster, *job.array_job)) return;
    // Compat: if END is requested, killed tasks alone do not make the array a failure.
    const bool failed = endings.exit_max > 0 || (endings.has_failed && !wants(job, MailType::End));
    const auto type = end_type(job, failed);
    if (type)
        send(*type, job, mailed_time(job, *job.run.end_time), endings.print(), effects, endings);
    cluster.arrays().forget_news(*job.array_job);
}

}  // namespace

void mail_of_policy(MailType type, const Job& job, const std::string& line, Effects& effects) {
    send(type, job, {}, line, effects);
}

void mail(MailType type, Time now, const Job& job, Effects& effects) {
    if (wants(job, type)) send(type, job, mailed_time(job, now), "", effects);
}

void mail_start(Cluster& cluster, const Job& job, Effects& effects) {
    if (job.request->mail_types.empty()) return;
    const bool is_known =
        is_heard_of_as_a_whole(job) && !cluster.arrays().note_begin(*job.array_job);
    if (is_known || !wants(job, MailType::Begin)) return;
    const Time since =
        job.run.restarts > 0 ? job.eligible_time : job.submit_time;  // a requeue starts a new wait
    send(MailType::Begin, job, *job.run.start_time - since, "", effects);
}

void mail_end(Cluster& cluster, const Job& job, Effects& effects) {
    if (job.request->mail_types.empty()) return;
    if (is_heard_of_as_a_whole(job)) return array_task_ended(cluster, job, effects);
    const auto type = end_type(job, has_failed(job.state));
    if (type) send(*type, job, mailed_time(job, *job.run.end_time), ending_in_words(job), effects);
}

void mail_requeue(Cluster& cluster, Time now, const Job& job, Effects& effects) {
    if (is_heard_of_as_a_whole(job)) cluster.arrays().note_requeue(*job.array_job);
    mail(MailType::Requeue, now, job, effects);
}

void set_mail_clocks(Cluster& cluster, const Job& job) {
    for (const LimitPart& part : kLimitParts) {
        if (!wants(job, part.type)) continue;
        cluster.add_timer({part_of_limit(job, part.percent), TimerKind::LimitMail, job.id.value});
    }
}

// Types that were sent are removed from the record, so that they are not sent again after a
// restart.
void on_limit_mail_timer(Cluster& cluster, Time now, JobId id, Effects& effects) {
    const auto job = cluster.find_job(id);
    if (job->state != JobState::Running || is_completing(*job) || job->time_limit.unlimited())
        return;
    JobTerms terms = *job->request;
    for (const LimitPart& part : kLimitParts) {
        // Suspended or given more time since: there is another timer.
        if (!wants(*job, part.type) || now < part_of_limit(*job, part.percent)) continue;
        mail(part.type, now, *job, effects);
        terms.mail_types = without_mail_type(terms.mail_types, part.type);
    }
    if (terms != *job->request) cluster.edit_job(id)->request = cluster.shared(terms);
}

void recall_news(Cluster& cluster, const Job& job) {
    if (!is_heard_of_as_a_whole(job)) return;
    Arrays& arrays = cluster.arrays();
    if (job.run.allocation || job.run.restarts > 0) arrays.note_begin(*job.array_job);
    if (job.run.restarts > 0) arrays.note_requeue(*job.array_job);
    if (is_over(job)) arrays.note_end(*job.array_job, job);
}

bool is_array_over(const Cluster& cluster, JobId array) {
    if (cluster.arrays().running(array) > 0) return false;
    auto is_gone = [&](JobId id) {
        const auto job = cluster.find_job(id);
        return !job || is_over(*job);
    };
    const std::span<const JobId> tasks = cluster.arrays().tasks(array);
    return is_gone(array) && std::all_of(tasks.begin(), tasks.end(), is_gone);
}

}  // namespace sluice
