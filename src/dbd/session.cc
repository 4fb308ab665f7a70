#include "dbd/session.h"

#include <signal.h>
#include <unistd.h>

#include "auth/handshake.h"
#include "base/audit_log.h"
#include "model/errors.h"
#include "model/policy_fields.h"
#include "model/statistics_fields.h"
#include "net/run_on.h"
#include "os/socket.h"
#include "os/user.h"
#include "protocol/convert.h"
#include "protocol/fact_codec.h"
#include "protocol/field_codec.h"

namespace sluice {

namespace {

constexpr auto kIdleMost = std::chrono::seconds(600);  // a controller asks at least once a minute

AccountingCaller viewer_of(const DbdServices& services, UserId caller) {
    const std::optional<User> user = find_user(caller.value);
    return {.user = caller,
            .name = user ? user->name : std::to_string(caller.value),
            .is_root = caller == UserId{0} || caller == services.slurm_user};
}

// slurmctld runs as root or SlurmUser. Other users cannot tell what ran.
Result<void> check_is_daemon(const AccountingCaller& viewer) {
    if (viewer.is_root) return {};
    return Error{ErrorCode::AccessDenied, "only slurmctld may do this"};
}

Result<wire::Reply> deliver(DbdServices& services, const wire::DeliverFacts& message) {
    wire::Reply reply;
    if (message.rows().empty()) {
        reply.set_delivered(TRY(services.accounting.last_delivered(message.cluster())));
        return reply;
    }
    std::vector<NumberedFact> facts;
    for (const wire::DeliverFacts::Row& row : message.rows()) {
        Fact fact = TRY(decode_fact(row.kind(), row.fact()));
        facts.push_back({row.number(), std::move(fact)});
    }
    reply.set_delivered(TRY(services.accounting.deliver(message.cluster(), facts)));
    return reply;
}

Result<wire::Reply> policy_after(DbdServices& services, const wire::AskPolicy& message, Time now) {
    ClusterRecord controller;
    controller.name = message.cluster();
    controller.control_host = message.host();
    controller.control_port = static_cast<std::uint16_t>(message.port());
    controller.has_gang = message.gang();
    TRY(services.accounting.register_cluster(controller, now));
    wire::Reply reply;
    wire::Rows& rows = *reply.mutable_rows();
    const std::shared_ptr<const Policy> policy = services.accounting.policy();
    if (policy->version > message.version()) {
        std::string bytes;
        field_codec::put_fields(policy_of_cluster(*policy, message.cluster()), bytes);
        rows.add_rows(std::move(bytes));
    }
    return reply;
}

// The jobs that have not ended, as the clusters have told.
Result<PolicyFacts> facts_for(DbdServices& services, const PolicyChange& change, Time now) {
    PolicyFacts facts;
    facts.jobs = TRY(services.accounting.live_jobs(now));
    facts.uids = uids_in(change);
    const std::shared_ptr<const Policy> policy = services.accounting.policy();
    for (const TresKind& kind : policy->tres) {
        if (kind.name.starts_with("gres/")) facts.gres.push_back(kind.name.substr(5));
    }
    for (const ClusterRecord& each : policy->clusters) {
        const bool is_registered = !each.deleted && !each.control_host.empty();
        if (is_registered && !each.has_gang) facts.cannot_suspend = each.name;
    }
    return facts;
}

Statistics statistics_of(const DbdServices& services, Time now) {
    Statistics statistics;
    statistics.time = now;
    statistics.since = services.counted_since;
    services.requests.fill(statistics);
    statistics.roll_ups = services.accounting.roll_ups();
    return statistics;
}

wire::Reply done() {
    wire::Reply reply;
    reply.mutable_done();
    return reply;
}

Result<wire::Reply> obey(DbdServices& services, const AccountingCaller& viewer,
                         const std::string& bytes, Time now) {
    using Kind = AccountingOrder::Kind;
    AccountingOrder order;
    TRY(field_codec::get_fields(bytes, order));
    wire::Reply reply = done();
    switch (order.kind) {
        case Kind::Ping:
            reply.mutable_pong()->set_hostname(host_name());
            break;
        case Kind::Reconfigure:
        case Kind::Shutdown:
            TRY(services.accounting.check_is_administrator(viewer));
            log_audit("uid {}: {}", viewer.user.value,
                      order.kind == Kind::Shutdown ? "shutdown" : "reconfigure");
            services.signal_after_reply = order.kind == Kind::Shutdown ? SIGTERM : SIGHUP;
            break;
        case Kind::ShowStatistics:
            TRY(services.accounting.check_is_operator(viewer));
            field_codec::put_fields(statistics_of(services, now), *reply.mutable_statistics());
            break;
        case Kind::ClearStatistics:
            TRY(services.accounting.check_is_administrator(viewer));
            services.requests.reset();
            services.accounting.clear_statistics();
            services.counted_since = now;
            log_audit("uid {}: reset statistics", viewer.user.value);
            break;
        case Kind::Purge:
        case Kind::LoadArchive:
        case Kind::Import:
        case Kind::ModifyJobs:
            for (std::string& row : TRY(services.accounting.obey(order, viewer, now)))
                reply.mutable_rows()->add_rows(std::move(row));
            break;
    }
    return reply;
}

Result<wire::Reply> answer(DbdServices& services, const AccountingCaller& viewer,
                           const wire::Request& request, Time now) {
    wire::Reply reply;
    switch (request.body_case()) {
        case wire::Request::kAskAccounting:
            reply.mutable_rows();
            for (std::string& row :
                 TRY(services.accounting.answer(request.ask_accounting(), viewer, now)))
                reply.mutable_rows()->add_rows(std::move(row));
            return reply;
        case wire::Request::kChangePolicy:
            TRY(services.accounting.change(
                request.change_policy(), viewer,
                [&](const PolicyChange& change) { return facts_for(services, change, now); }, now));
            services.controllers.policy_changed(*services.accounting.policy(), now);
            return done();
        case wire::Request::kAccountingOrder:
            return obey(services, viewer, request.accounting_order(), now);
        case wire::Request::kDeliverFacts:
            TRY(check_is_daemon(viewer));
            return deliver(services, request.deliver_facts());
        case wire::Request::kKeepScript:
            TRY(check_is_daemon(viewer));
            TRY(services.accounting.keep_script(request.keep_script().hash(),
                                                request.keep_script().script()));
            return done();
        case wire::Request::kAskPolicy:
            TRY(check_is_daemon(viewer));
            return policy_after(services, request.ask_policy(), now);
        default:
            return Error{ErrorCode::NotSupported, "slurmdbd does not serve this request"};
    }
}

}  // namespace

wire::Reply reply_to(DbdServices& services, UserId caller, const wire::Request& request, Time now) {
    Result<wire::Reply> reply = answer(services, viewer_of(services, caller), request, now);
    if (reply && reply->ByteSizeLong() <= kReplySizeMax) return *std::move(reply);
    const Error error =
        reply ? Error{ErrorCode::NotSupported, "the answer is too long: ask for less at once"}
              : reply.error();
    wire::Reply refusal;
    *refusal.mutable_error() = to_wire(error);
    return refusal;
}

bool DbdHost::is_for_us(const std::string& destination) const {
    for (const std::string& host :
         {services_.config.host, services_.config.address, services_.config.backup_host,
          host_name(), std::string("localhost")}) {
        if (!host.empty() && destination == dbd_destination(host)) return true;
    }
    return false;
}

Result<void> DbdHost::admit(const wire::Hello& hello, const Identity&) {
    if (hello.channel() == wire::CHANNEL_CLIENT) return {};
    return Error{ErrorCode::ProtocolError, "slurmdbd does not serve this channel"};
}

asio::awaitable<void> DbdHost::serve(std::shared_ptr<Link> link, Identity peer, wire::Channel,
                                     std::size_t) {
    while (true) {
        link->expect_until(std::chrono::steady_clock::now() + kIdleMost);
        const auto message = co_await link->read();
        if (!message) co_return;
        link->expect_until(std::nullopt);
        const auto request = decode<wire::Request>(*message);
        if (!request) co_return;
        const auto work = [&] {
            const RequestCounts::Timer timer =
                services_.requests.start(type_of(*request), peer.user);
            return reply_to(services_, peer.user, *request, wall_clock());
        };
        const wire::Reply reply = co_await run_on(services_.pool, work);
        link->send(framed(reply));
        co_await link->flushed();
        if (const int number = services_.signal_after_reply.exchange(0)) kill(getpid(), number);
    }
}

}  // namespace sluice
