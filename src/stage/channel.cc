#include "stage/channel.h"

#include <sys/socket.h>

#include <cstring>

#include "os/error.h"
#include "os/socket.h"
#include "stage/listing.h"

namespace sluice::stage {

Result<std::pair<Fd, Fd>> socket_pair(int type) {
    int pair[2];
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) != 0) return os_error("socketpair");
    return std::pair(Fd(pair[0]), Fd(pair[1]));
}

bool send_frame(int fd, const google::protobuf::MessageLite& message) {
    std::string frame;
    append_frame(frame, message);
    return send_all(fd, frame);
}

bool receive_all(int fd, char* bytes, std::size_t size) {
    while (size > 0) {
        const ssize_t count = recv(fd, bytes, size, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes += count;
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

Result<std::string> receive_frame(int fd, std::size_t size_max) {
    unsigned char header[kFrameHeaderSize];
    if (!receive_all(fd, reinterpret_cast<char*>(header), sizeof header))
        return Error{ErrorCode{}, "the other side has ended"};
    std::size_t size = 0;
    for (std::size_t i = sizeof header; i-- > 0;) size = size << 8 | header[i];
    if (size > size_max) return Error{ErrorCode{}, "a message is too large"};
    std::string bytes(size, '\0');
    if (!receive_all(fd, bytes.data(), size)) return Error{ErrorCode{}, "the other side has ended"};
    return bytes;
}

namespace {
constexpr std::size_t kControlSize = CMSG_SPACE(sizeof(int) * kPieceFiles);
}

bool send_files(int fd, const OpenedFiles& opened) {
    int failure = opened.failure;
    iovec data{&failure, sizeof failure};
    alignas(cmsghdr) char control[kControlSize] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (!opened.files.empty()) {
        const std::size_t bytes = sizeof(int) * opened.files.size();
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(bytes);
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(bytes);
        for (std::size_t i = 0; i < opened.files.size(); ++i) {
            const int number = opened.files[i].get();
            std::memcpy(CMSG_DATA(header) + i * sizeof(int), &number, sizeof number);
        }
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof failure);
}

Result<OpenedFiles> receive_files(int fd) {
    OpenedFiles opened;
    iovec data{&opened.failure, sizeof opened.failure};
    alignas(cmsghdr) char control[kControlSize];
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t count = 0;
    do {
        count = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t files = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < files; ++i) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(header) + i * sizeof(int), sizeof number);
            opened.files.emplace_back(number);
        }
    }
    if (count != static_cast<ssize_t>(sizeof opened.failure))
        return Error{ErrorCode{}, "the process that reads the source has ended"};
    if (message.msg_flags & MSG_CTRUNC) return os_error("too many open files", EMFILE);
    return opened;
}

}  // namespace sluice::stage
