#include "controller/accounting_requests.h"

#include "controller/accountant.h"
#include "controller/replies.h"
#include "controller/statistics.h"
#include "core/limits/associations.h"
#include "model/errors.h"
#include "model/statistics_fields.h"
#include "os/socket.h"
#include "os/user.h"
#include "protocol/field_codec.h"

namespace sluice {

namespace {

AccountingCaller viewer_of(const Services& services, UserId caller) {
    const std::optional<User> user = find_user(caller.value);
    return {.user = caller,
            .name = user ? user->name : std::to_string(caller.value),
            .is_root = services.role(caller) >= Role::SlurmUser};
}

// What the policy itself does not say, of this cluster.
PolicyFacts facts_for(const Services& services, const PolicyChange& change) {
    PolicyFacts facts;
    const auto snapshot = services.published.snapshot.get();
    const AssociationTree tree(snapshot->policy);
    snapshot->jobs.for_each([&](const Job& job) {
        if (is_over(job)) return;
        const Association* association = tree.find(job.request->account, job.user, job.partition);
        facts.jobs.push_back({.id = job.id.value,
                              .cluster = snapshot->settings->cluster_name,
                              .association = association ? association->id : 0,
                              .qos = job.request->qos,
                              .wckey = job.request->wckey});
    });
    facts.uids = uids_in(change);
    facts.gres = snapshot->settings->gres_types;
    if (!snapshot->settings->preempt.gang) facts.cannot_suspend = snapshot->settings->cluster_name;
    for (const Partition& partition : *snapshot->partitions) {
        if (!partition.config.qos.empty()) facts.partition_qos.push_back(partition.config.qos);
    }
    return facts;
}

Result<wire::Reply> change_policy(Services& services, const AccountingCaller& viewer,
                                  const std::string& bytes) {
    TRY(services.accounting->change(
        bytes, viewer, [&](const PolicyChange& change) { return facts_for(services, change); },
        wall_clock()));
    TRY(services.accountant->bring_policy_now());
    wire::Reply reply;
    reply.mutable_done();
    return reply;
}

Result<wire::Reply> answer(Services& services, const AccountingCaller& viewer,
                           const std::string& bytes) {
    wire::Reply reply;
    wire::Rows& rows = *reply.mutable_rows();
    for (std::string& row : TRY(services.accounting->answer(bytes, viewer, wall_clock())))
        rows.add_rows(std::move(row));
    return reply;
}

Result<wire::Reply> obey(Services& services, const AccountingCaller& viewer,
                         const std::string& bytes) {
    AccountingOrder order;
    TRY(field_codec::get_fields(bytes, order));
    wire::Reply reply;
    reply.mutable_done();
    switch (order.kind) {
        case AccountingOrder::Kind::Ping:
            reply.mutable_pong()->set_hostname(host_name());
            return reply;
        case AccountingOrder::Kind::Reconfigure:
        case AccountingOrder::Kind::Shutdown:
            return Error{ErrorCode::NotSupported,
                         "slurmctld has the accounting database: use scontrol"};
        case AccountingOrder::Kind::ShowStatistics:
            TRY(services.accounting->check_is_operator(viewer));
            field_codec::put_fields(statistics_of(services, wall_clock()),
                                    *reply.mutable_statistics());
            return reply;
        case AccountingOrder::Kind::ClearStatistics:
            TRY(services.accounting->check_is_administrator(viewer));
            services.statistics.reset(wall_clock());
            services.accounting->clear_statistics();
            return reply;
        case AccountingOrder::Kind::Purge:
        case AccountingOrder::Kind::LoadArchive:
        case AccountingOrder::Kind::Import:
        case AccountingOrder::Kind::ModifyJobs:
            break;
    }
    for (std::string& row : TRY(services.accounting->obey(order, viewer, wall_clock())))
        reply.mutable_rows()->add_rows(std::move(row));
    if (order.kind == AccountingOrder::Kind::Import) services.accountant->wake();
    return reply;
}

// slurmdbd has a newer policy.
Result<wire::Reply> bring_policy(Services& services, const AccountingCaller& viewer) {
    if (!viewer.is_root) return Error{ErrorCode::AccessDenied, "only slurmdbd may do this"};
    TRY(services.accountant->bring_policy_now());
    wire::Reply reply;
    reply.mutable_done();
    return reply;
}

Result<wire::Reply> reply_to(Services& services, const AccountingCaller& viewer,
                             const wire::Request& request) {
    if (request.has_ask_policy()) return bring_policy(services, viewer);
    if (!services.accounting) {
        return Error{ErrorCode::NotSupported,
                     "slurmdbd has the accounting database (AccountingStorageType)"};
    }
    if (request.has_change_policy())
        return change_policy(services, viewer, request.change_policy());
    if (request.has_accounting_order()) return obey(services, viewer, request.accounting_order());
    return answer(services, viewer, request.ask_accounting());
}

}  // namespace

wire::Reply accounting_reply(Services& services, UserId caller, const wire::Request& request) {
    const Result<wire::Reply> reply = reply_to(services, viewer_of(services, caller), request);
    return reply ? *reply : error_reply(reply.error());
}

HiddenData hidden_data(const Config& config) {
    const auto has = [&](std::string_view word) {
        return config.has_flag(config.private_data, word);
    };
    return {.jobs = has("jobs"),
            .users = has("users"),
            .accounts = has("accounts"),
            .usage = has("usage"),
            .events = has("events"),
            .reservations = false};  // slurmctld shows them by their own rules
}

}  // namespace sluice
