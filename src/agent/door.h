// agent/door.h
//
// Who comes to this slurmd: srun with a step to launch, tools of this host that need a token or
// want to know whether we are alive. Reads each message exactly, never beyond: the connection of
// an srun goes on in the step's supervisor.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "agent/credentials.h"
#include "agent/jobs.h"
#include "agent/site.h"
#include "os/event_loop.h"
#include "wire.pb.h"

namespace sluice {

class Door {
public:
    Door(EventLoop& loop, std::shared_ptr<Credentials> credentials, Jobs& jobs);
    Result<void> open(const Site& site);

private:
    struct Visitor;
    void listen(Fd listener);
    void admit(Fd connection);
    void on_readable(const std::shared_ptr<Visitor>& visitor);
    void on_message(const std::shared_ptr<Visitor>& visitor);
    void on_hello(Visitor& visitor);
    void on_local(Visitor& visitor);
    void on_launch(const std::shared_ptr<Visitor>& visitor);
    void leave(const std::shared_ptr<Visitor>& visitor);

    EventLoop& loop_;
    std::shared_ptr<Credentials> credentials_;
    Jobs& jobs_;
    std::vector<Fd> listeners_;
    std::set<std::shared_ptr<Visitor>> visitors_;
    Time started_;
};

}  // namespace sluice
