// See service.h.
#include "accounting/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/audit_log.h"
#include "model/errors.h"
#include "model/policy_fields.h"
#include "model/used_fields.h"
#include "os/user.h"
#include "policy/change_fields.h"
#include "protocol/field_codec.h"

namespace sluice {

namespace {

template <HasFields Value>
std::string encoded(const Value& value) {
    std::string bytes;
    field_codec::put_fields(value, bytes);
    return bytes;
}

template <HasFields Value>
Result<std::vector<std::string>> encoded_rows(const Result<std::vector<Value>>& values) {
    if (!values) return values.error();
    std::vector<std::string> rows;
    for (const Value& value : *values) rows.push_back(encoded(value));
    return rows;
}

Error hidden(std::string_view what) {
    return {ErrorCode::AccessDenied, fmt::format("{} are private (PrivateData)", what)};
}

Policy policy_of_new_database(const ServiceOptions& options, Time now) {
    if (options.first && !options.first->associations.empty()) return *options.first;
    Policy policy = first_policy(options.cluster, now);
    if (options.cluster.empty()) {  // clusters register themselves
        policy.clusters.clear();
        policy.associations.clear();
    }
    if (!options.first) return policy;
    for (const Qos& qos : options.first->qos) {
        if (qos.name != kDefaultQos) policy.qos.push_back(qos);
        policy.next_id = std::max(policy.next_id, qos.id + 1);
    }
    return policy;
}

Result<void> give_qos(Policy& policy, const QosDefinitions& all, Time now) {
    TRY(define_qos(policy, all, {}, now));
    for (Association& each : policy.associations) {
        if (each.parent != 0 || !each.qos) continue;
        for (const auto& [name, values] : all) each.qos->push_back(name);
    }
    return {};
}

}  // namespace

AccountingService::AccountingService(ServiceOptions options, std::unique_ptr<Accounting> writer,
                                     std::unique_ptr<Accounting> reader)
    : options_(std::move(options)), writer_(std::move(writer)), reader_(std::move(reader)) {}

Result<std::unique_ptr<AccountingService>> AccountingService::open(ServiceOptions options,
                                                                   Time now) {
    auto writer = TRY(open_accounting(options.target));
    auto reader = TRY(open_accounting(options.target));
    std::unique_ptr<AccountingService> service(
        new AccountingService(std::move(options), std::move(writer), std::move(reader)));
    Policy policy = TRY(service->writer_->policy());
    const std::uint64_t stored = policy.version;
    if (stored == 0) policy = policy_of_new_database(service->options_, now);
    Tres tracked;
    for (const std::string& name : service->options_.tracked_tres) tracked[name] = 0;
    const bool is_new = add_tres(policy, tracked) || stored == 0;
    if (stored == 0) TRY(give_qos(policy, service->options_.qos, now));
    if (is_new) TRY(service->writer_->set_policy(policy, stored, {}));
    service->policy_ = std::make_shared<const Policy>(std::move(policy));
    return service;
}

Result<std::uint64_t> AccountingService::deliver(const std::string& cluster,
                                                 const std::vector<NumberedFact>& facts) {
    const std::lock_guard guard(writer_mutex_);
    const std::uint64_t last = TRY(writer_->apply(cluster, facts));
    for (const NumberedFact& each : facts) {
        const auto* event = std::get_if<AccountedEvent>(&each.fact);
        if (!event || !event->node.empty()) continue;  // not about the whole cluster
        Policy policy = *this->policy();
        if (add_tres(policy, event->tres)) TRY(store_policy(std::move(policy), {}));
    }
    return last;
}

Result<std::uint64_t> AccountingService::last_delivered(const std::string& cluster) {
    const std::lock_guard guard(writer_mutex_);
    return writer_->last_applied(cluster);
}

Result<void> AccountingService::keep_script(const std::string& hash, std::string_view bytes) {
    const std::lock_guard guard(writer_mutex_);
    return writer_->put_script(hash, bytes);
}

std::shared_ptr<const Policy> AccountingService::policy() const {
    const std::lock_guard guard(policy_mutex_);
    return policy_;
}

// With writer_mutex_ held.
Result<void> AccountingService::store_policy(Policy policy, const std::vector<Transaction>& why) {
    TRY(writer_->set_policy(policy, this->policy()->version, why));
    const std::lock_guard guard(policy_mutex_);
    policy_ = std::make_shared<const Policy>(std::move(policy));
    return {};
}

Result<void> AccountingService::register_cluster(const ClusterRecord& controller, Time now) {
    const auto find = [&](auto& clusters) {
        return std::find_if(clusters.begin(), clusters.end(), [&](const ClusterRecord& each) {
            return each.name == controller.name && !each.deleted;
        });
    };
    const std::lock_guard guard(writer_mutex_);
    const std::shared_ptr<const Policy> before = this->policy();
    const auto known = find(before->clusters);
    const bool is_known =
        known != before->clusters.end() && known->control_host == controller.control_host &&
        known->control_port == controller.control_port && known->has_gang == controller.has_gang;
    if (is_known) return {};
    Policy policy = *before;
    if (known == before->clusters.end()) {
        PolicyChange add;
        add.steps.emplace_back();
        add.steps.back().entity = PolicyEntity::Cluster;
        add.steps.back().names = {controller.name};
        TRY(apply_change(policy, add, {.name = "root", .uid = UserId{0}, .is_root = true}, {},
                         now));
    }
    const auto record = find(policy.clusters);
    if (record == policy.clusters.end()) {
        return Error{ErrorCode::NotFound,
                     fmt::format("no cluster {} in accounting", controller.name)};
    }
    record->control_host = controller.control_host;
    record->control_port = controller.control_port;
    record->has_gang = controller.has_gang;
    policy.version = std::max(policy.version, before->version + 1);
    return store_policy(std::move(policy), {});
}

Result<void> AccountingService::change(
    std::string_view bytes, const AccountingCaller& actor,
    const std::function<Result<PolicyFacts>(const PolicyChange&)>& facts, Time now) {
    PolicyChange change;
    TRY(field_codec::get_fields(bytes, change));
    const std::lock_guard guard(writer_mutex_);
    Policy policy = *this->policy();
    const PolicyOutcome outcome = TRY(apply_change(
        policy, change, {.name = actor.name, .uid = actor.user, .is_root = actor.is_root},
        TRY(facts(change)), now));
    if (outcome.is_empty()) return {};
    TRY(store_policy(std::move(policy), outcome.transactions));
    for (const Transaction& each : outcome.transactions)
        log_audit("uid {}: {} {} {}", actor.user.value, each.action, each.where, each.info);
    return {};
}

Result<std::vector<std::string>> AccountingService::job_rows(JobSelection selection,
                                                             const AccountingView& view, Time now) {
    if (!view.sees_jobs_of_others()) {
        const bool asks_own =
            selection.users.empty() || std::find(selection.users.begin(), selection.users.end(),
                                                 view.user()) != selection.users.end();
        if (!asks_own) return std::vector<std::string>{};
        selection.users = {view.user()};
    }
    if (selection.clusters.empty()) {
        selection.clusters = {options_.cluster.empty() ? "*" : options_.cluster};
    }
    std::vector<std::string> rows;
    TRY(reader_->jobs(selection, now, [&](const AccountedRun& run) -> Result<void> {
        if (view.sees(run.job)) rows.push_back(encoded(run));
        return {};
    }));
    return rows;
}

Result<std::vector<std::string>> AccountingService::usage_rows(const AccountingQuestion& question,
                                                               const UsageQuestion& usage,
                                                               const AccountingView& view) {
    using Kind = AccountingQuestion::Kind;
    if (question.kind == Kind::ClusterUsage) return encoded_rows(reader_->cluster_usage(usage));
    const bool is_of_wckeys = question.kind == Kind::WckeyUsage;
    std::vector<UsageRow> rows =
        TRY(is_of_wckeys ? reader_->wckey_usage(usage) : reader_->usage(usage));
    std::erase_if(rows, [&](const UsageRow& row) {
        return is_of_wckeys ? !view.sees_usage_of_wckey(row.id) : !view.sees_usage_of(row.id);
    });
    return encoded_rows(Result<std::vector<UsageRow>>(std::move(rows)));
}

Result<std::vector<std::string>> AccountingService::answer(std::string_view bytes,
                                                           const AccountingCaller& viewer,
                                                           Time now) {
    using Kind = AccountingQuestion::Kind;
    AccountingQuestion question;
    TRY(field_codec::get_fields(bytes, question));
    const std::string& cluster = question.cluster.empty() ? options_.cluster : question.cluster;
    const UsageQuestion usage{.cluster = cluster,
                              .period = question.period,
                              .start = question.start.value_or(Time{}),
                              .end = question.end.value_or(now)};
    const std::shared_ptr<const Policy> policy = this->policy();
    const AccountingView view(*policy, viewer, options_.hidden);
    const std::lock_guard guard(reader_mutex_);
    switch (question.kind) {
        case Kind::Jobs:
            return job_rows(question.jobs, view, now);
        case Kind::Policy:
            return std::vector{encoded(view.visible_policy())};
        case Kind::Events:
            if (!view.sees_all(HiddenKind::Events)) return hidden("events");
            return encoded_rows(reader_->events(cluster, question.start, question.end));
        case Kind::Reservations:
            if (!view.sees_all(HiddenKind::Reservations)) return hidden("reservations");
            return encoded_rows(reader_->reservations(cluster, question.start, question.end));
        case Kind::Transactions:
            return encoded_rows(reader_->transactions(question.start, question.end));
        case Kind::Usage:
        case Kind::WckeyUsage:
        case Kind::ClusterUsage:
            return usage_rows(question, usage, view);
        case Kind::Imports:
            if (!viewer.is_root) return Error{ErrorCode::AccessDenied, "only slurmctld may ask"};
            return encoded_rows(reader_->imports_after(cluster, question.after));
    }
    return Error{ErrorCode::NotSupported, "a question that this version does not know"};
}

Result<std::vector<LiveJob>> AccountingService::live_jobs(Time now) {
    JobSelection selection;
    selection.clusters = {"*"};
    selection.only_live = true;
    selection.no_steps = true;
    std::vector<LiveJob> jobs;
    const std::lock_guard guard(reader_mutex_);
    TRY(reader_->jobs(selection, now, [&](const AccountedRun& run) -> Result<void> {
        jobs.push_back({.id = run.job.job.value,
                        .cluster = run.cluster,
                        .association = run.job.association,
                        .qos = run.job.qos,
                        .wckey = run.job.wckey});
        return {};
    }));
    return jobs;
}

std::vector<std::string> AccountingService::cluster_names() const {
    std::vector<std::string> names;
    for (const ClusterRecord& each : policy()->clusters)
        if (!each.deleted) names.push_back(each.name);
    return names;
}

Result<void> AccountingService::roll_up(Time now) {
    const auto start = std::chrono::steady_clock::now();
    for (const std::string& cluster : cluster_names()) {
        const std::lock_guard guard(writer_mutex_);
        TRY(writer_->roll_up(cluster, now));
    }
    const auto time =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                       std::chrono::steady_clock::now() - start)
                                       .count());
    const std::lock_guard guard(roll_ups_mutex_);
    ++roll_ups_.count;
    roll_ups_.last_start = now;
    roll_ups_.last_time = time;
    roll_ups_.max_time = std::max(roll_ups_.max_time, time);
    roll_ups_.total_time += time;
    return {};
}

