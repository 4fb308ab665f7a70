// stepd/pmix_helper.h
//
// srun --mpi=pmix: the PMIx library serves the tasks of a node in a process of its own
// (sluice-pmix), with the user's rights and inside the step's limits. What it sends to other nodes
// is passed on to srun unread.
#pragma once

#include <memory>
#include <vector>

#include "os/event_loop.h"
#include "os/stream.h"
#include "os/user.h"
#include "protocol/frame.h"
#include "stepd/container.h"
#include "stepd/pmi.h"

namespace sluice {

class PmixHelper : public Pmi {
public:
    PmixHelper(EventLoop& loop, const wire::StepOrder& order, const User& user,
               const Container& container, Handlers handlers);

    Result<void> start() override;
    Result<void> add_task(std::size_t local, Environment& environment, ProcessSpec& spec) override;
    Result<void> on_input(const wire::StepInput& input) override;
    bool on_exit(pid_t pid) override;
    void read_more(bool wanted) override { stream_->read_more(wanted); }
    void finish() override;
    bool is_gone() const override { return pid_ == -1; }

private:
    Result<void> spawn_program(Fd socket, Fd errors);
    void send_setup();
    void send(const wire::PmixOrder& order);
    void on_data(std::string_view bytes);
    void on_report(const wire::PmixReport& report);
    void on_gone();
    void on_error_text(std::string_view bytes);

    EventLoop& loop_;
    const wire::StepOrder& order_;
    const User& user_;
    const Container& container_;
    Handlers handlers_;
    pid_t pid_ = -1;
    std::unique_ptr<Stream> stream_, errors_;
    FrameReader reader_;
    wire::PmixReady ready_;
    bool is_ready_ = false, is_finished_ = false;
    std::string error_line_;
    std::size_t error_bytes_ = 0;
};

}  // namespace sluice
