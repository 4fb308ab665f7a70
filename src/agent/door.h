// agent/door.h
//
// The connections to this slurmd: of srun with a step to launch, of sstat and sattach, and of tools
// of this host that need a token or ask whether slurmd is alive. Reads each message exactly, never
// beyond: the connections of srun and sattach go on in the step's supervisor.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "agent/jobs.h"
#include "agent/site.h"
#include "agent/slow_work.h"
#include "auth/authenticator.h"
#include "os/event_loop.h"
#include "wire.pb.h"

namespace sluice {

class Door {
public:
    Door(EventLoop& loop, std::shared_ptr<Authenticator> authenticator, SlowWork& slow_work,
         Jobs& jobs, GpuWatch& gpus);
    Result<void> open(const Site& site);

private:
    struct Visitor;
    void listen(Fd listener);
    void admit(Fd connection);
    void on_readable(const std::shared_ptr<Visitor>& visitor);
    void on_message(const std::shared_ptr<Visitor>& visitor);
    void make_room();
    void watch(const std::shared_ptr<Visitor>& visitor);
    Result<void> on_hello(const std::shared_ptr<Visitor>& visitor, wire::Welcome& welcome);
    Result<void> on_proof(const std::shared_ptr<Visitor>& visitor, const wire::Welcome& welcome);
    template <typename Question, typename Then>
    Result<void> ask(const std::shared_ptr<Visitor>& visitor, Question question, Then then);
    Result<std::string> token_for(const Visitor& visitor, const wire::TokenRequest& request,
                                  wire::LocalReply& reply);
    void greet(const std::shared_ptr<Visitor>& visitor);
    void end_greeting(const std::shared_ptr<Visitor>& visitor, wire::Welcome welcome,
                      const Result<void>& done);
    void on_local(Visitor& visitor);
    void on_step(const std::shared_ptr<Visitor>& visitor);
    void on_usage_asked(const std::shared_ptr<Visitor>& visitor, const wire::AskUsage& question);
    void leave(const std::shared_ptr<Visitor>& visitor);
    // Anybody can cause these lines: so many a second, then a summary.
    void note_refusal(LogLevel level, const Visitor& visitor, const std::string& why);

    EventLoop& loop_;
    std::shared_ptr<Authenticator> authenticator_;
    SlowWork& slow_work_;
    Jobs& jobs_;
    GpuWatch& gpus_;
    std::vector<Fd> listeners_;
    std::string node_;                              // our name
    std::list<std::shared_ptr<Visitor>> visitors_;  // the oldest first
    Time started_;
    bool is_noise_due_ = false;  // end_noise_second() will be called
};

}  // namespace sluice
