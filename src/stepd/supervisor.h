// stepd/supervisor.h
//
// One step from its order to its end: starts the work, passes signals on, reaps, makes sure that
// nothing is left, writes the end down, reports it.
#pragma once

#include <memory>
#include <optional>

#include "base/time.h"
#include "order.pb.h"
#include "os/event_loop.h"
#include "os/user.h"
#include "stepd/container.h"
#include "stepd/control.h"
#include "stepd/cpu_clocks.h"
#include "stepd/gpu_clocks.h"
#include "stepd/gpu_usage.h"
#include "stepd/sampler.h"
#include "stepd/stack_dump.h"
#include "stepd/work.h"

namespace sluice {

class Supervisor {
public:
    // `srun` is the connection of a step's srun; empty for a batch script.
    Supervisor(EventLoop& loop, wire::StepOrder order, Fd control, Fd srun);
    void run();

private:
    Result<void> start(Fd srun);
    void on_start_failed(const Error& error);
    void on_command(const wire::StepCommand& command);
    void on_signal(const wire::SignalJob& order);
    void signal_tasks(int signal, bool by_srun);
    void dump_stacks();
    void terminate(std::chrono::seconds grace, const std::string& reason_line);
    void kill_tasks();
    void reap();
    void reap_one(pid_t pid);
    void sample();
    void sample_again();
    void end_if_over_memory();
    void watch_memory();
    void on_usage_asked(std::uint64_t question);
    void on_children();
    void note_oom_kills(std::uint64_t count);
    void begin_cleanup();
    void cleanup_round();
    void report_killing();
    void take_stock();
    void end_container_if_empty();
    void finish();
    void keep_end();
    void leave_when_told();

    EventLoop& loop_;
    const wire::StepOrder order_;
    std::optional<User> user_;
    std::optional<Container> container_;
    GpuFrequencies gpu_frequencies_;
    CpuFrequencies cpu_frequencies_;
    Sampler sampler_;
    GpuUsage gpu_usage_;
    StackDump stack_dump_{loop_};
    EventLoop::TimerId sample_timer_ = 0;
    EventLoop::TimerId memory_timer_ = 0;
    bool over_memory_ = false;  // OverMemoryKill has ended it
    std::unique_ptr<Work> work_;
    Control control_;
    wire::StepEnd end_;
    std::chrono::milliseconds round_delay_{1};
    std::chrono::milliseconds leave_delay_{5};
    bool has_children_ = true;
    bool terminating_ = false;
    bool told_by_srun_ = false;  // to end
    bool killing_ = false;
    bool cleaning_ = false;
    EventLoop::Clock::time_point killed_until_;  // nothing should be left by then
    bool killing_reported_ = false;
    EventLoop::Clock::time_point known_until_;  // the controller should know of the end by then
    EventLoop::Clock::time_point read_until_;   // srun should have read the last output by then
    bool end_is_kept_ = false;                  // by the controller, or in the mark
    bool end_write_failed_ = false;
    EventLoop::TimerId leave_timer_ = 0;
};

}  // namespace sluice
