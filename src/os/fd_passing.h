// os/fd_passing.h
//
// Passes an open descriptor to another process over a Unix stream socket.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace sluice {

// One byte and the descriptor. Does not block.
Result<void> send_fd(const Fd& socket, const Fd& passed);

// What the other side has sent: nothing when it has sent something else, or has closed the socket.
// `socket` is readable.
Fd receive_fd(const Fd& socket);

}  // namespace sluice
