// tools/node_load.cc
//
// Many nodes in one process, which only speak the protocol: they connect and authenticate
// themselves as slurmd does, register, send heartbeats, accept launches, and report their ends
// after a time.
//
//   sluice-node-load -f slurm.conf [-w nodes] [-t seconds] [-s seconds]
//
// -w: which nodes of slurm.conf (all); -t: how long a job runs (1); -s: between two lines of
// figures (1). A line says how many nodes are registered, and how many launches and ends there
// were. When all nodes are registered after some were not, another line says how long it took. On
// the host of slurmctld the connections are Unix sockets; from another network namespace they are
// TCP.
#include <fmt/format.h>
#include <getopt.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "auth/authenticator.h"
#include "auth/handshake.h"
#include "auth/sha256.h"
#include "auth/token.h"
#include "base/text.h"
#include "config/config.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/version.h"
#include "node/outbox.h"
#include "os/event_loop.h"
#include "os/files.h"
#include "os/self.h"
#include "os/socket.h"
#include "os/stream.h"
#include "os/user.h"
#include "protocol/convert.h"
#include "protocol/frame.h"

namespace sluice {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kPauseMin{100}, kPauseMax{5000};  // as of slurmd

struct Load {
    std::string config_path;
    std::string nodes;
    Seconds run_time{1};
    Seconds interval{1};
};

struct Counts {
    std::size_t registered = 0;
    std::uint64_t launches = 0, ends = 0, refused = 0, lost = 0;
};

// What all nodes share.
struct Shared {
    EventLoop& loop;
    const Config& config;
    Authenticator& authenticator;
    const Load& load;
    UserId slurm_user;
    Counts counts;
    std::string boot_id = "00000000-0000-0000-0000-000000000000";
    Time started = from_unix(std::time(nullptr));
    std::minstd_rand dice{1};
};

class VirtualNode {
public:
    VirtualNode(Shared& shared, const NodeConfig& node) : shared_(shared), node_(node) {}

    void connect();

private:
    void on_connected(Connection connection);
    void on_data(std::string_view bytes);
    Result<void> on_welcome(std::string_view frame);
    Result<void> prove(const wire::Welcome& welcome);
    void on_order(const wire::AgentOrder& order);
    void on_registered(const wire::Registered& registered);
    void on_launch(const wire::LaunchBatch& launch);
    void on_terminate(const wire::Terminate& order);
    void end_job(std::uint32_t job);
    void report(wire::AgentReport report);
    void heartbeat();
    void retry(const std::string& why);
    std::string registration_frame() const;

