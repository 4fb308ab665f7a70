// stepd/extern.h
//
// The step "extern" of a job (PrologFlags=Contain): it starts nothing and waits for nothing. Its
// supervisor keeps a container for processes that came to the node in another way, such as those of
// a login; slurmd puts them into it, and they end with the job.
#pragma once

#include "stepd/container.h"
#include "stepd/work.h"

namespace sluice {

class ExternWork : public Work {
public:
    explicit ExternWork(const Container& container) : container_(container) {}

    Result<void> start(const std::string&) override { return {}; }
    void on_exit(pid_t, int) override {}
    std::vector<TaskProcess> processes() const override { return {}; }
    bool finished() const override { return false; }  // it ends only when it is told to
    wire::ExitStatus exit() const override { return {}; }
    void say(const std::string&) override {}
    void announce(const std::string&) override {}
    void signal(const wire::SignalJob& order) override { container_.signal_all(order.signal()); }
    void wind_up(const wire::StepEnd&) override {}
    bool wound_up() override { return true; }

private:
    const Container& container_;
};

}  // namespace sluice
