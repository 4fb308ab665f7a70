#include "cli/client/client.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "auth/handshake.h"
#include "model/errors.h"
#include "net/opening.h"
#include "os/busy.h"
#include "os/error.h"
#include "os/files.h"
#include "os/user.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRetryDelayMin{50};
constexpr milliseconds kRetryDelayMax{1000};
// At a terminal the command prints what it waits for and gives up soon; in a script it waits
// longer.
constexpr milliseconds kRetryTold{1000};
constexpr Seconds kPatienceAtTerminal{5};
// Most answers arrive within this time: sleeping and waking up would take as long as the answer.
constexpr std::chrono::microseconds kAnswerSoon{600};
// A command that waits for a long answer lowers its priority, so that short requests come first.
constexpr std::size_t kLongAnswer = 16 * 1024;
constexpr int kGiveWay = 10;
constexpr milliseconds kBackOff{1000};  // when the controller says that we ask too often
constexpr int kSendsMax = 3;            // of a request that may be repeated, when answers get lost
constexpr const char* kOutcomeUnknown = "the answer is lost, it is not known whether this was done";
// Of several controllers, the next one is tried if one of them does not answer for so long.
constexpr milliseconds kOneServerMost{2000};
constexpr milliseconds kOneAnswerMost{2000};
// While an answer takes longer: whether that controller still answers others.
constexpr milliseconds kProbeAfter{2000};
constexpr milliseconds kProbeEvery{10000};

// Answers that come when something has happened in the cluster, not within a time.
bool is_answered_late(const wire::Request& request) {
    return request.has_wait_job() || request.has_create_step();
}

// Requests that do no harm when the controller gets them twice. A submission carries a key by which
// the controller knows it again.
bool may_be_repeated(const wire::Request& request) {
    switch (request.body_case()) {
        case wire::Request::kSubmit:
            return !request.submit().idempotency_key().empty();
        case wire::Request::kCreateStep:
            return !request.create_step().idempotency_key().empty();
        case wire::Request::kCancel:  // to end a job; a signal or a message would arrive twice
            return request.cancel().signal() == 0 && request.cancel().message().empty();
        case wire::Request::kCompleteJob:  // a job that is over is as good as given back
        case wire::Request::kList:
        case wire::Request::kWaitJob:
        case wire::Request::kPing:
        case wire::Request::kShowConfig:
        case wire::Request::kBatchScript:
        case wire::Request::kJobAllocation:
        case wire::Request::kExplain:
        case wire::Request::kShowDamaged:
        case wire::Request::kShowStatistics:
        case wire::Request::kAskAccounting:
            return true;
        default:
            return false;
    }
}

bool is_connection_error(const Error& error) {
    return error.code == ErrorCode::ControllerUnreachable || error.code == ErrorCode::Timeout;
}

bool is_rate_limited(const wire::Reply& reply) {
    return reply.has_error() && from_wire(reply.error()).code == ErrorCode::RateLimited;
}

milliseconds left_until(std::chrono::steady_clock::time_point moment) {
    auto left = std::chrono::ceil<milliseconds>(moment - std::chrono::steady_clock::now());
    return std::max(left, milliseconds{0});
}

// By a controller that has done nothing with the request.
bool is_refused_by_standby(const wire::Reply& reply, const Config& config) {
    if (!reply.has_error()) return false;
    const ErrorCode code = from_wire(reply.error()).code;
    return code == ErrorCode::InStandby ||
           (code == ErrorCode::ShuttingDown && config.controllers.size() > 1);
}

// A takeover takes about 5 seconds: where there are several controllers, it is waited for.
milliseconds patience_of(const Config& config) {
    const bool at_terminal = isatty(STDERR_FILENO) == 1 && config.controllers.size() == 1;
    return at_terminal ? std::min(config.message_timeout, kPatienceAtTerminal)
                       : config.message_timeout;
}

// On standard error, whatever the tool itself prints.
void say_retrying(const std::string& tool, std::optional<milliseconds> patience) {
    const std::string how_long =
        patience ? fmt::format(" for {} s", std::chrono::ceil<Seconds>(*patience).count()) : "";
    write_all(STDERR_FILENO,
              fmt::format("{}: slurmctld does not answer, retrying{}\n", tool, how_long));
}

Result<std::unique_ptr<Config>> load_config(const Environment& environment) {
    const std::string path =
        config_path("", environment.find("SLURM_CONF").value_or(""), own_program_path());
    return std::make_unique<Config>(TRY(load_settings(path)));
}

Endpoint endpoint_of(const ControllerHost& controller, const Config& config) {
    return {.address = controller.address, .port = config.slurmctld_port, .daemon = "slurmctld"};
}

}  // namespace

