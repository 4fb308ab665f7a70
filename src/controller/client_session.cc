// controller/client_session.cc
#include "controller/client_session.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>

#include "base/audit_log.h"
#include "base/log.h"
#include "base/text.h"
#include "controller/accounting_requests.h"
#include "controller/barred_users.h"
#include "controller/fleet.h"
#include "controller/lease_keeper.h"
#include "controller/pong.h"
#include "controller/reconfigure.h"
#include "controller/replies.h"
#include "controller/requests.h"
#include "core/query/viewer.h"
#include "core/question.h"
#include "model/errors.h"
#include "model/partition_fields.h"
#include "model/statistics_fields.h"
#include "os/probe.h"
#include "os/socket.h"
#include "os/user.h"
#include "protocol/convert.h"
#include "protocol/field_codec.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

constexpr std::size_t kPipelineMost = 256;  // requests without an answer
constexpr std::size_t kLongListing = 16 * 1024;
constexpr std::size_t kLargeMessage = 256 * 1024;
constexpr int kFewJobs = 16;
constexpr std::size_t kSmallQuestion = 4 * 1024;
constexpr auto kProbeMost = std::chrono::seconds(2);  // for a connection to a slurmd
constexpr auto kIdleMost = std::chrono::seconds(60);  // without a request

Bytes refusal(ErrorCode code, std::string detail) {
    return framed(error_reply(Error{code, std::move(detail)}));
}

Bytes text_reply(const std::string& text) {
    wire::Reply reply;
    reply.mutable_text()->set_text(text);
    return framed_reply(reply);
}

Bytes done_reply() {
    wire::Reply reply;
    reply.mutable_done();
    return framed_reply(reply);
}

// The key of requests that commands repeat if no answer comes. Without a key of its own a request
// is identified by its bytes.
std::string repeat_key(const wire::Request& request, UserId caller) {
    if (request.has_submit()) return request.submit().idempotency_key();
    if (!request.has_cancel() && !request.has_complete_job()) return {};
    return std::to_string(caller.value) + ' ' + request.SerializeAsString();
}

std::string damaged_text(const Snapshot& snapshot) {
    std::string text;
    for (const DamagedRow& row : *snapshot.damaged)
        text += fmt::format("Record={} Key={} Problem={}\n", row.kind, row.key, row.why);
    return text;
}

Bytes pong(const Services& services) {
    wire::Reply reply;
    *reply.mutable_pong() = describe_controller(*services.published.config.get(), services.hostname,
                                                services.boot_time);
    if (services.lease) {
        reply.mutable_pong()->set_active(services.lease->own_name());
        reply.mutable_pong()->set_controller(services.lease->own_name());
    }
    return framed_reply(reply);
}

}  // namespace

ClientSession::ClientSession(std::shared_ptr<Link> link, Caller caller, Services& services,
                             Listings& listings)
    : link_(std::move(link)),
      caller_(std::move(caller)),
      services_(services),
      listings_(listings),
      answered_(link_->executor()) {}

asio::awaitable<void> ClientSession::run() {
    link_->expect_until(std::chrono::steady_clock::now() + kIdleMost);
    if (!may(services_.role(caller_.user), Action::ExceedRateLimit)) {
        link_->set_admission([this](std::size_t size) {
            charge_ = services_.in_flight.charge(caller_.user, size);
            return charge_ != nullptr;
        });
    }
    while (const auto message = co_await link_->read(nothing_due())) {
        if (link_->was_refused()) {
            answer_at_once(refusal(
                ErrorCode::RateLimited,
                fmt::format("uid {} has requests of up to {} MB here that are not decided yet",
                            caller_.user.value, services_.in_flight.most() >> 20)));
            continue;
        }
        auto request = co_await decoded(*message);
        if (!request) {
            log_debug("{}: {}", link_->peer(), to_string(request.error()));
            break;
        }
        turn_.end();
        if (is_within_rate(*request)) {
            timer_ = services_.statistics.requests.start(type_of(*request), caller_.user);
            co_await handle(*request);
            timer_.stop();
        }
        charge_.reset();
    }
    link_->set_admission(nullptr);
    link_->close();
    turn_.end();
    co_await drop_waiting();
}

// A large message takes long to decode, above all one made for that: not on this thread.
asio::awaitable<Result<wire::Request>> ClientSession::decoded(std::string_view message) {
    if (message.size() <= kLargeMessage) co_return decode<wire::Request>(message);
    const auto work = [&] { return decode<wire::Request>(message); };
    co_return co_await run_on(services_.slow_pool, work);
}