    Shared& shared_;
    const NodeConfig& node_;
    wire::Hello hello_;
    std::unique_ptr<Stream> stream_;
    Fd connecting_;
    FrameReader reader_;
    Outbox<wire::AgentReport> outbox_;
    std::map<std::uint32_t, wire::RunId> running_;  // by job
    milliseconds pause_ = kPauseMin;
    Seconds heartbeat_interval_{30};
    EventLoop::TimerId heartbeat_timer_ = 0;
    bool proven_ = false, welcomed_ = false, registered_ = false;
};

void VirtualNode::connect() {
    const ControllerHost& host = shared_.config.controllers.front();
    const Endpoint where{
        .address = host.address, .port = shared_.config.slurmctld_port, .daemon = "slurmctld"};
    Result<Connection> connection = start_connect(where);
    if (!connection) return retry(connection.error().detail);
    if (connection->local) return on_connected(std::move(*connection));
    connecting_ = std::move(connection->fd);
    shared_.loop.watch(connecting_.get(), EPOLLOUT, [this, where](std::uint32_t) {
        shared_.loop.forget(connecting_.get());
        Fd fd = std::move(connecting_);
        if (const std::optional<Error> failure = connect_failure(fd, where))
            return retry(failure->detail);
        on_connected({std::move(fd), false, {}});
    });
}

void VirtualNode::on_connected(Connection connection) {
    proven_ = connection.local;
    welcomed_ = registered_ = false;
    reader_ = FrameReader(kFrameSizeMax);
    hello_ = make_hello(wire::CHANNEL_AGENT, "sluice-node-load");
    if (!proven_)
        address_hello(hello_, controller_destination(shared_.config.controllers.front().name));
    stream_ = std::make_unique<Stream>(
        shared_.loop, std::move(connection.fd),
        Stream::Handlers{[this](std::string_view bytes) { on_data(bytes); },
                         [this] { retry("connection lost"); },
                         {}});
    std::string frames;
    append_frame(frames, hello_);
    stream_->send(proven_ ? frames + registration_frame() : frames);
}

std::string VirtualNode::registration_frame() const {
    wire::AgentReport report;
    wire::Register& message = *report.mutable_register_();
    NodeFacts facts;
    facts.cpus = node_.cpus;
    facts.boards = node_.boards;
    facts.sockets = node_.sockets;
    facts.cores_per_socket = node_.cores_per_socket;
    facts.threads_per_core = node_.threads_per_core;
    facts.real_memory = node_.real_memory;
    facts.arch = "x86_64";
    facts.os = "Linux";
    facts.version = kSlurmVersion;
    facts.hostname = node_.hostname;
    facts.boot_id = shared_.boot_id;
    facts.boot_time = facts.slurmd_start_time = shared_.started;
    message.set_node(node_.name);
    message.set_facts(encode(facts));
    for (const auto& [job, run] : running_) *message.add_running() = run;
    message.set_clock(std::time(nullptr));
    std::string frame;
    append_frame(frame, report);
    return frame;
}

void VirtualNode::on_data(std::string_view bytes) {
    reader_.feed(bytes);
    while (stream_) {
        const auto frame = reader_.next();
        if (!frame) return retry(to_string(frame.error()));
        if (!*frame) return;
        if (!welcomed_) {
            if (const Result<void> done = on_welcome(**frame); !done)
                return retry(to_string(done.error()));
            continue;
        }
        const Result<wire::AgentOrder> order = decode<wire::AgentOrder>(**frame);
        if (!order) return retry(to_string(order.error()));
        on_order(*order);
    }
}

Result<void> VirtualNode::on_welcome(std::string_view frame) {
    const wire::Welcome welcome = TRY(decode<wire::Welcome>(frame));
    if (welcome.has_error()) return from_wire(welcome.error());
    if (!proven_) return prove(welcome);
    welcomed_ = true;
    return {};
}

Result<void> VirtualNode::prove(const wire::Welcome& welcome) {
    TRY(check_welcome(welcome));
    const Time now = from_unix(std::time(nullptr));
    const std::string registration = registration_frame();
    wire::Proof proof;
    proof.set_request_hash(sha256(std::string_view(registration).substr(kFrameHeaderSize)));
    const Identity server =
        TRY(shared_.authenticator.check(welcome.credential(), server_digest(hello_, welcome), now));
    TRY(check_server(server.user, shared_.slurm_user));
    proof.set_credential(TRY(shared_.authenticator.vouch(
        client_digest(hello_, welcome, proof.request_hash()), server.user, now)));
    proven_ = true;
    std::string frames;
    append_frame(frames, proof);
    stream_->send(frames + registration);
    return {};
}

void VirtualNode::on_order(const wire::AgentOrder& order) {
    switch (order.body_case()) {
        case wire::AgentOrder::kAck:
            outbox_.acknowledge(order.ack());
            return;
        case wire::AgentOrder::kRegistered:
            return on_registered(order.registered());
        case wire::AgentOrder::kLaunchBatch:
            return on_launch(order.launch_batch());
        case wire::AgentOrder::kTerminate:
            return on_terminate(order.terminate());
        default:  // signals, reconfiguration, health checks: nothing to do
            return;
    }
}

void VirtualNode::on_registered(const wire::Registered& registered) {
    if (registered.has_error()) {
        if (shared_.counts.refused++ == 0) {
            fmt::print(stderr, "{}: refused: {}\n", node_.name,
                       to_string(from_wire(registered.error())));
        }
        return retry("");
    }
    registered_ = true;
    ++shared_.counts.registered;
    pause_ = kPauseMin;
    if (registered.heartbeat_seconds() > 0)
        heartbeat_interval_ = Seconds{registered.heartbeat_seconds()};
    std::string frames;
    for (const wire::AgentReport& each : outbox_.pending()) append_frame(frames, each);
    stream_->send(frames);
    heartbeat();
}

void VirtualNode::on_launch(const wire::LaunchBatch& launch) {
    wire::RunId run;
    run.set_job(launch.job().job());
    run.set_restarts(launch.job().restarts());
    run.set_step(kBatchStep.value);
    if (!running_.emplace(run.job(), run).second) return;  // an order that was repeated
    ++shared_.counts.launches;
    wire::AgentReport started;
    *started.mutable_launch_result()->mutable_run() = run;
    report(std::move(started));
    shared_.loop.after(shared_.load.run_time, [this, job = run.job()] { end_job(job); });
}

void VirtualNode::end_job(std::uint32_t job) {
    const auto found = running_.find(job);
    if (found == running_.end()) return;
    ++shared_.counts.ends;
    wire::AgentReport ended;
    *ended.mutable_job_ended()->mutable_run() = found->second;
    ended.mutable_job_ended()->mutable_exit();
    running_.erase(found);
    report(std::move(ended));
}

void VirtualNode::on_terminate(const wire::Terminate& order) {
    if (running_.count(order.run().job()) > 0) return end_job(order.run().job());
    wire::AgentReport cleaned;
    *cleaned.mutable_node_cleaned()->mutable_run() = order.run();
    report(std::move(cleaned));
}

void VirtualNode::report(wire::AgentReport report) {
    const wire::AgentReport& numbered = outbox_.add(std::move(report));
    std::string frame;
    append_frame(frame, numbered);
    if (registered_) stream_->send(frame);
}

void VirtualNode::heartbeat() {
    wire::AgentReport report;
    report.mutable_heartbeat()->set_load(0.5);
    report.mutable_heartbeat()->set_free_memory(node_.real_memory / 2);
    std::string frame;
    append_frame(frame, report);
    stream_->send(frame);
    heartbeat_timer_ = shared_.loop.after(heartbeat_interval_, [this] { heartbeat(); });
}

void VirtualNode::retry(const std::string& why) {
    if (registered_) {
        --shared_.counts.registered;
        ++shared_.counts.lost;
    }
    static std::set<std::string> told;
    if (!why.empty() && told.insert(why).second) fmt::print(stderr, "{}: {}\n", node_.name, why);
    registered_ = false;
    shared_.loop.cancel(heartbeat_timer_);
    if (stream_) {
        stream_->close();
        shared_.loop.later([old = std::shared_ptr<Stream>(std::move(stream_))] {});
    }
    const auto half = pause_ / 2;
    const milliseconds pause = half + milliseconds(shared_.dice() % (half.count() + 1));
    shared_.loop.after(pause, [this] { connect(); });
    pause_ = std::min(pause_ * 2, kPauseMax);
}

// ---- the program

Result<Load> parse(int argc, char** argv) {
    Load load;
    int letter = 0;
    while ((letter = getopt(argc, argv, "f:w:t:s:")) != -1) {
        const auto number = to_number(optarg ? optarg : "");
        const bool is_bad_number =
            (letter == 't' || letter == 's') && (!number || *number > 1'000'000);
        if (letter == '?' || is_bad_number)
            return Error{ErrorCode::BadArgument, "-f FILE [-w NODES] [-t SECONDS] [-s SECONDS]"};
        if (letter == 'f') load.config_path = optarg;
        if (letter == 'w') load.nodes = optarg;
        if (letter == 't') load.run_time = Seconds{static_cast<std::int64_t>(*number)};
        if (letter == 's')
            load.interval = Seconds{std::max<std::int64_t>(1, static_cast<std::int64_t>(*number))};
    }
    if (load.config_path.empty()) return Error{ErrorCode::BadArgument, "-f: which slurm.conf?"};
    return load;
}

AuthSettings auth_settings(const Config& config, UserId slurm_user) {
    return {.type = config.auth_type,
            .munge_socket = std::string(list_option(config.auth_info, "socket").value_or("")),
            .key_path = std::string(
                list_option(config.auth_info, "key").value_or(default_token_key_path(config.path))),
            .host = host_name(),
            .slurm_user = slurm_user};
}

// Says how it goes, as long as the program runs.
class Watcher {
public:
    Watcher(Shared& shared, std::size_t nodes) : shared_(shared), nodes_(nodes) {}

