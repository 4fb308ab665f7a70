// os/pty.h
//
// A terminal for `srun --pty`: the task gets one end, its supervisor the other.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/fd.h"

namespace sluice {

struct Pty {
    Fd supervisor;
    Fd task;
};

struct TerminalSize {
    std::uint16_t rows = 24;
    std::uint16_t columns = 80;
};

Result<Pty> open_pty(TerminalSize size);
void resize_pty(const Fd& supervisor, TerminalSize size);  // the kernel sends SIGWINCH

}  // namespace sluice