std::optional<LocalController> find_local_controller(const Environment& environment) {
    Result<std::unique_ptr<Config>> config = load_config(environment);
    if (!config || (*config)->controllers.size() != 1) return {};
    std::optional<UserId> slurm_user;
    if ((*config)->slurm_user == "root")
        slurm_user = UserId{0};
    else if (std::optional<User> user = find_listed_user((*config)->slurm_user))
        slurm_user = UserId{user->uid};
    if (!slurm_user) return {};
    std::optional<Connection> connection =
        connect_local(endpoint_of((*config)->controllers.front(), **config));
    if (!connection) return {};
    return LocalController{std::move(*config), *slurm_user, std::move(*connection)};
}

ClusterClient::ClusterClient(const Invocation& invocation, LocalController controller)
    : invocation_(invocation),
      config_(std::move(controller.config)),
      local_(std::move(controller)) {}

Result<const Config*> ClusterClient::config() {
    if (!config_) config_ = TRY(load_config(invocation_.environment));
    return config_.get();
}

Result<OpenedNode> ClusterClient::connect_node(const wire::NodeAddress& node,
                                               const FirstMessage& first) {
    TRY(config());
    const Endpoint endpoint{.address = node.address().empty() ? node.name() : node.address(),
                            .port = static_cast<std::uint16_t>(node.port()),
                            .daemon = "slurmd"};
    Result<Connection> connection = connect_to(endpoint, config_->message_timeout);
    if (!connection) {
        return Error{ErrorCode::LaunchFailed,
                     fmt::format("{}: {}", node.name(), connection.error().detail)};
    }
    const Opening opening{.tool = invocation_.tool,
                          .config = *config_,
                          .channel = wire::CHANNEL_STEP,
                          .destination = node_destination(node.name())};
    Result<std::string> unsent = open_channel(*connection, opening, first(*connection));
    if (!unsent) {
        const ErrorCode code =
            is_connection_error(unsent.error()) ? ErrorCode::LaunchFailed : unsent.error().code;
        return Error{code, fmt::format("{}: {}", node.name(), unsent.error().detail)};
    }
    return OpenedNode{std::move(*connection), std::move(*unsent)};
}

// Where slurmdbd has the accounting database, it answers about it.
bool ClusterClient::is_for_dbd(const wire::Request& request) const {
    return (request.has_ask_accounting() || request.has_change_policy() ||
            request.has_accounting_order()) &&
           config_->accounting_type == "accounting_storage/slurmdbd";
}

std::vector<ClusterClient::Server> ClusterClient::servers_for(const wire::Request& request) const {
    std::vector<Server> servers;
    if (!is_for_dbd(request)) {
        for (const ControllerHost& each : config_->controllers)
            servers.push_back({endpoint_of(each, *config_), controller_destination(each.name)});
        return servers;
    }
    for (const std::string& host : {config_->accounting_host, config_->accounting_backup_host}) {
        if (host.empty()) continue;
        servers.push_back(
            {{.address = host, .port = config_->accounting_port, .daemon = "slurmdbd"},
             dbd_destination(host)});
    }
    return servers;
}

Result<Connection> ClusterClient::connect(const Endpoint& endpoint, milliseconds timeout) {
    if (!local_) return as(ErrorCode::ControllerUnreachable, connect_to(endpoint, timeout));
    if (local_->connection.fd) return std::exchange(local_->connection, {});
    if (std::optional<Connection> again = connect_local(endpoint)) return std::move(*again);
    return Error{ErrorCode::ControllerUnreachable, ""};
}

