// controller/fleet.cc
#include "controller/fleet.h"

#include <algorithm>
#include <asio/detached.hpp>
#include <asio/dispatch.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>

#include "base/log.h"
#include "controller/replies.h"
#include "controller/requests.h"
#include "model/errors.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

constexpr Seconds kHeartbeatMost{30};
constexpr Seconds kPulse{1};

void send(const std::shared_ptr<NodeLink>& node, const wire::AgentOrder& order) {
    node->link->send(framed(order));
}

// Of "10.0.0.1:4000"; none of "local".
std::string host_in(const std::string& peer) {
    const std::size_t colon = peer.rfind(':');
    return colon == std::string::npos ? "" : peer.substr(0, colon);
}

void close(const std::shared_ptr<NodeLink>& node) {
    asio::dispatch(node->link->executor(), [node] {
        node->link->close();
        node->answered.cancel();
    });
}

wire::AgentOrder order_from(const SignalJob& order) {
    wire::AgentOrder message;
    wire::SignalJob& signal = *message.mutable_signal();
    to_wire(order.run, *signal.mutable_run());
    signal.set_signal(order.signal);
    signal.set_batch_shell(order.batch_shell);
    signal.set_children(order.children);
    signal.set_steps(order.steps);
    signal.set_if_handled(order.if_handled);
    signal.set_suspension(order.suspension);
    signal.set_message(order.message);
    signal.set_stack_dump(order.stack_dump);
    // Compat with the message: no step means all of them.
    if (!order.only_step) signal.mutable_run()->set_step(0xffffffffu);
    return message;
}

wire::AgentOrder order_from(const TerminateJob& order, const Snapshot& snapshot) {
    wire::AgentOrder message;
    wire::Terminate& terminate = *message.mutable_terminate();
    to_wire(order.run, *terminate.mutable_run());
    terminate.set_grace_seconds(order.grace.count());
    terminate.set_reason_line(order.reason_line);
    terminate.set_only_step(order.only_step);
    if (order.for_epilog) {
        describe_for_epilog(*order.for_epilog, order.node, snapshot, *terminate.mutable_job());
    }
    return message;
}

wire::AgentOrder order_to_check_health() {
    wire::AgentOrder message;
    message.mutable_check_health();
    return message;
}

wire::AgentOrder order_from(const RebootNode& order) {
    wire::AgentOrder message;
    message.set_reboot(to_unix(order.issued));
    return message;
}

}  // namespace

Result<std::shared_ptr<const std::string>> BlobCache::get(const std::string& hash) {
    if (hash.empty()) return std::make_shared<const std::string>();
    if (const auto found = by_hash_.find(hash); found != by_hash_.end()) {
        kept_.splice(kept_.begin(), kept_, found->second);
        return kept_.front().bytes;
    }
    auto bytes = std::make_shared<const std::string>(TRY(store_.blob(hash)));
    kept_.push_front({hash, bytes});
    by_hash_[hash] = kept_.begin();
    bytes_ += bytes->size();
    while (bytes_ > kBytesMost && kept_.size() > 1) {
        bytes_ -= kept_.back().bytes->size();
        by_hash_.erase(kept_.back().hash);
        kept_.pop_back();
    }
    return bytes;
}

Fleet::Fleet(asio::any_io_executor home, Services& services)
    : home_(std::move(home)), services_(services), blobs_(services.store) {}

asio::awaitable<void> Fleet::serve(std::shared_ptr<Link> link, UserId user) {
    const auto message = co_await link->read();
    link->expect_until(std::nullopt);
    if (!message) co_return;
    const auto report = decode<wire::AgentReport>(*message);
    if (!report || !report->has_register_()) {
        log_debug("{}: not a registration", link->peer());
        co_return;
    }
    const auto live = services_.published.config.get();
    const Config& config = live->config;
    auto event = registration_from(report->register_(), wall_clock(), config);
    if (!event) {
        log_error("{}: bad registration: {}", link->peer(), to_string(event.error()));
        co_return;
    }
    if (!config.has_flag(config.slurmctld_parameters, "cloud_dns"))
        event->address = host_in(link->peer());
    auto node = std::make_shared<NodeLink>(link, event->node, user);
    Incoming incoming;
    incoming.timer = services_.statistics.requests.start(type_of(*report), user);
    incoming.event = std::move(*event);
    if (report->sequence() != 0) incoming.ack = Ack{node, report->sequence()};
    co_await asio::co_spawn(home_, claim(node, std::move(incoming)), asio::use_awaitable);
    if (co_await wait_for_welcome(node)) co_await hear(node);
    link->close();
    co_await asio::co_spawn(home_, leave(node), asio::use_awaitable);
}

// A node that registers again replaces its old connection, which may not have noticed yet that the
// peer is gone. The end of the old one must not affect the new one.
asio::awaitable<void> Fleet::claim(Node node, Incoming registration) {
    Node& place = nodes_[node->node];
    if (place) close(place);
    place = node;
    co_await push(services_, std::move(registration));
}

