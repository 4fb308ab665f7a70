// stage/channel.h
//
// Whole messages over blocking sockets: frames with a message, and batches of open files.
#pragma once

#include <google/protobuf/message_lite.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "protocol/frame.h"

namespace sluice::stage {

constexpr int kLine = 3;  // our end of the line to slurmd

Result<std::pair<Fd, Fd>> socket_pair(int type);  // SOCK_STREAM, SOCK_SEQPACKET

bool send_frame(int fd, const google::protobuf::MessageLite& message);
// Reads exactly one frame; an error at the end of the stream, too.
Result<std::string> receive_frame(int fd, std::size_t size_max = kFrameSizeMax);
bool receive_all(int fd, char* bytes, std::size_t size);

template <typename Message>
Result<Message> receive_message(int fd) {
    return decode<Message>(TRY(receive_frame(fd)));
}

// Open files [first, first + count) of a listing; the answer has the files, and errno of the one
// that follows them if it could not be opened.
struct OpenQuestion {
    std::uint32_t first = 0, count = 0;
};
struct OpenedFiles {
    std::vector<Fd> files;
    int failure = 0;
};
bool send_files(int fd, const OpenedFiles& opened);
Result<OpenedFiles> receive_files(int fd);

}  // namespace sluice::stage