// If false, the request has been answered.
bool ClientSession::is_within_rate(const wire::Request& request) {
    const RateLimits limits = services_.published.config.get()->config.rate_limits;
    if (may(services_.role(caller_.user), Action::ExceedRateLimit)) return true;
    const auto verdict =
        services_.rate_limiter.ask(caller_.user, limits, std::chrono::steady_clock::now());
    if (verdict.allowed) return true;
    if (verdict.is_news) {
        log_info("RPC limit exceeded by uid {} with request {}", caller_.user.value,
                 static_cast<int>(request.body_case()));
    }
    answer_at_once(refusal(ErrorCode::RateLimited, ""));
    return false;
}

asio::awaitable<void> ClientSession::handle(wire::Request& request) {
    if (is_for_core(request)) {
        if (!request.has_submit()) link_->flush();  // the answer may take long
        co_await ask_core(request);
        co_return;
    }
    co_await all_answered();
    link_->expect_until(std::nullopt);
    if (request.body_case() == wire::Request::kReconfigure) {
        co_await reconfigure();
    } else {
        answer_at_once(bounded(co_await query(request)));
    }
    if (request.body_case() == wire::Request::kShutdown &&
        may(services_.role(caller_.user), Action::Shutdown)) {
        co_await link_->flushed();
        if (!request.shutdown().only_controller()) co_await services_.fleet->shut_down();
        log_audit("uid {}: shutdown{}", caller_.user.value,
                  request.shutdown().only_controller() ? " slurmctld" : "");
        kill(getpid(), SIGTERM);
    }
}

asio::awaitable<void> ClientSession::ask_core(wire::Request& request) {
    co_await room_for_one_more();
    const RequestId id = services_.next_request();
    std::string key = repeat_key(request, caller_.user);
    auto incoming = co_await incoming_of(request, id);
    if (!incoming) {
        answer_at_once(framed(error_reply(incoming.error())));
        co_return;
    }
    if (auto* submission = std::get_if<SubmitJob>(&incoming->event)) {
        if (!co_await is_known(submission->caller.user)) {
            answer_at_once(refusal(ErrorCode::UserUnknown, ""));
            co_return;
        }
        co_await add_groups(submission->caller);
        co_await add_hosts(submission->caller);
    } else if (auto* update = std::get_if<UpdateJob>(&incoming->event)) {
        co_await add_groups(update->caller);  // it may move to another partition
        co_await add_hosts(update->caller);
    } else if (auto* change = std::get_if<UpdatePartition>(&incoming->event)) {
        co_await add_job_owners(*change);
    } else if (auto* reservation = std::get_if<ChangeReservation>(&incoming->event)) {
        if (!co_await add_group_members(*reservation)) {
            answer_at_once(refusal(ErrorCode::GroupUnknown, ""));
            co_return;
        }
    }
    co_await ask(std::move(*incoming), id, std::move(key));
}

// Hashes scripts and checks long lists.
asio::awaitable<Result<Incoming>> ClientSession::incoming_of(wire::Request& request, RequestId id) {
    const auto config = services_.published.config.get();
    const RequestLimits limits{config->slurm_user, config->config.max_script_size, &config->config};
    const auto work = [&] { return incoming_from(request, caller_, id, limits); };
    if (request.ByteSizeLong() <= kLargeMessage) co_return work();
    co_return co_await run_on(services_.slow_pool, work);
}

// A cluster without root belongs to its own user, who need not have an entry (in a container).
asio::awaitable<bool> ClientSession::is_known(UserId user) {
    const auto config = services_.published.config.get();
    if (user == config->slurm_user || geteuid() != 0) co_return true;
    const Seconds age_max = config->config.group_update_time;
    if (const auto known = services_.known_users.remembered(user, age_max, wall_clock()))
        co_return *known;
    const auto look_up = [&] { return services_.known_users.look_up(user, wall_clock()); };
    co_return co_await run_on(services_.slow_pool, look_up);
}

// Only if a partition has AllowGroups: the look-up may take long.
asio::awaitable<void> ClientSession::add_groups(Caller& caller) {
    const auto snapshot = services_.published.snapshot.get();
    const bool wanted = std::any_of(
        snapshot->partitions->begin(), snapshot->partitions->end(),
        [](const Partition& partition) { return !partition.config.allow_groups.empty(); });
    if (!wanted) co_return;
    const auto look_up = [&] {
        const Seconds age_max = services_.published.config.get()->config.group_update_time;
        return services_.groups.of(caller.user, caller.group, age_max, wall_clock());
    };
    caller.groups = co_await run_on(services_.slow_pool, look_up);
}