asio::awaitable<void> Fleet::leave(Node node) {
    const auto found = nodes_.find(node->node);
    if (found == nodes_.end() || found->second != node) co_return;
    nodes_.erase(found);
    if (!node->welcome) co_return;
    log_info("Node {} not responding: its connection is lost", node->node);
    Incoming incoming;
    incoming.event = NodeDisconnected{node->index};
    co_await push(services_, std::move(incoming));
}

asio::awaitable<bool> Fleet::wait_for_welcome(const Node& node) {
    while (!node->answer && !node->link->closed()) {
        node->answered.expires_at(SteadyTime::max());
        std::error_code cancelled;
        co_await node->answered.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }
    if (!node->answer) co_return false;
    if (node->answer->error) co_await node->link->flushed();
    co_return !node->answer->error;
}

asio::awaitable<void> Fleet::hear(const Node& node) {
    while (const auto message = co_await node->link->read()) {
        const auto report = decode<wire::AgentReport>(*message);
        if (!report) co_return;
        auto event = event_from(*report, node->answer->index);
        if (!event) {
            log_error("node {}: {}", node->node, to_string(event.error()));
            co_return;
        }
        Incoming incoming;
        incoming.timer = services_.statistics.requests.start(type_of(*report), node->user);
        incoming.event = std::move(*event);
        if (report->sequence() != 0) incoming.ack = Ack{node, report->sequence()};
        if (!co_await push(services_, std::move(incoming))) co_return;
    }
}

// All orders pass through the thread that reads from the store, also those that need nothing from
// there: so they stay in order, and no connection waits for the disk.
void Fleet::deliver(std::vector<NodeOrder> orders, std::vector<Ack> acks) {
    const std::size_t messages = orders.size() + acks.size();
    waiting_messages_ += messages;
    ++waiting_batches_;
    asio::post(services_.blob_pool,
               [this, messages, orders = std::move(orders), acks = std::move(acks)]() mutable {
                   asio::post(home_, [this, messages, ready = with_blobs(std::move(orders)),
                                      acks = std::move(acks)]() mutable {
                       for (const ReadyOrder& each : ready) carry_out(each);
                       acknowledge(std::move(acks));
                       waiting_messages_ -= messages;
                       --waiting_batches_;
                   });
               });
}

std::vector<Fleet::ReadyOrder> Fleet::with_blobs(std::vector<NodeOrder> orders) {
    std::vector<ReadyOrder> ready;
    ready.reserve(orders.size());
    for (NodeOrder& order : orders) {
        ReadyOrder& added = ready.emplace_back(ReadyOrder{.order = std::move(order)});
        const auto* batch = std::get_if<LaunchBatch>(&added.order.order);
        if (batch) added.blobs = blobs_for(*batch);
    }
    return ready;
}

Result<Fleet::Blobs> Fleet::blobs_for(const LaunchBatch& order) {
    Blobs blobs;
    blobs.script = TRY(blobs_.get(order.job->details->script_hash()));
    blobs.environment = TRY(blobs_.get(order.job->details->environment_hash()));
    return blobs;
}

void Fleet::carry_out(const ReadyOrder& ready) {
    const NodeOrder& order = ready.order;
    const auto found = nodes_.find(order.node);
    if (found == nodes_.end()) return;
    const Node& node = found->second;
    if (const auto* answer = std::get_if<NodeWelcome>(&order.order)) return welcome(node, *answer);
    if (!node->welcome) return;
    if (const auto* batch = std::get_if<LaunchBatch>(&order.order))
        return launch(node, *batch, ready.blobs);
    if (const auto* preparation = std::get_if<PrepareJob>(&order.order))
        return prepare(node, *preparation);
    if (const auto* signal = std::get_if<SignalJob>(&order.order))
        return send(node, order_from(*signal));
    if (const auto* reboot = std::get_if<RebootNode>(&order.order))
        return send(node, order_from(*reboot));
    if (std::holds_alternative<CheckHealth>(order.order))
        return send(node, order_to_check_health());
    const auto snapshot = services_.published.snapshot.get();
    send(node, order_from(std::get<TerminateJob>(order.order), *snapshot));
}

