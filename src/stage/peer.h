// stage/peer.h
//
// Pieces of a dataset from the slurmd of another node. The connection begins as any to a slurmd, as
// root, with the credential of the job; the server then has the following conversation: questions
// and answers as they lie in memory, integers little endian.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "stage.pb.h"
#include "stage/copy.h"

namespace sluice::stage {

constexpr std::size_t kKeySize = 64;

struct PeerQuestion {
    char key[kKeySize];
    std::uint32_t piece;  // kWhich: which pieces are there?
    std::uint32_t unused;
};
constexpr std::uint32_t kWhich = 0xffffffff;

enum class PeerStatus : std::uint32_t { Ok, NotHere };
struct PeerAnswer {
    PeerStatus status;
    std::uint32_t crc;  // of the piece, as it was when the source was read
    std::uint64_t
        bytes;  // that follow: the piece, or a byte for each piece that is 1 if it is there
};

class PeerNode {
public:
    static Result<PeerNode> connect(const Config& config, const wire::NodeAddress& address,
                                    const wire::DataPeer& introduction);

    // A byte for each piece: 1, it is there. Empty: the peer does not know this dataset.
    Result<std::string> which(const std::string& key, std::size_t pieces);
    struct Answer {
        std::string_view bytes;  // in the buffer
        std::uint32_t crc = 0;
    };
    // An error if it is not there, or the connection broke.
    Result<Answer> fetch(const std::string& key, std::size_t number, std::uint64_t bytes,
                         Buffer& buffer);

private:
    explicit PeerNode(Fd fd) : fd_(std::move(fd)) {}
    Result<PeerAnswer> ask(const std::string& key, std::uint32_t piece);

    Fd fd_;
};

}  // namespace sluice::stage
