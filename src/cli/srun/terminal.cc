#include "cli/srun/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace sluice {

RawTerminal::RawTerminal() {
    termios settings{};
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &settings) != 0) return;
    saved_ = settings;
    make_raw();
}

RawTerminal::~RawTerminal() {
    if (saved_) tcsetattr(STDIN_FILENO, TCSADRAIN, &*saved_);
}

void RawTerminal::make_raw() const {
    termios settings = *saved_;
    cfmakeraw(&settings);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &settings);
}

void RawTerminal::restore_raw() const {
    // A process in the background would be stopped again.
    if (saved_ && tcgetpgrp(STDIN_FILENO) == getpgrp()) make_raw();
}

wire::WindowSize window_size() {
    wire::WindowSize size;
    winsize window{};
    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &window) == 0) {
        size.set_rows(window.ws_row);
        size.set_columns(window.ws_col);
    }
    return size;
}

}  // namespace sluice
