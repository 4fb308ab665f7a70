// stepd/terminal_end.h
//
// The end of input for a task on a terminal (srun --pty with a file or a pipe as its input). There
// is no such thing as an end on a terminal: the task is sent ^D, which means it while lines are
// read. A shell changes the mode of the terminal before it reads and after it; what was sent in the
// other mode is an ordinary character then. So ^D is sent again whenever the mode has changed.
#pragma once

#include <optional>

#include "os/event_loop.h"
#include "os/stream.h"

namespace sluice {

class TerminalEnd {
public:
    // in_line: what was sent before ended within a line, which a first ^D ends.
    TerminalEnd(EventLoop& loop, Stream& terminal, bool in_line);
    ~TerminalEnd();
    TerminalEnd(const TerminalEnd&) = delete;
    TerminalEnd& operator=(const TerminalEnd&) = delete;

private:
    void send(bool twice);
    void look();

    EventLoop& loop_;
    Stream& terminal_;
    bool by_lines_ = true;  // the mode when ^D was sent last
    std::optional<EventLoop::TimerId> timer_;
};

}  // namespace sluice
