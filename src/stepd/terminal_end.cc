#include "stepd/terminal_end.h"

#include <termios.h>

namespace sluice {

namespace {

constexpr std::chrono::milliseconds kLookInterval{100};

bool reads_lines(int terminal) {
    termios settings{};
    return tcgetattr(terminal, &settings) != 0 || (settings.c_lflag & ICANON) != 0;
}

}  // namespace

TerminalEnd::TerminalEnd(EventLoop& loop, Stream& terminal, bool in_line)
    : loop_(loop), terminal_(terminal) {
    send(in_line);
    timer_ = loop_.after(kLookInterval, [this] { look(); });
}

TerminalEnd::~TerminalEnd() {
    if (timer_) loop_.cancel(*timer_);
}

void TerminalEnd::send(bool twice) {
    by_lines_ = reads_lines(terminal_.fd());
    terminal_.send(twice ? "\x04\x04" : "\x04");
}

void TerminalEnd::look() {
    timer_.reset();
    if (terminal_.closed()) return;
    if (reads_lines(terminal_.fd()) != by_lines_) send(false);
    timer_ = loop_.after(kLookInterval, [this] { look(); });
}

}  // namespace sluice