PassStatistics AccountingService::roll_ups() const {
    const std::lock_guard guard(roll_ups_mutex_);
    return roll_ups_;
}

void AccountingService::clear_statistics() {
    const std::lock_guard guard(roll_ups_mutex_);
    roll_ups_ = {};
}

Result<void> AccountingService::purge(const std::vector<PurgeRule>& rules, Time now,
                                      const std::string& archive_directory) {
    for (const std::string& cluster : cluster_names()) {
        for (const PurgeRule& rule : rules) {
            const std::lock_guard guard(writer_mutex_);
            TRY(writer_->purge(cluster, rule, now, archive_directory));
        }
    }
    return {};
}

Result<void> AccountingService::check_is_administrator(const AccountingCaller& viewer) const {
    if (level_of(*policy(), viewer) == AdminLevel::Administrator) return {};
    return Error{ErrorCode::AccessDenied, "only administrators may do this"};
}

Result<void> AccountingService::check_is_operator(const AccountingCaller& viewer) const {
    if (level_of(*policy(), viewer) != AdminLevel::None) return {};
    return Error{ErrorCode::AccessDenied, "only operators and administrators may do this"};
}

Result<std::vector<std::string>> AccountingService::obey(const AccountingOrder& order,
                                                         const AccountingCaller& viewer, Time now) {
    std::vector<std::string> rows;
    if (order.kind == AccountingOrder::Kind::ModifyJobs) return modify_jobs(order, viewer, now);
    TRY(check_is_administrator(viewer));
    if (order.kind == AccountingOrder::Kind::Purge) {
        log_audit("uid {}: archive into {}", viewer.user.value, order.path);
        TRY(purge(order.rules, now, order.path));
        return rows;
    }
    const std::lock_guard guard(writer_mutex_);
    if (order.kind == AccountingOrder::Kind::Import) {
        const std::vector<std::string> known = cluster_names();
        if (std::find(known.begin(), known.end(), order.cluster) == known.end()) {
            return Error{ErrorCode::NotFound,
                         fmt::format("no cluster {} in accounting", order.cluster)};
        }
        const ImportOutcome outcome =
            TRY(writer_->import_runs(order.cluster, order.runs, order.only_check));
        if (!order.only_check)
            log_audit("uid {}: import {} runs into {}", viewer.user.value, outcome.added,
                      order.cluster);
        rows.push_back(encoded(outcome));
        return rows;
    }
    log_audit("uid {}: load archive {}", viewer.user.value, order.path);
    TRY(writer_->load_archive(order.path));
    return rows;
}

