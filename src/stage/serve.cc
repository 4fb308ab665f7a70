#include "stage/serve.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "os/fd_passing.h"
#include "os/socket.h"
#include "stage/cache.h"
#include "stage/channel.h"
#include "stage/peer.h"

namespace sluice::stage {

namespace {

constexpr int kIdleTime = 10'000;  // milliseconds
constexpr int kConnectionsMax = 128;
constexpr timeval kSilence{.tv_sec = 120, .tv_usec = 0};

bool is_key(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

class Server {
public:
    explicit Server(const std::string& directory) : directory_(directory) {}

    // Until the other side is silent or closes.
    void talk(int fd) {
        wire::StepOutput accepted;
        accepted.mutable_done();
        if (!send_frame(fd, accepted)) return;
        PeerQuestion question;
        Buffer buffer;
        while (receive_all(fd, reinterpret_cast<char*>(&question), sizeof question)) {
            if (!answer(fd, question, buffer)) return;
        }
    }

    std::atomic<int> connections = 0;

private:
    bool answer(int fd, const PeerQuestion& question, Buffer& buffer) {
        const std::string key(question.key, kKeySize);
        PeerAnswer head{.status = PeerStatus::NotHere, .crc = 0, .bytes = 0};
        std::string_view bytes;
        std::string which;
        const std::shared_ptr<const Copy> copy = is_key(key) ? find(key) : nullptr;
        if (copy && question.piece == kWhich) {
            which.resize(copy->pieces().size());
            for (std::size_t i = 0; i < which.size(); ++i) which[i] = copy->table().is_here(i);
            bytes = which;
            head.status = PeerStatus::Ok;
        } else if (copy && question.piece < copy->pieces().size() &&
                   copy->table().is_here(question.piece)) {
            const Result<std::string_view> read = copy->read(question.piece, buffer);
            if (read) {
                bytes = *read;
                head.crc = copy->table().crc(question.piece);
                head.status = PeerStatus::Ok;
            }
        }
        head.bytes = bytes.size();
        return send_all(fd, {reinterpret_cast<const char*>(&head), sizeof head}) &&
               send_all(fd, bytes);
    }

    // The copy may have been made again since it was opened.
    std::shared_ptr<const Copy> find(const std::string& key) {
        const std::lock_guard guard(mutex_);
        for (const char* folder : {"entries", "partial"}) {
            const std::string path = fmt::format("{}/{}/{}", directory_, folder, key);
            struct stat found {};
            if (stat((path + "/data").c_str(), &found) != 0) continue;
            Known& known = known_[key];
            if (known.copy && known.inode == found.st_ino) return known.copy;
            Result<std::unique_ptr<Copy>> opened = Copy::open(path);
            if (!opened) continue;
            known = {std::move(*opened), found.st_ino};
            return known.copy;
        }
        known_.erase(key);
        return nullptr;
    }

    struct Known {
        std::shared_ptr<const Copy> copy;
        ino_t inode = 0;
    };
    const std::string directory_;
    std::mutex mutex_;
    std::map<std::string, Known> known_;
};

}  // namespace

void serve(const std::string& cache, const Fd& line) {
    const auto server = std::make_shared<Server>(cache);
    for (;;) {
        pollfd ready{line.get(), POLLIN, 0};
        const int found = poll(&ready, 1, kIdleTime);
        if (found == 0 && server->connections == 0) return;
        if (found <= 0) continue;
        Fd connection = receive_fd(line);
        if (!connection) return;
        if (server->connections >= kConnectionsMax) continue;
        set_blocking(connection, true);
        setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &kSilence, sizeof kSilence);
        setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &kSilence, sizeof kSilence);
        ++server->connections;
        std::thread([server, fd = std::move(connection)] {
            server->talk(fd.get());
            --server->connections;
        }).detach();
    }
}

}  // namespace sluice::stage
