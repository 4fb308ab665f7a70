// cli/srun/terminal.h
//
// srun's own terminal under --pty: every key goes to the task, its size follows the window.
#pragma once

#include <termios.h>

#include <optional>

#include "wire.pb.h"

namespace sluice {

// Raw from construction to destruction; nothing happens when standard input is no terminal.
class RawTerminal {
public:
    RawTerminal();
    ~RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;
    // When srun continues after it was stopped: the shell has set the terminal for itself
    // meanwhile.
    void restore_raw() const;

private:
    void make_raw() const;

    std::optional<termios> saved_;
};

wire::WindowSize window_size();  // zeros without a terminal

}  // namespace sluice
