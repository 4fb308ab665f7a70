// See service.h.
#include "accounting/service.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "model/errors.h"
#include "model/policy_fields.h"
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

bool is_coordinator(const Policy& policy, const std::string& user) {
    return std::any_of(policy.accounts.begin(), policy.accounts.end(), [&](const Account& each) {
        return std::find(each.coordinators.begin(), each.coordinators.end(), user) !=
               each.coordinators.end();
    });
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

Result<void> AccountingService::register_cluster(const std::string& cluster,
                                                 const std::string& host, std::uint16_t port,
                                                 Time now) {
    const std::lock_guard guard(writer_mutex_);
    Policy policy = *this->policy();
    const auto find = [&] {
        return std::find_if(policy.clusters.begin(), policy.clusters.end(),
                            [&](const ClusterRecord& each) { return each.name == cluster; });
    };
    if (auto known = find(); known == policy.clusters.end() || known->deleted) {
        PolicyChange add;
        add.steps.emplace_back();
        add.steps.back().entity = PolicyEntity::Cluster;
        add.steps.back().names = {cluster};
        TRY(apply_change(policy, add, {.name = "root", .uid = UserId{0}, .is_root = true}, {},
                         now));
    }
    const auto record = find();
    if (record == policy.clusters.end())
        return Error{ErrorCode::NotFound, fmt::format("no cluster {} in accounting", cluster)};
    if (record->control_host == host && record->control_port == port && policy == *this->policy())
        return {};
    record->control_host = host;
    record->control_port = port;
    policy.version = std::max(policy.version, this->policy()->version + 1);
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
        log_info("audit: uid {}: {} {} {}", actor.user.value, each.action, each.where, each.info);
    return {};
}

AdminLevel AccountingService::level_of(const AccountingCaller& viewer) const {
    if (viewer.is_root) return AdminLevel::Administrator;
    for (const PolicyUser& user : policy()->users)
        if (user.name == viewer.name && !user.deleted) return user.admin_level;
    return AdminLevel::None;
}

// Others see their own records, and those of accounts that they coordinate.
Policy AccountingService::visible_policy(const AccountingCaller& viewer) const {
    Policy policy = *this->policy();
    const bool sees_all =
        level_of(viewer) != AdminLevel::None || is_coordinator(policy, viewer.name);
    if (sees_all) return policy;
    if (options_.hidden.users) {
        std::erase_if(policy.users,
                      [&](const PolicyUser& each) { return each.name != viewer.name; });
        std::erase_if(policy.associations, [&](const Association& each) {
            return !each.user.empty() && each.user != viewer.name;
        });
    }
    if (options_.hidden.accounts) {
        const auto is_own = [&](const std::string& account) {
            return std::any_of(policy.associations.begin(), policy.associations.end(),
                               [&](const Association& each) {
                                   return each.user == viewer.name && each.account == account;
                               });
        };
        std::erase_if(policy.accounts, [&](const Account& each) { return !is_own(each.name); });
    }
    return policy;
}

Result<std::vector<std::string>> AccountingService::job_rows(JobSelection selection,
                                                             const AccountingCaller& viewer,
                                                             Time now) {
    if (options_.hidden.jobs && level_of(viewer) == AdminLevel::None &&
        !is_coordinator(*policy(), viewer.name)) {
        const bool asks_own =
            selection.users.empty() || std::find(selection.users.begin(), selection.users.end(),
                                                 viewer.user) != selection.users.end();
        if (!asks_own) return std::vector<std::string>{};
        selection.users = {viewer.user};
    }
    if (selection.clusters.empty()) {
        selection.clusters = {options_.cluster.empty() ? "*" : options_.cluster};
    }
    std::vector<std::string> rows;
    TRY(reader_->jobs(selection, now, [&](const AccountedRun& run) -> Result<void> {
        rows.push_back(encoded(run));
        return {};
    }));
    return rows;
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
    const bool is_admin = level_of(viewer) != AdminLevel::None;
    const std::lock_guard guard(reader_mutex_);
    switch (question.kind) {
        case Kind::Jobs:
            return job_rows(question.jobs, viewer, now);
        case Kind::Policy:
            return std::vector{encoded(visible_policy(viewer))};
        case Kind::Events:
            if (options_.hidden.events && !is_admin) return hidden("events");
            return encoded_rows(reader_->events(cluster, question.start, question.end));
        case Kind::Reservations:
            return encoded_rows(reader_->reservations(cluster, question.start, question.end));
        case Kind::Transactions:
            return encoded_rows(reader_->transactions(question.start, question.end));
        case Kind::Usage:
            if (options_.hidden.usage && !is_admin) return hidden("reports");
            return encoded_rows(reader_->usage(usage));
        case Kind::WckeyUsage:
            if (options_.hidden.usage && !is_admin) return hidden("reports");
            return encoded_rows(reader_->wckey_usage(usage));
        case Kind::ClusterUsage:
            if (options_.hidden.usage && !is_admin) return hidden("reports");
            return encoded_rows(reader_->cluster_usage(usage));
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
    for (const std::string& cluster : cluster_names()) {
        const std::lock_guard guard(writer_mutex_);
        TRY(writer_->roll_up(cluster, now));
    }
    return {};
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
    if (level_of(viewer) == AdminLevel::Administrator) return {};
    return Error{ErrorCode::AccessDenied, "only administrators may do this"};
}

Result<void> AccountingService::obey(const AccountingOrder& order, const AccountingCaller& viewer,
                                     Time now) {
    TRY(check_is_administrator(viewer));
    if (order.kind == AccountingOrder::Kind::Purge) {
        log_info("audit: uid {}: archive into {}", viewer.user.value, order.path);
        return purge(order.rules, now, order.path);
    }
    log_info("audit: uid {}: load archive {}", viewer.user.value, order.path);
    const std::lock_guard guard(writer_mutex_);
    TRY(writer_->load_archive(order.path));
    return {};
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