// Only if a partition has AllocNodes.
asio::awaitable<void> ClientSession::add_hosts(Caller& caller) {
    const auto snapshot = services_.published.snapshot.get();
    const std::vector<std::string> names = hosts_in_alloc_nodes(*snapshot);
    if (names.empty()) co_return;
    const std::string address = address_in_peer(link_->peer());
    if (link_->local_peer || is_local_address(address)) {
        caller.hosts = names_of_this_host(names, *snapshot);
        co_return;
    }
    const auto look_up = [&] {
        return services_.peer_hosts.with_address(address, names, *snapshot, wall_clock());
    };
    caller.hosts = co_await run_on(services_.slow_pool, look_up);
}

// AllowGroups also applies to users who have jobs.
asio::awaitable<void> ClientSession::add_job_owners(UpdatePartition& change) {
    const bool wanted = change.change.members.has(&PartitionConfig::allow_groups);
    if (!wanted || !may(services_.role(caller_.user), Action::UpdatePartition)) co_return;
    const auto look_up = [&] { return job_owners(services_); };
    change.job_owners = co_await run_on(services_.slow_pool, look_up);
}

// Groups of a reservation. The core refuses users other than administrators, so nothing is looked
// up for them. Returns false if a group is unknown.
asio::awaitable<bool> ClientSession::add_group_members(ChangeReservation& event) {
    if (!event.change.groups || !may(services_.role(caller_.user), Action::ChangeReservation))
        co_return true;
    const auto look_up = [&] {
        for (GroupMembers& group : event.change.groups->items) {
            const std::optional<std::vector<uid_t>> members = group_members(group.name);
            if (!members) return false;
            group.users.clear();
            for (uid_t user : *members) group.users.push_back(UserId{user});
        }
        return true;
    };
    co_return co_await run_on(services_.slow_pool, look_up);
}

// A repeated request waits for the outcome of the first one if that is not decided yet.
asio::awaitable<void> ClientSession::ask(Incoming incoming, RequestId id, std::string key) {
    const auto trouble = services_.published.store_trouble.get();
    const bool only_waits = std::holds_alternative<WaitJob>(incoming.event);
    if (trouble && !only_waits && (key.empty() || !services_.undecided.has(key))) {
        answer_at_once(framed(error_reply(*trouble)));
        co_return;
    }
    if (!key.empty()) incoming.mark = services_.undecided.add(std::move(key));
    {
        const std::lock_guard guard(mutex_);
        take_place(id, nullptr);
    }
    incoming.request = id;
    incoming.asker = shared_from_this();
    incoming.charge = std::move(charge_);
    incoming.timer = std::move(timer_);
    if (!co_await push(services_, std::move(incoming))) {
        fill(id, refusal(ErrorCode::ShuttingDown, ""));
    }
}

void ClientSession::answered(RequestId request, Answer answer) {
    const auto config = services_.published.config.get();
    const auto snapshot = services_.published.snapshot.get();
    const ReplyContext context{*snapshot, services_.signer, wall_clock(),
                               config->config.cred_expire};
    fill(request, framed_reply(reply_from(answer, context)));
}

void ClientSession::to_be_answered(RequestId request, OpenQuestion question) {
    auto work = [self = shared_from_this(), request, question = std::move(question)] {
        if (self->link_->closed()) return;
        self->answered(request, answer_to(*question.cluster, question.time, question.event));
        self->all_told();
    };
    asio::post(services_.question_pool, std::move(work));
}

void ClientSession::all_told() {
    link_->flush();
}

void ClientSession::answer_at_once(Bytes reply) {
    timer_.stop();
    {
        const std::lock_guard guard(mutex_);
        take_place(RequestId{}, std::move(reply));
        send_ready();
    }
    link_->flush();
}

void ClientSession::fill(RequestId request, Bytes reply) {
    const std::lock_guard guard(mutex_);
    const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                   [&](const Slot& slot) { return slot.request == request; });
    if (slot == slots_.end()) return;
    slot->reply = std::move(reply);
    send_ready();
}

void ClientSession::take_place(RequestId request, Bytes reply) {
    slots_.push_back({request, std::move(reply)});
    link_->expect_until(std::nullopt);
}