Result<std::vector<UsageImport>> AccountingService::imports_after(const std::string& cluster,
                                                                  std::uint64_t number) {
    const std::lock_guard guard(reader_mutex_);
    return reader_->imports_after(cluster, number);
}

std::map<std::string, UserId> uids_in(const PolicyChange& change) {
    std::map<std::string, UserId> uids;
    for (const PolicyStep& step : change.steps) {
        if (step.entity != PolicyEntity::User && step.entity != PolicyEntity::Coordinator) continue;
        for (const std::string& name : step.names)
            if (const std::optional<User> user = find_user(name)) uids[name] = UserId{user->uid};
    }
    return uids;
}

Policy policy_of_cluster(const Policy& policy, const std::string& cluster) {
    Policy own = policy;
    std::erase_if(own.qos, [](const Qos& each) { return each.deleted; });
    std::erase_if(own.accounts, [](const Account& each) { return each.deleted; });
    std::erase_if(own.users, [](const PolicyUser& each) { return each.deleted; });
    std::erase_if(own.associations,
                  [&](const Association& each) { return each.deleted || each.cluster != cluster; });
    std::erase_if(own.wckeys,
                  [&](const Wckey& each) { return each.deleted || each.cluster != cluster; });
    return own;
}

}  // namespace sluice