void Fleet::welcome(const Node& node, const NodeWelcome& answer) {
    node->welcome = !answer.error;
    node->index = answer.index;
    wire::AgentOrder message;
    wire::Registered& registered = *message.mutable_registered();
    registered.set_heartbeat_seconds(heartbeat_interval().count());
    if (answer.error) {
        log_error("node {}: registration refused: {}", node->node, to_string(*answer.error));
        registered.mutable_error()->set_code(static_cast<std::uint32_t>(answer.error->code));
        registered.mutable_error()->set_detail(answer.error->detail);
    } else {
        for (const RunId& run : answer.jobs) to_wire(run, *registered.mutable_jobs()->add_runs());
        registered.mutable_jobs();
    }
    send(node, message);
    if (!answer.error) {
        log_info("Node {} now responding", node->node);
        // Nodes that were not connected are told now; a new slurmd has just read slurm.conf.
        const auto [told, is_new] = told_.try_emplace(node->node, reconfigured_);
        if (told->second != reconfigured_) tell_to_reconfigure(node);
    }
    asio::dispatch(node->link->executor(), [node, answer] {
        node->answer = answer;
        node->answered.cancel();
    });
}

// A script that cannot be read is reported to the core as a failed launch.
void Fleet::launch(const Node& node, const LaunchBatch& order, const Result<Blobs>& blobs) {
    const Job& job = *order.job;
    if (!blobs) {
        const Error& error = blobs.error();
        log_error("job {}: cannot be launched: {}", job.id.value, to_string(error));
        Incoming incoming;
        incoming.event =
            LaunchReported{order.node, RunId{job.id, job.run.restarts, kBatchStep}, error};
        asio::co_spawn(home_, push(services_, std::move(incoming)), asio::detached);
        return;
    }
    const auto config = services_.published.config.get();
    const auto snapshot = services_.published.snapshot.get();
    const ReplyContext context{*snapshot, services_.signer, wall_clock(),
                               config->config.cred_expire};
    wire::AgentOrder message;
    wire::LaunchBatch& launch = *message.mutable_launch_batch();
    describe(job, *snapshot, *launch.mutable_job());
    launch.set_credential(issue_credential(job, kBatchStep, job.run.allocation->nodes, context,
                                           launch.job().request()));
    launch.set_script(*blobs->script);
    launch.set_environment(*blobs->environment);
    send(node, message);
}

void Fleet::prepare(const Node& node, const PrepareJob& order) {
    const auto config = services_.published.config.get();
    const auto snapshot = services_.published.snapshot.get();
    const ReplyContext context{*snapshot, services_.signer, wall_clock(),
                               config->config.cred_expire};
    const NodeShare* share = order.job->run.allocation->find(order.node);
    if (!share) return;
    wire::AgentOrder message;
    message.mutable_prepare()->set_credential(
        issue_credential(*order.job, kExternStep, {*share}, context));
    message.mutable_prepare()->set_contain(order.contain);
    describe_data_peers(*order.job, *snapshot, *message.mutable_prepare());
    send(node, message);
}

// The last acknowledgement of a node covers all earlier ones.
void Fleet::acknowledge(std::vector<Ack> acks) {
    std::stable_sort(acks.begin(), acks.end(),
                     [](const Ack& a, const Ack& b) { return a.link.get() < b.link.get(); });
    for (std::size_t i = 0; i < acks.size(); ++i) {
        if (i + 1 < acks.size() && acks[i + 1].link == acks[i].link) continue;
        wire::AgentOrder message;
        message.set_ack(acks[i].sequence);
        send(acks[i].link, message);
    }
}

// In turn with the orders: a node that was welcomed before is told, one that is welcomed later has
// read the new file.
void Fleet::reconfigure() {
    auto tell_all = [this] {
        ++reconfigured_;
        for (const auto& [name, node] : nodes_) {
            if (node->welcome) tell_to_reconfigure(node);
        }
    };
    asio::post(services_.blob_pool, [this, tell_all] { asio::post(home_, tell_all); });
}

void Fleet::tell_to_reconfigure(const Node& node) {
    told_[node->node] = reconfigured_;
    wire::AgentOrder message;
    message.mutable_reconfigure();
    send(node, message);
}

asio::awaitable<void> Fleet::pulse() {
    wire::AgentOrder message;
    message.mutable_alive();
    const Bytes bytes = framed(message);
    asio::steady_timer timer(home_);
    while (true) {
        timer.expires_after(kPulse);
        std::error_code cancelled;
        co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
        for (const auto& [name, node] : nodes_) {
            if (node->welcome) node->link->send(bytes);
        }
    }
}

asio::awaitable<void> Fleet::shut_down() {
    co_await asio::co_spawn(home_, tell_all_to_end(), asio::use_awaitable);
}

asio::awaitable<void> Fleet::tell_all_to_end() {
    wire::AgentOrder message;
    message.mutable_shutdown();
    for (const auto& [name, node] : nodes_) {
        if (node->welcome) send(node, message);
    }
    co_return;
}

// Frequent enough that one may be lost, rare enough that ten thousand nodes cause little load.
Seconds Fleet::heartbeat_interval() const {
    const Seconds timeout = services_.published.config.get()->config.slurmd_timeout;
    if (timeout == Seconds{0}) return kHeartbeatMost;
    return std::clamp(timeout / 3, Seconds{1}, kHeartbeatMost);
}

}  // namespace sluice