void ClientSession::send_ready() {
    while (!slots_.empty() && slots_.front().reply) {
        link_->send_with_next(std::move(slots_.front().reply));
        slots_.pop_front();
    }
    if (slots_.empty()) link_->expect_until(std::chrono::steady_clock::now() + kIdleMost);
    if (!std::exchange(waited_for_, false)) return;
    asio::post(link_->executor(), [self = shared_from_this()] { self->answered_.cancel(); });
}

bool ClientSession::nothing_due() const {
    const std::lock_guard guard(mutex_);
    return slots_.empty();
}

template <typename Condition>
asio::awaitable<void> ClientSession::wait_until(Condition holds) {
    while (!link_->closed()) {
        {
            const std::lock_guard guard(mutex_);
            if (holds(slots_.size())) break;
            waited_for_ = true;
        }
        // The wake-up is posted to this thread, so it cannot come before the wait.
        answered_.expires_at(SteadyTime::max());
        std::error_code cancelled;
        co_await answered_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }
}

asio::awaitable<void> ClientSession::room_for_one_more() {
    return wait_until([](std::size_t due) { return due < kPipelineMost; });
}

// All answers have been sent: a client can make us keep only one listing.
asio::awaitable<void> ClientSession::all_answered() {
    co_await wait_until([](std::size_t due) { return due == 0; });
    co_await link_->flushed();
}

asio::awaitable<void> ClientSession::drop_waiting() {
    std::deque<Slot> dropped;
    {
        const std::lock_guard guard(mutex_);
        dropped.swap(slots_);
    }
    for (const Slot& slot : dropped) {
        if (slot.reply) continue;
        Incoming incoming;
        incoming.event = RequestDropped{slot.request};
        if (!co_await push(services_, std::move(incoming))) break;
    }
}

asio::awaitable<Bytes> ClientSession::query(const wire::Request& request) {
    switch (request.body_case()) {
        case wire::Request::kList:
            co_return co_await list(request.list());
        case wire::Request::kPing:
            co_return pong(services_);
        case wire::Request::kShowDamaged:
            if (auto allowed = permit(services_.role(caller_.user), Action::SeeDamagedRecords);
                !allowed) {
                co_return refusal(allowed.error().code, allowed.error().detail);
            }
            co_return text_reply(damaged_text(*services_.published.snapshot.get()));
        case wire::Request::kShowConfig:
            co_return text_reply(config_text());
        case wire::Request::kBatchScript:
            co_return co_await batch_script(JobId{request.batch_script()});
        case wire::Request::kAskAccounting:
        case wire::Request::kChangePolicy:
        case wire::Request::kAskPolicy:
        case wire::Request::kAccountingOrder:
            co_return co_await accounting(request);
        case wire::Request::kShowTriggers:
            co_return shown_triggers(request.show_triggers());
        case wire::Request::kProbeNode:
            co_return co_await probe_node(request.probe_node());
        case wire::Request::kShowStatistics:
            co_return co_await statistics();
        case wire::Request::kResetStatistics:
            co_return reset_statistics();
        case wire::Request::kTakeOver:  // this controller is the active one
            co_return done_reply();
        case wire::Request::kShutdown: {
            const auto allowed = permit(services_.role(caller_.user), Action::Shutdown);
            co_return allowed ? done_reply() : framed(error_reply(allowed.error()));
        }
        default:
            co_return refusal(ErrorCode::NotSupported, "a request that this version does not know");
    }
}

std::string ClientSession::config_text() const {
    const auto live = services_.published.config.get();
    return print_config(live->config,
                        {.boot_time = services_.boot_time,
                         .next_job_id = services_.published.snapshot.get()->next_job_id,
                         .slurm_user_id = live->slurm_user.value,
                         .slurmd_user_id = std::nullopt});
}

// A few jobs by their ids are found at once; other listings are made by the reader thread.
asio::awaitable<Bytes> ClientSession::list(const wire::ListTable& question) {
    const int jobs = question.filter().jobs_size();
    if (jobs > 0 && jobs <= kFewJobs && question.ByteSizeLong() <= kSmallQuestion) {
        co_return listings_.answer(*services_.published.snapshot.get(), question, caller_.user);
    }
    const auto read = [&] {
        return services_.listings.answer(*services_.published.snapshot.get(), question,
                                         caller_.user);
    };
    Bytes listing = bounded(co_await run_on(services_.reader_pool, read));
    if (link_->local_peer && listing->size() > kLongListing) {
        turn_ = co_await services_.turns.take(link_->executor());
    }
    co_return listing;
}

