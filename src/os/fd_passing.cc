#include "os/fd_passing.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "os/error.h"
#include "os/files.h"

namespace sluice {

Result<void> send_fd(const Fd& socket, const Fd& passed) {
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = passed.get();
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    if (sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) {
        return os_error("cannot pass a connection on");
    }
    return {};
}

Fd receive_fd(const Fd& socket) {
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1) return {};
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS) return {};
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return Fd(fd);
}

Result<Fd> memory_file(std::string_view content) {
    Fd file(memfd_create("sluice", MFD_CLOEXEC));
    if (!file) return os_error("memfd_create");
    if (!write_all(file.get(), content)) return os_error("cannot write to a file in memory");
    lseek(file.get(), 0, SEEK_SET);
    return file;
}

}  // namespace sluice
