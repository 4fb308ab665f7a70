// stepd/attached.h
//
// The sattach processes of a step. Each gets a copy of the tasks' output, and its input goes to the
// tasks. A full connection makes the tasks wait, as the one of srun does; a client that reads
// nothing for a while is disconnected, so that a stopped sattach does not stop the step.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nodes.pb.h"
#include "os/event_loop.h"
#include "os/stream.h"
#include "protocol/frame.h"

namespace sluice {

class AttachedClients {
public:
    struct Handlers {
        std::function<void(const wire::StreamData&)> on_input;
        std::function<void()> on_drained;
    };

    AttachedClients(EventLoop& loop, Handlers handlers);
    ~AttachedClients();
    AttachedClients(const AttachedClients&) = delete;
    AttachedClients& operator=(const AttachedClients&) = delete;

    // `earlier`: frames of output that it is sent after the greeting.
    void add(Fd connection, const wire::StepOutput& greeting, std::string_view earlier);
    void send(const std::string& frame);
    bool is_full() const;
    void read_more(bool wanted);  // false: their input has to wait
    bool are_gone() const { return clients_.empty(); }

private:
    struct Client {
        std::unique_ptr<Stream> stream;
        FrameReader reader{kStepInputSizeMax};
        std::size_t backlog = 0;  // at the last check
    };
    void on_data(Client& client, std::string_view bytes);
    void drop(Client& client);
    void check();

    EventLoop& loop_;
    Handlers handlers_;
    std::vector<std::unique_ptr<Client>> clients_;
    EventLoop::TimerId timer_ = 0;
};

}  // namespace sluice
