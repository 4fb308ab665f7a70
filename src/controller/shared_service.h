// controller/shared_service.h
//
// slurmctld as one of several controllers of a shared state: a standby until it has the lease, then
// the active one, until it is asked to hand over, or the lease is lost. Then the process replaces
// itself by a new one (exec): no thread of the old one can act any more, whatever it was doing.
#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/contender.h"
#include "os/files.h"

namespace sluice {

class SharedService {
public:
    struct Start {
        std::string config_path;
        std::vector<std::string> arguments;  // of this process
        std::string previous_end;            // see previous_end()
        sigset_t signals;                    // blocked
        std::function<void()> ready;         // called when the standby serves
    };
    // Why this process was an active controller before it replaced itself; empty: it was not. The
    // variable is removed, so that it is told once.
    static std::string previous_end();

    // Until this controller is told to stop.
    static Result<void> run(std::shared_ptr<const LiveConfig> live, const Start& start);

private:
    SharedService(std::shared_ptr<const LiveConfig> live, const Start& start)
        : live_(std::move(live)), start_(start) {}

    Result<bool> stand_by();
    Result<void> check_state() const;
    Result<void> act();
    void reload();
    std::string reason_to_stop();
    [[noreturn]] void start_anew(const std::string& why);
    void run_site_program(const std::string& program);

    std::shared_ptr<const LiveConfig> live_;
    const Start& start_;
    const std::string program_ = own_program_path();  // the file may be replaced while it runs
    std::unique_ptr<Contender> contender_;
    std::unique_ptr<Controller> controller_;
    std::atomic<bool> fenced_{false};
};

// One of the signals, or 0 after `most`.
int next_signal(const sigset_t& signals, std::chrono::milliseconds most);

}  // namespace sluice