// Connects, and gives what is to be sent, the request at its end.
Result<std::string> ClusterClient::open_to(const Server& server, const wire::Request& request,
                                           milliseconds timeout) {
    Connection connection = TRY(connect(server.endpoint, timeout));
    const bool has_several = config_->controllers.size() > 1 && !is_for_dbd(request);
    const Opening opening{.tool = invocation_.tool,
                          .config = *config_,
                          .channel = wire::CHANNEL_CLIENT,
                          .destination = server.destination,
                          .slurm_user = local_ ? std::optional(local_->slurm_user) : std::nullopt,
                          .patience = has_several ? std::optional(kOneServerMost) : std::nullopt};
    std::string bytes = TRY(open_channel(connection, opening, request));
    connection_ = std::move(connection);
    reader_ = FrameReader(kReplySizeMax);
    welcomed_ = false;
    is_at_dbd_ = is_for_dbd(request);
    timeval limit{.tv_sec = config_->message_timeout.count(), .tv_usec = 0};
    setsockopt(connection_.fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return bytes;
}

// A ping does not wait; a wait for a job has no limit.
ClusterClient::Search ClusterClient::search_for(const wire::Request& request,
                                                const Waiting& waiting) const {
    const milliseconds patience = request.has_ping() ? milliseconds{0} : patience_of(*config_);
    const auto start = Clock::now();
    return {.start = start,
            .deadline = start + patience,
            .stays = request.has_wait_job() && !waiting.give_up_after,
            .delay = kRetryDelayMin};
}

// Fails when the time is over.
Result<void> ClusterClient::pause(Search& search, const Waiting& waiting) {
    if (!search.stays && left_until(search.deadline) < search.delay) {
        return Error{ErrorCode::ControllerUnreachable, "never connected"};
    }
    if (!told_of_retry_ && Clock::now() - search.start >= kRetryTold) {
        told_of_retry_ = true;
        const milliseconds patience =
            std::chrono::ceil<milliseconds>(search.deadline - search.start);
        say_retrying(invocation_.tool, search.stays ? std::nullopt : std::optional(patience));
    }
    pollfd wake{waiting.wake_fd, POLLIN, 0};
    if (poll(&wake, 1, static_cast<int>(search.delay.count())) > 0) {
        return Error{ErrorCode::None, "interrupted"};
    }
    search.delay = std::min(2 * search.delay, kRetryDelayMax);
    search.tried = 0;
    return {};
}

// Tries every server in turn until one answers or the time is over, beginning with the one that
// answered last.
Result<std::string> ClusterClient::connect_controller(const wire::Request& request, Search& search,
                                                      const Waiting& waiting) {
    const std::vector<Server> servers = servers_for(request);
    std::optional<Error> refusal;  // of a server that is there, or by us of a false one
    for (;;) {
        const milliseconds left = std::max(
            search.stays ? patience_of(*config_) : left_until(search.deadline), kRetryDelayMin);
        const milliseconds most = servers.size() > 1 ? std::min(left, kOneServerMost) : left;
        Result<std::string> opened = open_to(servers[server_ % servers.size()], request, most);
        if (opened) return opened;
        if (!is_connection_error(opened.error())) refusal = opened.error();
        ++server_;
        if (++search.tried < servers.size()) continue;
        if (refusal) return *refusal;
        TRY(pause(search, waiting));
    }
}

// A controller in standby has done nothing with the request: another one is active, or will be.
Result<void> ClusterClient::try_the_next(Search& search, const Waiting& waiting, const Error& why) {
    connection_ = {};
    ++server_;
    if (++search.tried < config_->controllers.size()) return {};
    Result<void> paused = pause(search, waiting);
    return paused || paused.error().code == ErrorCode::None ? paused : why;
}

Result<wire::Reply> ClusterClient::call(const wire::Request& request, const Waiting& waiting) {
    TRY(config());
    bool told = false;
    Search search = search_for(request, waiting);
    for (int sends = 1;; ++sends) {
        Result<wire::Reply> reply = exchange(request, search, waiting, told);
        if (reply && is_refused_by_standby(*reply, *config_)) {
            TRY(try_the_next(search, waiting, from_wire(reply->error())));
            --sends;
            continue;
        }
        if (reply && is_rate_limited(*reply) && !waiting.give_up_after) {
            pollfd wake{waiting.wake_fd, POLLIN, 0};
            if (poll(&wake, 1, static_cast<int>(kBackOff.count())) > 0)
                return Error{ErrorCode::None, "interrupted"};
            --sends;
            continue;
        }
        if (reply && reply->has_error()) return from_wire(reply->error());
        if (reply) return reply;
        connection_.fd.reset();  // an answer that comes late would be taken for the next one
        if (!is_connection_error(reply.error())) return reply;
        bool was_asked_to_give_up = waiting.give_up_after.has_value();
        // A lost wait is simply asked again, whenever the controller is back.
        bool again = may_be_repeated(request) && !was_asked_to_give_up &&
                     (sends < kSendsMax || request.has_wait_job());
        if (reply.error().detail == "never connected") return Error{reply.error().code, ""};
        if (!again)
            return Error{reply.error().code, may_be_repeated(request) ? "" : kOutcomeUnknown};
        search = search_for(request, waiting);
    }
}

Result<wire::Reply> ClusterClient::exchange(const wire::Request& request, Search& search,
                                            const Waiting& waiting, bool& told) {
    std::string bytes;
    if (is_at_dbd_ != is_for_dbd(request)) connection_ = {};
    if (connection_.fd)
        append_frame(bytes, request);
    else
        bytes = TRY(connect_controller(request, search, waiting));
    if (!send_all(connection_.fd.get(), bytes)) {
        // The server may have refused us in its Welcome before it read the request.
        return welcomed_ ? Result<wire::Reply>(Error{ErrorCode::ControllerUnreachable, "lost"})
                         : receive(request, waiting, told);
    }
    return receive(request, waiting, told);
}

Result<wire::Reply> ClusterClient::receive(const wire::Request& request, const Waiting& waiting,
                                           bool& told) {
    const auto start = Clock::now();
    std::optional<bool> awake;  // decided when there is something to wait for
    for (;;) {
        std::optional<std::string_view> frame = TRY(reader_.next());
        if (frame && welcomed_) {
            if (frame->size() > kLongAnswer) give_way();
            return decode<wire::Reply>(*frame);
        }
        if (frame) {
            wire::Welcome welcome = TRY(decode<wire::Welcome>(*frame));
            if (welcome.has_error()) return from_wire(welcome.error());
            welcomed_ = true;
            continue;
        }
        if (reader_.missing() > kLongAnswer) {
            give_way();
            reader_.make_room();
        }
        char buffer[65536];
        ssize_t size = recv(connection_.fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
        if (size < 0 && errno == EAGAIN) {
            if (!awake) awake = !host_is_busy();
            if (*awake && Clock::now() - start < kAnswerSoon) {
                sched_yield();
            } else {
                TRY(wait_readable(start, request, waiting, told));
            }
            continue;
        }
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return Error{ErrorCode::ControllerUnreachable, "lost"};
        reader_.feed({buffer, static_cast<std::size_t>(size)});
    }
}

void ClusterClient::give_way() {
    if (std::exchange(gave_way_, true)) return;
    [[maybe_unused]] const int ignored = nice(kGiveWay);  // only other programs would notice
}

bool ClusterClient::has_backups() const {
    return !is_at_dbd_ && config_->controllers.size() > 1;
}

Result<wire::Reply> ClusterClient::call_controller(std::size_t place,
                                                   const wire::Request& request) {
    TRY(config());
    ClusterClient other(invocation_);
    TRY(other.config());
    const Server server = other.servers_for(request).at(place);
    const std::string bytes = TRY(other.open_to(server, request, kOneServerMost));
    const Error lost{ErrorCode::ControllerUnreachable, ""};
    if (!send_all(other.connection_.fd.get(), bytes)) return lost;
    bool told = false;
    wire::Reply reply = TRY(other.receive(request, {.give_up_after = kOneAnswerMost}, told));
    if (reply.has_error()) return from_wire(reply.error());
    return reply;
}

// Whether the controller that has our request answers another question: one that was stopped, or
// cut off, keeps its connections.
bool ClusterClient::is_still_served() {
    wire::Request ping;
    ping.mutable_ping();
    const auto reply = call_controller(server_ % config_->controllers.size(), ping);
    return reply && !reply->pong().standby();
}

// Until there may be something to read.
Result<void> ClusterClient::wait_readable(Clock::time_point start, const wire::Request& request,
                                          const Waiting& waiting, bool& told) {
    std::optional<Clock::time_point> deadline;
    if (waiting.give_up_after) {
        deadline = start + *waiting.give_up_after;
    } else if (!is_answered_late(request)) {
        deadline = start + config_->message_timeout;
    }
    const bool will_tell = waiting.on_slow && !told;
    const bool will_probe = has_backups() && !waiting.give_up_after;
    if (probe_at_ < start) probe_at_ = start + kProbeAfter;
    int timeout = deadline ? static_cast<int>(left_until(*deadline).count()) : -1;
    const auto wake_at = [&timeout](Clock::time_point moment) {
        const int left = static_cast<int>(left_until(moment).count());
        timeout = timeout < 0 ? left : std::min(timeout, left);
    };
    if (will_tell) wake_at(start + waiting.slow_after);
    if (will_probe) wake_at(probe_at_);
    pollfd entries[] = {{connection_.fd.get(), POLLIN, 0}, {waiting.wake_fd, POLLIN, 0}};
    int ready = poll(entries, 2, timeout);
    if (ready > 0 && entries[0].revents) return {};
    if (ready > 0 && entries[1].revents) return Error{ErrorCode::None, "interrupted"};
    if (ready == 0 && deadline && left_until(*deadline) == milliseconds{0}) {
        return Error{ErrorCode::Timeout, ""};
    }
    if (ready == 0 && will_probe && Clock::now() >= probe_at_) {
        probe_at_ = Clock::now() + kProbeEvery;
        if (!is_still_served()) return Error{ErrorCode::ControllerUnreachable, "silent"};
    }
    if (ready == 0 && will_tell && Clock::now() >= start + waiting.slow_after) {
        told = true;
        ClusterClient other(invocation_);
        waiting.on_slow(other);
    }
    return {};
}

}  // namespace sluice
