#include "agent/door.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "auth/handshake.h"
#include "auth/sha256.h"
#include "auth/validity.h"
#include "base/log.h"
#include "model/errors.h"
#include "os/files.h"
#include "os/socket.h"
#include "protocol/convert.h"
#include "protocol/frame.h"
#include "protocol/spoken_versions.h"

namespace sluice {

namespace {

// Far below the usual limit of 1024 descriptors: the supervisors of running steps need some, too.
constexpr std::size_t kVisitorsMax = 256;
constexpr std::chrono::seconds kPatience{30};  // until its request is complete
constexpr std::chrono::seconds kNoiseSummary{1};

Time wall_time() {
    return from_unix(std::time(nullptr));
}

// Answers are small and the peer waits for them: they fit into the socket's buffer.
void answer(const Fd& fd, const google::protobuf::MessageLite& message) {
    std::string frame;
    append_frame(frame, message);
    if (send(fd.get(), frame.data(), frame.size(), MSG_NOSIGNAL) < 0) {
        log_debug("{} did not wait for its answer", peer_address(fd));
    }
}

void refuse_launch(Fd connection, const Error& error) {
    wire::StepOutput output;
    *output.mutable_error() = to_wire(error);
    answer(connection, output);
}

}  // namespace

struct Door::Visitor {
    Fd fd;
    std::string bytes;  // of the message that is being read
    std::size_t wanted = kFrameHeaderSize;
    enum class Stage { Hello, Proof, Known } stage = Stage::Hello;
    bool gone = false;
    bool asked_about = false;  // the authenticator is at work; nothing is read until it answers
    // Over TCP: what has been said so far, and what the first message must be.
    wire::Hello hello;
    wire::Welcome welcome;
    std::optional<std::string> expected_hash;
    wire::Channel channel = wire::CHANNEL_CLIENT;
    Identity identity;
    EventLoop::TimerId patience = 0;

