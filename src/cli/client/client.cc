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
        case wire::Request::kCompleteJob:  // a job that is over is as good as given back
        case wire::Request::kList:
        case wire::Request::kWaitJob:
        case wire::Request::kPing:
        case wire::Request::kShowConfig:
        case wire::Request::kBatchScript:
        case wire::Request::kJobAllocation:
        case wire::Request::kCancel:
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

milliseconds patience_of(const Config& config) {
    const bool at_terminal = isatty(STDERR_FILENO) == 1;
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
    if (!connection) return Error{ErrorCode::LaunchFailed, connection.error().detail};
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
    const Opening opening{.tool = invocation_.tool,
                          .config = *config_,
                          .channel = wire::CHANNEL_CLIENT,
                          .destination = server.destination,
                          .slurm_user = local_ ? std::optional(local_->slurm_user) : std::nullopt};
    std::string bytes = TRY(open_channel(connection, opening, request));
    connection_ = std::move(connection);
    reader_ = FrameReader(kReplySizeMax);
    welcomed_ = false;
    is_at_dbd_ = is_for_dbd(request);
    timeval limit{.tv_sec = config_->message_timeout.count(), .tv_usec = 0};
    setsockopt(connection_.fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return bytes;
}

// Tries every controller in turn until one answers or the time is over. A ping does not wait; a
// wait for a job has no limit.
Result<std::string> ClusterClient::connect_controller(const wire::Request& request,
                                                      const Waiting& waiting) {
    const milliseconds patience = request.has_ping() ? milliseconds{0} : patience_of(*config_);
    const bool stays = request.has_wait_job() && !waiting.give_up_after;
    const auto start = Clock::now();
    const auto deadline = start + patience;
    milliseconds delay = kRetryDelayMin;
    const std::vector<Server> servers = servers_for(request);
    for (;;) {
        std::optional<Error> refusal;  // of a server that is there, or by us of a false one
        for (const Server& server : servers) {
            const milliseconds left = stays ? patience : left_until(deadline);
            Result<std::string> opened = open_to(server, request, std::max(left, kRetryDelayMin));
            if (opened) return opened;
            if (!is_connection_error(opened.error())) refusal = opened.error();
        }
        if (refusal) return *refusal;
        if (!stays && left_until(deadline) < delay) {
            return Error{ErrorCode::ControllerUnreachable, ""};
        }
        if (!told_of_retry_ && Clock::now() - start >= kRetryTold) {
            told_of_retry_ = true;
            say_retrying(invocation_.tool, stays ? std::nullopt : std::optional(patience));
        }
        pollfd wake{waiting.wake_fd, POLLIN, 0};
        if (poll(&wake, 1, static_cast<int>(delay.count())) > 0) {
            return Error{ErrorCode::None, "interrupted"};
        }
        delay = std::min(2 * delay, kRetryDelayMax);
    }
}

Result<wire::Reply> ClusterClient::call(const wire::Request& request, const Waiting& waiting) {
    TRY(config());
    bool told = false;
    for (int sends = 1;; ++sends) {
        Result<wire::Reply> reply = exchange(request, waiting, told);
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
        if (!again || reply.error().detail == "never connected") {
            return Error{reply.error().code, ""};
        }
    }
}

Result<wire::Reply> ClusterClient::exchange(const wire::Request& request, const Waiting& waiting,
                                            bool& told) {
    std::string bytes;
    if (is_at_dbd_ != is_for_dbd(request)) connection_ = {};
    if (connection_.fd) {
        append_frame(bytes, request);
    } else {
        Result<std::string> opened = connect_controller(request, waiting);
        if (!opened && opened.error().code == ErrorCode::ControllerUnreachable) {
            return Error{ErrorCode::ControllerUnreachable, "never connected"};
        }
        bytes = TRY(std::move(opened));
    }
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
    int timeout = deadline ? static_cast<int>(left_until(*deadline).count()) : -1;
    if (will_tell) {
        int until_slow = static_cast<int>(left_until(start + waiting.slow_after).count());
        timeout = timeout < 0 ? until_slow : std::min(timeout, until_slow);
    }
    pollfd entries[] = {{connection_.fd.get(), POLLIN, 0}, {waiting.wake_fd, POLLIN, 0}};
    int ready = poll(entries, 2, timeout);
    if (ready > 0 && entries[0].revents) return {};
    if (ready > 0 && entries[1].revents) return Error{ErrorCode::None, "interrupted"};
    if (ready == 0 && deadline && left_until(*deadline) == milliseconds{0}) {
        return Error{ErrorCode::Timeout, ""};
    }
    if (ready == 0 && will_tell) {
        told = true;
        ClusterClient other(invocation_);
        waiting.on_slow(other);
    }
    return {};
}

}  // namespace sluice
