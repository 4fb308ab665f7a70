// agent/line_service.h
//
// Questions of one line each from processes of this node, over a Unix socket that has a name and no
// file. The kernel says which process asks.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/result.h"
#include "os/event_loop.h"
#include "os/socket.h"

namespace sluice {

class LineService {
public:
    // An answer may come later, or never; the connection ends with it. An empty one only ends it.
    using Answer = std::function<void(const std::string& line)>;
    using OnQuestion =
        std::function<void(const std::string& line, const Peer& peer, Answer answer)>;

    LineService(EventLoop& loop, std::size_t size_max, OnQuestion on_question);
    ~LineService();
    bool is_open() const { return static_cast<bool>(listener_); }
    Result<void> open(const std::string& name);

private:
    struct Visit;
    void admit(Fd connection);
    void on_data(const std::shared_ptr<Visit>& visit, std::string_view bytes);
    void answer(const std::shared_ptr<Visit>& visit, const std::string& line);
    void leave(const std::shared_ptr<Visit>& visit);

    EventLoop& loop_;
    std::size_t size_max_;
    OnQuestion on_question_;
    Fd listener_;
    std::list<std::shared_ptr<Visit>> visits_;
};

}  // namespace sluice
