// os/fd_passing.h
//
// Passes an open descriptor to another process over a Unix stream socket, or makes one to pass on.
#pragma once

#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace sluice {

// One byte and the descriptor. Does not block.
Result<void> send_fd(const Fd& socket, const Fd& passed);

// What the other side has sent: nothing when it has sent something else, or has closed the socket.
// `socket` is readable.
Fd receive_fd(const Fd& socket);

// A file in memory, to be read from its start.
Result<Fd> memory_file(std::string_view content);

}  // namespace sluice