    void look() {
        const Counts& now = shared_.counts;
        const bool is_complete = now.registered == nodes_;
        if (is_complete && since_) {
            const std::chrono::duration<double> took = Clock::now() - *since_;
            fmt::print("all {} nodes registered after {:.2f} s\n", nodes_, took.count());
            since_.reset();
        } else if (!is_complete && !since_) {
            since_ = Clock::now();
        }
        if (Clock::now() >= next_line_) {
            next_line_ = Clock::now() + shared_.load.interval;
            say();
        }
        std::fflush(stdout);
        shared_.loop.after(milliseconds{10}, [this] { look(); });
    }

    void say() const {
        const Counts& now = shared_.counts;
        fmt::print("registered {}, launches {}, ends {}, lost {}, refused {}\n", now.registered,
                   now.launches, now.ends, now.lost, now.refused);
    }

private:
    Shared& shared_;
    std::size_t nodes_;
    std::optional<Clock::time_point> since_ = Clock::now();
    Clock::time_point next_line_ = Clock::now();
};

Result<void> run(const Load& load) {
    const Config config = TRY(load_config(load.config_path));
    if (config.controllers.empty())
        return Error{ErrorCode::BadArgument, "slurm.conf names no SlurmctldHost"};
    const std::optional<User> user = find_user(config.slurm_user);
    const UserId slurm_user{user ? user->uid : 0};
    const auto authenticator = TRY(Authenticator::create(auth_settings(config, slurm_user)));
    std::optional<Hostlist> wanted;
    if (!load.nodes.empty()) wanted = TRY(Hostlist::parse(load.nodes));
    raise_file_limit(config.nodes.size() + 100);
    EventLoop loop;
    Shared shared{.loop = loop,
                  .config = config,
                  .authenticator = *authenticator,
                  .load = load,
                  .slurm_user = slurm_user,
                  .counts = {}};
    std::vector<std::unique_ptr<VirtualNode>> nodes;
    for (const NodeConfig& node : config.nodes) {
        if (!wanted || wanted->contains(node.name))
            nodes.push_back(std::make_unique<VirtualNode>(shared, node));
    }
    loop.on_signals({SIGINT, SIGTERM}, [&](int) { loop.stop(); });
    Watcher watcher(shared, nodes.size());
    for (const auto& node : nodes) node->connect();
    watcher.look();
    loop.run();
    watcher.say();
    return {};
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    const auto load = sluice::parse(argc, argv);
    const auto done = load ? sluice::run(*load) : sluice::Result<void>(load.error());
    if (done) return 0;
    fmt::print(stderr, "sluice-node-load: {}\n", sluice::to_string(done.error()));
    return 1;
}