// A user must not fill the memory with long replies that are not read.
Bytes ClientSession::bounded(Bytes reply) {
    if (reply->size() <= kLongListing || may(services_.role(caller_.user), Action::ExceedRateLimit))
        return reply;
    Bytes counted = services_.unread.counted(caller_.user, std::move(reply));
    if (counted) return counted;
    return refusal(ErrorCode::RateLimited,
                   fmt::format("uid {} has replies of up to {} MB here that are not read yet",
                               caller_.user.value, services_.unread.most() >> 20));
}

asio::awaitable<Bytes> ClientSession::batch_script(JobId id) {
    const auto job = services_.published.snapshot.get()->jobs.find(id.value);
    if (!job) co_return refusal(ErrorCode::InvalidJobId, "");
    const auto allowed = permit(services_.role(caller_.user, job->user), Action::ReadScript);
    if (!allowed) co_return framed(error_reply(allowed.error()));
    if (job->details->script_hash().empty()) {
        co_return refusal(ErrorCode::NotFound, "this job has no batch script");
    }
    const auto read = [&] { return services_.store.blob(job->details->script_hash()); };
    const auto script = co_await run_on(services_.slow_pool, read);
    if (!script) co_return framed(error_reply(script.error()));
    co_return text_reply(*script);
}

// Whether this host can connect to a slurmd: on another thread, as that may take seconds.
asio::awaitable<Bytes> ClientSession::probe_node(const std::string& name) {
    const auto allowed = permit(services_.role(caller_.user), Action::SeePrivateNodes);
    if (!allowed) co_return framed(error_reply(allowed.error()));
    std::vector<ProbeTarget> targets;
    services_.published.snapshot.get()->nodes.for_each([&](const Node& node) {
        if (node.config.name == name && !node.removed)
            targets.push_back({node.config.address, node.config.port});
    });
    if (targets.empty()) co_return refusal(ErrorCode::InvalidNodeName, name);
    const auto work = [&] { return probe_tcp(targets, kProbeMost); };
    const auto results = co_await run_on(services_.slow_pool, work);
    if (!results.front().is_connected)
        co_return refusal(ErrorCode::LaunchFailed, results.front().why);
    co_return done_reply();
}

Bytes ClientSession::shown_triggers(std::string_view choice) const {
    const auto wanted = decode_trigger_choice(choice);
    if (!wanted) return framed(error_reply(wanted.error()));
    const auto snapshot = services_.published.snapshot.get();
    const Viewer viewer(*snapshot->settings, caller_.user,
                        snapshot->associations->admin_level(caller_.user));
    wire::Reply reply;
    wire::Rows& rows = *reply.mutable_rows();
    for (const Trigger& each : *snapshot->triggers) {
        if (fits(*wanted, each) && viewer.sees_jobs_of(each.user)) rows.add_rows(encode(each));
    }
    return framed_reply(reply);
}

asio::awaitable<Bytes> ClientSession::accounting(const wire::Request& request) {
    const auto work = [&] { return accounting_reply(services_, caller_.user, request); };
    co_return framed_reply(co_await run_on(services_.accounting_pool, work));
}

asio::awaitable<Bytes> ClientSession::statistics() {
    const auto read = [&] { return statistics_of(services_, wall_clock()); };
    const Statistics found = co_await run_on(services_.reader_pool, read);
    wire::Reply reply;
    field_codec::put_fields(found, *reply.mutable_statistics());
    co_return framed_reply(reply);
}

Bytes ClientSession::reset_statistics() {
    const auto allowed = permit(services_.role(caller_.user), Action::ResetStatistics);
    if (!allowed) return framed(error_reply(allowed.error()));
    services_.statistics.reset(wall_clock());
    log_audit("uid {}: reset statistics", caller_.user.value);
    return done_reply();
}

asio::awaitable<void> ClientSession::reconfigure() {
    const auto allowed = permit(services_.role(caller_.user), Action::Reconfigure);
    if (!allowed) {
        answer_at_once(framed(error_reply(allowed.error())));
        co_return;
    }
    // Checked before any part of the request is carried out.
    if (const auto trouble = services_.published.store_trouble.get()) {
        answer_at_once(framed(error_reply(*trouble)));
        co_return;
    }
    const RequestId id = services_.next_request();
    const auto prepare = [&] { return prepare_reconfigure(services_, id, caller_); };
    auto incoming = co_await run_on(services_.slow_pool, prepare);
    if (!incoming) {
        log_error("reconfigure refused: {}", to_string(incoming.error()));
        answer_at_once(framed(error_reply(incoming.error())));
        co_return;
    }
    std::string no_key;
    co_await ask(std::move(*incoming), id, std::move(no_key));
}

}  // namespace sluice
