// core/question.cc
#include "core/question.h"

#include "core/job/verbs.h"
#include "core/schedule/explain.h"
#include "core/schedule/scheduler.h"
#include "core/schedule/waiting.h"

namespace sluice {

bool is_question(const Event& event) {
    const auto* submission = std::get_if<SubmitJob>(&event);
    return std::holds_alternative<ExplainJob>(event) || (submission && submission->test_only);
}

Answer answer_to(const Cluster& cluster, Time now, const Event& question) {
    CHECK(is_question(question));
    if (const auto* asked = std::get_if<ExplainJob>(&question))
        return explain_jobs(cluster, now, *asked);
    return test_submission(cluster, now, std::get<SubmitJob>(question));
}

// Records are shared, the plan is copied. What only events need stays empty: timers, waiting
// requests, dependents, idempotency keys, the classes of the queue.
std::shared_ptr<const Cluster> Cluster::copy_for_questions() {
    refresh_layout();
    const Scheduler& from = *scheduler_;
    const CopyState state{version_, from.passes, from.layout_version};
    if (copied_ && !visible_change_ && state == copied_state_) return copied_;
    std::shared_ptr<Cluster> copy(new Cluster());
    copy->settings_ = settings_;
    copy->jobs_ = jobs_;
    copy->nodes_ = nodes_;
    copy->node_index_ = node_index_;
    copy->node_names_ = node_names_;
    copy->partitions_ = partitions_;
    copy->plan_ = plan_;
    copy->layout_is_old_ = false;
    copy->next_job_id_ = next_job_id_;
    copy->damaged_jobs_ = damaged_jobs_;
    copy->priority_scale_ = priority_scale_;
    copy->priorities_ = priorities_;
    copy->reservations_ = reservations_;
    copy->policy_ = policy_;
    copy->associations_ = associations_;
    copy->associations_version_ = associations_version_;
    copy->fair_share_ = fair_share_;
    copy->total_tres_ = total_tres_;
    copy->arrays_ = arrays_;
    copy->licenses_ = licenses_;
    copy->limits_ = limits_;
    copy->usage_ = usage_;
    copy->depends_on_users_ = depends_on_users_;
    copy->waiting_ = std::make_unique<WaitingJobs>(waiting_->copy_for_questions());
    copy->scheduler_ = std::make_unique<Scheduler>();
    copy->scheduler_->layout = from.layout;
    copy->scheduler_->layout_version = from.layout_version;
    copy->scheduler_->is_planned = from.is_planned;
    if (from.is_planned) copy->scheduler_->planner = from.planner;
    copied_state_ = state;
    return copied_ = std::move(copy);
}

}  // namespace sluice