    std::string_view message() const { return std::string_view(bytes).substr(kFrameHeaderSize); }
    std::size_t size_max() const { return stage == Stage::Known ? kFrameSizeMax : kHelloSizeMax; }
};

Door::Door(EventLoop& loop, std::shared_ptr<Authenticator> authenticator, SlowWork& slow_work,
           Jobs& jobs, GpuWatch& gpus)
    : loop_(loop),
      authenticator_(std::move(authenticator)),
      slow_work_(slow_work),
      jobs_(jobs),
      gpus_(gpus),
      started_(from_unix(std::time(nullptr))) {}

Result<void> Door::open(const Site& site) {
    node_ = site.node.name;
    // Compat: TCP on every address ("") unless CommunicationParameters=NoInAddrAny.
    const bool only_own = site.config.has_flag(site.config.communication_parameters, "NoInAddrAny");
    listen(TRY(listen_local("slurmd", site.node.port)));  // first: see connect_to()
    listen(TRY(listen_tcp(site.node.port, only_own ? site.node.address : "")));
    return {};
}

void Door::listen(Fd listener) {
    int fd = listener.get();
    listeners_.push_back(std::move(listener));
    std::size_t index = listeners_.size() - 1;
    loop_.watch(fd, EPOLLIN, [this, index](std::uint32_t) {
        while (Fd connection = accept_connection(listeners_[index])) admit(std::move(connection));
    });
}

void Door::admit(Fd connection) {
    if (visitors_.size() >= kVisitorsMax) make_room();
    auto visitor = std::make_shared<Visitor>();
    visitor->fd = std::move(connection);
    visitors_.push_back(visitor);
    visitor->patience = loop_.after(kPatience, [this, visitor] { leave(visitor); });
    watch(visitor);
}

void Door::watch(const std::shared_ptr<Visitor>& visitor) {
    loop_.watch(visitor->fd.get(), EPOLLIN,
                [this, visitor](std::uint32_t) { on_readable(visitor); });
}

// Connections that only wait must not keep others away: the oldest goes, if possible one whose user
// is not known.
void Door::make_room() {
    auto is_unknown = [](const std::shared_ptr<Visitor>& visitor) {
        return visitor->stage != Visitor::Stage::Known;
    };
    auto place = std::ranges::find_if(visitors_, is_unknown);
    const std::shared_ptr<Visitor> oldest = place != visitors_.end() ? *place : visitors_.front();
    leave(oldest);
}

void Door::on_readable(const std::shared_ptr<Visitor>& visitor) {
    char buffer[64 * 1024];
    while (!visitor->gone && !visitor->asked_about) {
        std::size_t missing = std::min(visitor->wanted - visitor->bytes.size(), sizeof buffer);
        ssize_t count = recv(visitor->fd.get(), buffer, missing, 0);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (count <= 0) return leave(visitor);
        visitor->bytes.append(buffer, static_cast<std::size_t>(count));
        if (visitor->bytes.size() < visitor->wanted) continue;
        if (visitor->wanted == kFrameHeaderSize) {
            std::uint32_t length = 0;
            for (std::size_t i = kFrameHeaderSize; i-- > 0;) {
                length = length << 8 | static_cast<unsigned char>(visitor->bytes[i]);
            }
            if (length > visitor->size_max()) return leave(visitor);
            visitor->wanted += length;
            if (length > 0) continue;
        }
        on_message(visitor);
        visitor->bytes.clear();
        visitor->wanted = kFrameHeaderSize;
    }
}

void Door::on_message(const std::shared_ptr<Visitor>& visitor) {
    if (visitor->stage != Visitor::Stage::Known) return greet(visitor);
    if (visitor->expected_hash) {
        const Result<void> expected =
            check_request_hash(*visitor->expected_hash, visitor->message());
        visitor->expected_hash.reset();
        if (!expected) {
            note_refusal(LogLevel::Error, *visitor, to_string(expected.error()));
            return leave(visitor);
        }
    }
    visitor->channel == wire::CHANNEL_LOCAL ? on_local(*visitor) : on_step(visitor);
}

void Door::greet(const std::shared_ptr<Visitor>& visitor) {
    wire::Welcome welcome;
    const bool is_first = visitor->stage == Visitor::Stage::Hello;
    welcome.set_version(is_first ? spoken_versions().most : visitor->welcome.version());
    welcome.set_clock(std::time(nullptr));
    const Result<void> done = is_first ? on_hello(visitor, welcome) : on_proof(visitor, welcome);
    if (!visitor->asked_about) end_greeting(visitor, std::move(welcome), done);
}

void Door::end_greeting(const std::shared_ptr<Visitor>& visitor, wire::Welcome welcome,
                        const Result<void>& done) {
    if (!done) {
        note_refusal(LogLevel::Info, *visitor, "refused: " + to_string(done.error()));
        *welcome.mutable_error() = to_wire(done.error());
    }
    answer(visitor->fd, welcome);
    if (!done) leave(visitor);
}

void Door::note_refusal(LogLevel level, const Visitor& visitor, const std::string& why) {
    log_noise(level, "{}: {}", peer_address(visitor.fd), why);
    if (std::exchange(is_noise_due_, true)) return;
    loop_.after(kNoiseSummary, [this] {
        is_noise_due_ = false;
        end_noise_second();
    });
}

// The authenticator may have to wait for munged.
template <typename Question, typename Then>
Result<void> Door::ask(const std::shared_ptr<Visitor>& visitor, Question question, Then then) {
    const bool is_taken =
        slow_work_.run(std::move(question), [this, visitor, then = std::move(then)](auto answer) {
            if (visitor->gone) return;
            visitor->asked_about = false;
            watch(visitor);
            then(std::move(answer));
        });
    if (!is_taken) return Error{ErrorCode::RateLimited, "too many connections wait to be known"};
    visitor->asked_about = true;
    loop_.forget(visitor->fd.get());
    return {};
}

Result<void> Door::on_hello(const std::shared_ptr<Visitor>& visitor, wire::Welcome& welcome) {
    wire::Hello hello = TRY(decode<wire::Hello>(visitor->message()));
    welcome.set_version(TRY(common_version(hello, "slurmd")));
    if (hello.channel() != wire::CHANNEL_STEP && hello.channel() != wire::CHANNEL_LOCAL) {
        return Error{ErrorCode::ProtocolError, "this is slurmd, not slurmctld"};
    }
    visitor->channel = hello.channel();
    if (std::optional<Peer> peer = peer_of(visitor->fd)) {
        visitor->identity = {UserId{peer->uid}, GroupId{peer->gid}};
        visitor->stage = Visitor::Stage::Known;
        return {};
    }
    TRY(check_hello(hello, hello.destination() == node_destination(node_)));
    welcome.set_nonce(make_nonce());
    visitor->hello = std::move(hello);
    visitor->welcome = welcome;
    auto vouch = [authenticator = authenticator_, digest = server_digest(visitor->hello, welcome)] {
        return authenticator->vouch(digest, std::nullopt, wall_time());
    };
    return ask(visitor, vouch, [this, visitor](Result<std::string> credential) {
        if (!credential) return end_greeting(visitor, visitor->welcome, credential.error());
        visitor->welcome.set_credential(*credential);
        visitor->stage = Visitor::Stage::Proof;
        end_greeting(visitor, visitor->welcome, {});
    });
}

Result<void> Door::on_proof(const std::shared_ptr<Visitor>& visitor, const wire::Welcome& welcome) {
    const wire::Proof proof = TRY(decode<wire::Proof>(visitor->message()));
    auto check = [authenticator = authenticator_, credential = proof.credential(),
                  digest = client_digest(visitor->hello, visitor->welcome, proof.request_hash())] {
        return authenticator->check(credential, digest, wall_time());
    };
    return ask(visitor, check,
               [this, visitor, welcome, hash = proof.request_hash()](Result<Identity> identity) {
                   if (!identity) return end_greeting(visitor, welcome, identity.error());
                   visitor->identity = *identity;
                   visitor->expected_hash = hash;
                   visitor->stage = Visitor::Stage::Known;
                   end_greeting(visitor, welcome, {});
               });
}

Result<std::string> Door::token_for(const Visitor& visitor, const wire::TokenRequest& request,
                                    wire::LocalReply& reply) {
    if (!peer_of(visitor.fd)) {
        return Error{ErrorCode::AccessDenied, "tokens are given on this host only"};
    }
    if (request.digest().size() != kSha256Size) {
        return Error{ErrorCode::ProtocolError, "a token must cover a SHA-256"};
    }
    // First, because it fails where there are no tokens: the check would then ask munged.
    std::string token =
        TRY(authenticator_->vouch_for(visitor.identity, request.digest(), wall_time()));
    const Identity server = TRY(
        authenticator_->check(request.server_credential(), request.server_digest(), wall_time()));
    reply.set_server_user(server.user.value);
    return token;
}

void Door::on_local(Visitor& visitor) {
    Result<wire::LocalRequest> request = decode<wire::LocalRequest>(visitor.message());
    wire::LocalReply reply;
    if (!request) {
        *reply.mutable_error() = to_wire(request.error());
    } else if (request->has_ping()) {
        reply.mutable_pong()->set_hostname(host_name());
        reply.mutable_pong()->set_pid(static_cast<std::uint32_t>(getpid()));
        reply.mutable_pong()->set_boot_time(to_unix(started_));
    } else if (Result<std::string> token = token_for(visitor, request->token(), reply)) {
        reply.set_token(*token);
    } else {
        *reply.mutable_error() = to_wire(token.error());
    }
    answer(visitor.fd, reply);
}

// sstat waits for one answer; the visitor stays as long as others may.
void Door::on_usage_asked(const std::shared_ptr<Visitor>& visitor, const wire::AskUsage& question) {
    jobs_.ask_usage(question, visitor->identity, [visitor](Result<wire::StepUsages> usages) {
        if (visitor->gone) return;
        wire::StepOutput output;
        if (usages) {
            *output.mutable_usages() = std::move(*usages);
        } else {
            *output.mutable_error() = to_wire(usages.error());
        }
        answer(visitor->fd, output);
    });
}

void Door::on_step(const std::shared_ptr<Visitor>& visitor) {
    Result<wire::StepInput> input = decode<wire::StepInput>(visitor->message());
    if (input && input->has_ask_usage()) return on_usage_asked(visitor, input->ask_usage());
    loop_.forget(visitor->fd.get());
    Fd connection = std::move(visitor->fd);
    leave(visitor);
    allow_stopped_peer(connection);
    if (input && input->has_ask_gpus())
        return gpus_.answer(input->ask_gpus(), visitor->identity, std::move(connection));
    Jobs::Caller caller{visitor->identity, std::move(connection), refuse_launch};
    if (input && input->has_tree()) return jobs_.launch_tree(input->tree(), std::move(caller));
    if (input && input->has_attach()) return jobs_.attach(input->attach(), std::move(caller));
    if (input && input->has_data_peer())
        return jobs_.serve_peer(input->data_peer(), std::move(caller));
    if (!input || !input->has_launch()) {
        return refuse_launch(std::move(caller.connection),
                             {ErrorCode::ProtocolError, "a launch was expected"});
    }
    jobs_.launch_tasks(input->launch(), std::move(caller));
}

void Door::leave(const std::shared_ptr<Visitor>& visitor) {
    if (visitor->gone) return;
    visitor->gone = true;
    loop_.cancel(visitor->patience);
    if (visitor->fd) loop_.forget(visitor->fd.get());
    visitor->fd.reset();
    visitors_.remove(visitor);
}

}  // namespace sluice
