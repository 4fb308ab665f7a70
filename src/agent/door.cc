#include "agent/door.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <ctime>

#include "base/log.h"
#include "model/errors.h"
#include "os/files.h"
#include "os/socket.h"
#include "protocol/convert.h"
#include "protocol/frame.h"

namespace sluice {

namespace {

constexpr std::size_t kVisitorsMax = 4096;
constexpr std::chrono::seconds kPatience{30};  // for a message that was begun

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
    bool greeted = false;
    bool gone = false;
    wire::Channel channel = wire::CHANNEL_CLIENT;
    Identity identity;
    EventLoop::TimerId patience = 0;

    std::string_view message() const { return std::string_view(bytes).substr(kFrameHeaderSize); }
    std::size_t size_max() const { return greeted ? kFrameSizeMax : kHelloSizeMax; }
};

Door::Door(EventLoop& loop, std::shared_ptr<Credentials> credentials, Jobs& jobs)
    : loop_(loop),
      credentials_(std::move(credentials)),
      jobs_(jobs),
      started_(from_unix(std::time(nullptr))) {}

Result<void> Door::open(const Site& site) {
    listen(TRY(listen_local("slurmd", site.node.port)));  // first: see connect_to()
    listen(TRY(listen_tcp(site.node.port)));
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
    if (visitors_.size() >= kVisitorsMax) return;  // closed: they will try again
    auto visitor = std::make_shared<Visitor>();
    visitor->fd = std::move(connection);
    visitors_.insert(visitor);
    visitor->patience = loop_.after(kPatience, [this, visitor] { leave(visitor); });
    loop_.watch(visitor->fd.get(), EPOLLIN,
                [this, visitor](std::uint32_t) { on_readable(visitor); });
}

void Door::on_readable(const std::shared_ptr<Visitor>& visitor) {
    char buffer[64 * 1024];
    while (!visitor->gone) {
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
    if (!visitor->greeted) {
        on_hello(*visitor);
        if (!visitor->greeted) leave(visitor);
    } else if (visitor->channel == wire::CHANNEL_LOCAL) {
        on_local(*visitor);
    } else {
        on_launch(visitor);
    }
}

void Door::on_hello(Visitor& visitor) {
    Result<wire::Hello> hello = decode<wire::Hello>(visitor.message());
    wire::Welcome welcome;
    welcome.set_version(kProtocolVersion);
    welcome.set_clock(std::time(nullptr));
    auto refuse = [&](const Error& error) {
        *welcome.mutable_error() = to_wire(error);
        answer(visitor.fd, welcome);
    };
    if (!hello) return refuse(hello.error());
    if (hello->version() != kProtocolVersion) {
        return refuse({ErrorCode::ProtocolVersion,
                       fmt::format("{} speaks version {}, this slurmd {}", hello->program(),
                                   hello->version(), kProtocolVersion)});
    }
    if (hello->channel() != wire::CHANNEL_STEP && hello->channel() != wire::CHANNEL_LOCAL) {
        return refuse({ErrorCode::ProtocolError, "this is slurmd, not slurmctld"});
    }
    Result<Identity> identity =
        credentials_->identify(visitor.fd, hello->credential(), from_unix(std::time(nullptr)));
    if (!identity) return refuse(identity.error());
    visitor.identity = *identity;
    visitor.channel = hello->channel();
    visitor.greeted = true;
    answer(visitor.fd, welcome);
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
    } else if (!peer_of(visitor.fd)) {
        *reply.mutable_error() =
            to_wire({ErrorCode::AccessDenied, "tokens are given on this host only"});
    } else {
        Result<std::string> token =
            credentials_->token_for(visitor.identity, from_unix(std::time(nullptr)));
        if (token) {
            reply.set_token(*token);
        } else {
            *reply.mutable_error() = to_wire(token.error());
        }
    }
    answer(visitor.fd, reply);
}

void Door::on_launch(const std::shared_ptr<Visitor>& visitor) {
    Result<wire::StepInput> input = decode<wire::StepInput>(visitor->message());
    loop_.forget(visitor->fd.get());
    Fd connection = std::move(visitor->fd);
    leave(visitor);
    if (!input || !input->has_launch()) {
        return refuse_launch(std::move(connection),
                             {ErrorCode::ProtocolError, "a launch was expected"});
    }
    jobs_.launch_tasks(input->launch(), {visitor->identity, std::move(connection), refuse_launch});
}

void Door::leave(const std::shared_ptr<Visitor>& visitor) {
    if (visitor->gone) return;
    visitor->gone = true;
    loop_.cancel(visitor->patience);
    if (visitor->fd) loop_.forget(visitor->fd.get());
    visitor->fd.reset();
    visitors_.erase(visitor);
}

}  // namespace sluice
