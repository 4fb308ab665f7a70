#include "agent/controller_link.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <ctime>

#include "auth/handshake.h"
#include "auth/sha256.h"
#include "base/log.h"
#include "model/errors.h"
#include "protocol/convert.h"

namespace sluice {

namespace {
constexpr std::chrono::milliseconds kPauseMin{100};
constexpr std::chrono::milliseconds kPauseMax{5000};
constexpr std::chrono::milliseconds kCompanyMost{5};
constexpr std::chrono::seconds kConnectTimeout{10};
constexpr std::chrono::seconds kWelcomeTimeout{30};
// Where there are several controllers: a takeover takes about 5 seconds.
constexpr std::chrono::milliseconds kPauseMostOfSeveral{1000};
constexpr std::chrono::seconds kTimeoutOfSeveral{3};
constexpr std::chrono::seconds kSilenceMost{5};
constexpr int kLookUpsMost = 2;  // that hang; other slow work needs threads, too
}  // namespace

// Whether a name server may be asked, which may take long.
static bool is_looked_up(const std::string& address) {
    in6_addr number{};
    return !is_local_address(address) && inet_pton(AF_INET, address.c_str(), &number) != 1 &&
           inet_pton(AF_INET6, address.c_str(), &number) != 1;
}

std::chrono::milliseconds with_jitter(std::chrono::milliseconds pause, std::uint32_t dice) {
    const auto half = pause / 2;
    return pause - half + std::chrono::milliseconds(dice % (half.count() + 1));
}

ControllerLink::ControllerLink(EventLoop& loop, std::shared_ptr<const Site> site,
                               std::shared_ptr<Authenticator> authenticator, SlowWork& slow_work,
                               Handlers handlers)
    : loop_(loop),
      site_(std::move(site)),
      authenticator_(std::move(authenticator)),
      slow_work_(slow_work),
      handlers_(std::move(handlers)),
      pause_(kPauseMin) {}

void ControllerLink::start() {
    connect();
}

void ControllerLink::replace_site(std::shared_ptr<const Site> site) {
    site_ = std::move(site);
    attempt_ += std::max<std::size_t>(site_->config.controllers.size(), 1) - 1;  // the same one
    // To the controller we are never away: a second connection replaces the first one there.
    if (registered_) previous_ = std::move(stream_);
    retry("");
}

const ControllerHost& ControllerLink::host() const {
    const std::vector<ControllerHost>& hosts = site_->config.controllers;
    return hosts[attempt_ % hosts.size()];
}

void ControllerLink::connect() {
    if (site_->config.controllers.empty()) return retry("slurm.conf names no SlurmctldHost");
    const Endpoint where{
        .address = host().address, .port = site_->config.slurmctld_port, .daemon = "slurmctld"};
    if (is_looked_up(where.address)) return look_up_and_connect(where);
    on_started(start_connect(where), where);
}

void ControllerLink::look_up_and_connect(const Endpoint& where) {
    const bool is_started =
        look_ups_ < kLookUpsMost &&
        slow_work_.run([where] { return start_connect(where); },
                       [this, number = connections_, where](Result<Connection> connection) {
                           --look_ups_;
                           if (number != connections_) return;
                           loop_.cancel(timer_);
                           on_started(std::move(connection), where);
                       });
    if (!is_started) return retry(fmt::format("the look-up of {} hangs", where.address));
    ++look_ups_;
    timer_ = loop_.after(has_backups() ? kTimeoutOfSeveral : kConnectTimeout, [this, where] {
        retry(fmt::format("the look-up of {} takes too long", where.address));
    });
}

void ControllerLink::on_started(Result<Connection> connection, const Endpoint& where) {
    if (!connection) return retry(connection.error().detail);
    if (connection->local) return on_connected(std::move(*connection));

    connecting_ = std::move(connection->fd);
    timer_ = loop_.after(has_backups() ? kTimeoutOfSeveral : kConnectTimeout,
                         [this] { retry("no answer"); });
    loop_.watch(connecting_.get(), EPOLLOUT, [this, where](std::uint32_t) {
        loop_.forget(connecting_.get());
        Fd fd = std::move(connecting_);
        if (std::optional<Error> failure = connect_failure(fd, where))
            return retry(failure->detail);
        on_connected({std::move(fd), false, {}});
    });
}

void ControllerLink::on_connected(Connection connection) {
    loop_.cancel(timer_);
    proving_ = proven_ = welcomed_ = registered_ = false;
    hello_ = make_hello(wire::CHANNEL_AGENT, "slurmd");
    is_local_ = connection.local;
    if (is_local_) {
        const Result<void> trusted = check_local_server(UserId{connection.peer.uid}, slurm_user());
        if (!trusted) return retry(to_string(trusted.error()));
        proven_ = true;
    } else {
        address_hello(hello_, controller_destination(host().name));
    }
    timer_ = loop_.after(has_backups() ? kTimeoutOfSeveral : kWelcomeTimeout,
                         [this] { retry("no answer to the greeting"); });
    reader_ = FrameReader(kHelloSizeMax);
    auto is_current = [this, number = ++connections_] { return number == connections_; };
    auto on_bytes = [this, is_current](std::string_view bytes) {
        if (is_current()) on_data(bytes);
    };
    auto on_close = [this, is_current] {
        if (is_current()) retry("connection lost");
    };
    stream_ = std::make_unique<Stream>(loop_, std::move(connection.fd),
                                       Stream::Handlers{on_bytes, on_close, {}});
    std::string frames;
    append_frame(frames, hello_);
    stream_->send(proven_ ? frames + registration_frame() : frames);
}

std::string ControllerLink::registration_frame() {
    wire::AgentReport report;
    *report.mutable_register_() = handlers_.registration();
    std::string frame;
    append_frame(frame, report);
    return frame;
}

// On a Unix socket there is one Welcome. Over TCP the first one holds the server's proof, which
// covers the launch key; the second one says that it has accepted ours, and its key is not proven.
Result<void> ControllerLink::on_welcome(std::string_view frame) {
    const wire::Welcome welcome = TRY(decode<wire::Welcome>(frame));
    if (welcome.has_error()) return from_wire(welcome.error());
    if (proving_) return Error{ErrorCode::ProtocolError, "a second Welcome before the proof"};
    if (!proven_) return prove(welcome);
    if (is_local_) handlers_.on_launch_key(welcome.launch_key());
    loop_.cancel(timer_);
    reader_.set_size_max(kFrameSizeMax);
    welcomed_ = true;
    if (has_backups()) listen_for_silence();
    return {};
}

// Both questions to the authenticator may have to wait for munged.
Result<void> ControllerLink::prove(const wire::Welcome& welcome) {
    TRY(check_welcome(welcome));
    const std::string registration = registration_frame();
    wire::Proof proof;
    proof.set_request_hash(sha256(std::string_view(registration).substr(kFrameHeaderSize)));
    auto check_and_vouch =
        [authenticator = authenticator_, slurm_user = slurm_user(),
         credential = welcome.credential(), theirs = server_digest(hello_, welcome),
         ours = client_digest(hello_, welcome, proof.request_hash())]() -> Result<std::string> {
        const Time now = from_unix(std::time(nullptr));
        const Identity server = TRY(authenticator->check(credential, theirs, now));
        TRY(check_server(server.user, slurm_user));
        return authenticator->vouch(ours, server.user, now);
    };
    proving_ = slow_work_.run(check_and_vouch,
                              [this, number = connections_, proof, registration,
                               launch_key = welcome.launch_key()](Result<std::string> credential) {
                                  if (number != connections_) return;
                                  if (!credential) return retry(to_string(credential.error()));
                                  wire::Proof complete = proof;
                                  complete.set_credential(*credential);
                                  send_proof(complete, launch_key, registration);
                              });
    if (!proving_) return Error{ErrorCode::RateLimited, "too many connections wait to be known"};
    return {};
}

void ControllerLink::send_proof(const wire::Proof& proof, const std::string& launch_key,
                                const std::string& registration) {
    handlers_.on_launch_key(launch_key);
    proving_ = false;
    proven_ = true;
    std::string frames;
    append_frame(frames, proof);
    stream_->send(frames + registration);
}

void ControllerLink::listen_for_silence() {
    timer_ = loop_.after(kSilenceMost, [this] {
        if (std::chrono::steady_clock::now() - heard_ >= kSilenceMost)
            return retry("it was silent for too long");
        listen_for_silence();
    });
}

void ControllerLink::on_data(std::string_view bytes) {
    heard_ = std::chrono::steady_clock::now();
    reader_.feed(bytes);
    for (;;) {
        auto frame = reader_.next();
        if (!frame) return retry(to_string(frame.error()));
        if (!*frame) return;
        if (!welcomed_) {
            if (Result<void> done = on_welcome(**frame); !done) {
                return retry(to_string(done.error()));
            }
            continue;
        }
        Result<wire::AgentOrder> order = decode<wire::AgentOrder>(**frame);
        if (!order) return retry(to_string(order.error()));
        on_order(*order);
        if (!stream_ || stream_->closed()) return;
    }
}

void ControllerLink::on_order(const wire::AgentOrder& order) {
    if (order.body_case() == wire::AgentOrder::kAck) {
        for (const wire::AgentReport& done : outbox_.acknowledge(order.ack())) {
            handlers_.on_acknowledged(done);
        }
        return;
    }
    if (order.has_registered()) {
        if (order.registered().has_error()) {
            return retry("registration refused: " +
                         to_string(from_wire(order.registered().error())));
        }
        log_info("registered with {} as node {}", host().address, site_->node.name);
        registered_ = true;
        previous_.reset();
        pause_ = kPauseMin;
        failures_.clear();
        for (const wire::AgentReport& report : outbox_.pending()) append_frame(unsent_, report);
        send_unsent();
    }
    handlers_.on_order(order);
}

// No process waits for the report of a successful launch, and the end of a short job often follows
// at once: such a report is sent together with the next one.
void ControllerLink::report(wire::AgentReport report) {
    const bool can_wait = report.has_launch_result() && !report.launch_result().has_error();
    const wire::AgentReport& numbered = outbox_.add(std::move(report));
    if (!registered_) return;
    if (unsent_.empty() && can_wait) {
        unsent_timer_ = loop_.after(kCompanyMost, [this] { send_unsent(); });
    }
    append_frame(unsent_, numbered);
    if (!can_wait) send_unsent();
}

void ControllerLink::send_unsent() {
    loop_.cancel(unsent_timer_);
    stream_->send(unsent_);
    unsent_.clear();
}

void ControllerLink::send_once(const wire::AgentReport& report) {
    if (!registered_ || !stream_) return;
    std::string frame;
    append_frame(frame, report);
    stream_->send(frame);
}

void ControllerLink::retry(const std::string& why) {
    if (!why.empty() && !site_->config.controllers.empty()) {
        std::string& last = failures_[host().name];
        // Once, not every five seconds.
        if (why != last) log_error("slurmctld at {}: {}; trying again", host().address, why);
        last = why;
    }
    if (!why.empty()) previous_.reset();
    registered_ = welcomed_ = proven_ = proving_ = false;
    ++connections_;
    loop_.cancel(unsent_timer_);
    unsent_.clear();  // the outbox has it
    if (connecting_) loop_.forget(connecting_.get());
    connecting_.reset();
    if (stream_) {
        stream_->close();
        // We may be in one of its functions.
        loop_.later([old = std::shared_ptr<Stream>(std::move(stream_))] {});
    }
    loop_.cancel(timer_);
    ++attempt_;
    // After a failure the other controllers are tried at once.
    const bool is_round_over =
        why.empty() || attempt_ % std::max<std::size_t>(site_->config.controllers.size(), 1) == 0;
    const auto pause = is_round_over ? with_jitter(pause_, dice_()) : std::chrono::milliseconds{0};
    timer_ = loop_.after(pause, [this] { connect(); });
    if (is_round_over)
        pause_ = std::min(pause_ * 2, has_backups() ? kPauseMostOfSeveral : kPauseMax);
}

}  // namespace sluice
