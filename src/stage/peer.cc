#include "stage/peer.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cstring>

#include "auth/handshake.h"
#include "model/errors.h"
#include "net/opening.h"
#include "os/socket.h"
#include "protocol/convert.h"
#include "stage/channel.h"

namespace sluice::stage {

namespace {
constexpr std::chrono::seconds kConnectTime{5};
constexpr timeval kAnswerTime{.tv_sec = 30, .tv_usec = 0};

Error gone() {
    return {ErrorCode{}, "the connection broke"};
}
}  // namespace

Result<PeerNode> PeerNode::connect(const Config& config, const wire::NodeAddress& address,
                                   const wire::DataPeer& introduction) {
    const Endpoint endpoint{.address = address.address(),
                            .port = static_cast<std::uint16_t>(address.port()),
                            .daemon = "slurmd"};
    const Connection connection = TRY(connect_to(endpoint, kConnectTime));
    const Opening opening{.tool = "sluice-stage",
                          .config = config,
                          .channel = wire::CHANNEL_STEP,
                          .destination = node_destination(address.name())};
    wire::StepInput input;
    *input.mutable_data_peer() = introduction;
    const std::string bytes = TRY(open_channel(connection, opening, input));
    const int fd = connection.fd.get();
    set_blocking(connection.fd, true);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kAnswerTime, sizeof kAnswerTime);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kAnswerTime, sizeof kAnswerTime);
    if (!send_all(fd, bytes)) return gone();
    const wire::Welcome welcome = TRY(receive_message<wire::Welcome>(fd));
    if (welcome.has_error()) return from_wire(welcome.error());
    const wire::StepOutput accepted = TRY(receive_message<wire::StepOutput>(fd));
    if (accepted.has_error()) return from_wire(accepted.error());
    return PeerNode(Fd(dup(fd)));
}

Result<PeerAnswer> PeerNode::ask(const std::string& key, std::uint32_t piece) {
    PeerQuestion question{};
    std::memcpy(question.key, key.data(), std::min(key.size(), kKeySize));
    question.piece = piece;
    PeerAnswer answer{};
    const std::string_view bytes(reinterpret_cast<const char*>(&question), sizeof question);
    if (!send_all(fd_.get(), bytes) ||
        !receive_all(fd_.get(), reinterpret_cast<char*>(&answer), sizeof answer))
        return gone();
    return answer;
}

Result<std::string> PeerNode::which(const std::string& key, std::size_t pieces) {
    const PeerAnswer answer = TRY(ask(key, kWhich));
    if (answer.status != PeerStatus::Ok) return std::string();
    if (answer.bytes != pieces) return Error{ErrorCode{}, "it has other pieces"};
    std::string here(pieces, '\0');
    if (!receive_all(fd_.get(), here.data(), here.size())) return gone();
    return here;
}

Result<PeerNode::Answer> PeerNode::fetch(const std::string& key, std::size_t number,
                                         std::uint64_t bytes, Buffer& buffer) {
    const PeerAnswer answer = TRY(ask(key, static_cast<std::uint32_t>(number)));
    if (answer.status != PeerStatus::Ok) return Error{ErrorCode{}, "the piece is not there"};
    if (answer.bytes != bytes) return Error{ErrorCode{}, "the piece has another size"};
    buffer.resize(std::max<std::size_t>(buffer.size(), bytes));
    if (!receive_all(fd_.get(), buffer.data(), bytes)) return gone();
    return Answer{{buffer.data(), bytes}, answer.crc};
}

}  // namespace sluice::stage
