// stepd/tasks.h
//
// The tasks of a step on this node: their environment, files, pipes or terminal, and the
// connection to srun. Bytes move only as fast as srun takes them: a full connection stops the
// reading of the tasks' pipes.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "os/event_loop.h"
#include "os/stream.h"
#include "os/user.h"
#include "protocol/frame.h"
#include "stepd/attach_door.h"
#include "stepd/attached.h"
#include "stepd/binding.h"
#include "stepd/container.h"
#include "stepd/oci_task.h"
#include "stepd/output.h"
#include "stepd/pmi.h"
#include "stepd/recent_output.h"
#include "stepd/task_hooks.h"
#include "stepd/terminal_end.h"
#include "stepd/work.h"
#include "stepd/x11.h"

namespace sluice {

class TaskWork : public Work {
public:
    TaskWork(EventLoop& loop, const wire::StepOrder& order, Fd srun,
             std::function<void(bool srun_lost)> terminate,
             std::function<void(int signal, bool by_srun)> signal_all, OnFailed on_failed);
    ~TaskWork() override;
    void prepare(const User& user, const Container& container);

    Result<void> start(const std::string& preface) override;
    void start_no_more() override;
    void on_exit(pid_t pid, int wait_status) override;
    std::vector<TaskProcess> processes() const override;
    bool finished() const override { return tasks_are_over() && (!pmi_ || pmi_->is_gone()); }
    wire::ExitStatus exit() const override { return worst_; }
    void say(const std::string& line) override;
    void announce(const std::string& reason_line) override;
    void signal(const wire::SignalJob& order) override;
    void wind_up(const wire::StepEnd& end) override;
    bool wound_up() override;

private:
    struct Task {
        std::uint32_t id = 0;
        pid_t pid = -1;                        // its own, then those of its epilogs
        std::unique_ptr<FileOpening> opening;  // until it is confined and its files are open
        bool opens_files = false;
        std::unique_ptr<TaskEpilogs> epilogs;
        std::shared_ptr<const OciTask> container;
        bool exited = false;  // and its epilogs have run
        bool told = false;    // srun knows
        wire::ExitStatus exit;
        std::unique_ptr<Stream> in, out, err;
        bool in_line = false;  // its terminal has got a part of a line
        std::unique_ptr<TerminalEnd> terminal_end;
        bool output_open() const { return (out && !out->closed()) || (err && !err->closed()); }
    };
    struct Ends {  // what the new process gets
        Fd in, out, err;
        FileDemands files;  // and what it opens itself
        bool terminal = false;
    };
    void show_log();
    bool tasks_are_over() const { return running_ == 0 && !starting_; }
    Result<void> make_pmi();
    Result<void> open_display();
    void on_pmi_ready(const Result<void>& ready);
    Result<void> start_tasks();
    void go_on_starting();
    Result<void> start_task(std::size_t local, const std::string& preface);
    Result<ProcessSpec> make_spec(std::size_t local, const Ends& ends);
    void on_files(Task& task, Result<Fd> err);
    Result<Ends> open_ends(Task& task, std::size_t local);
    Result<void> open_input(Task& task, Ends& ends);
    Result<void> open_output(Task& task, int stream, Ends& ends);
    std::unique_ptr<Stream> read_output(Task& task, Fd fd, std::uint32_t stream);
    void tell_started(const Task& task);
    void tell_exit(Task& task);
    void hint_at_pmi(const Task& task);
    void say_cancelled(const std::string& cause);
    void pass_signal(int signal, bool by_srun, bool task_failed);
    void send(const wire::StepOutput& output);
    void send_done();
    void attach(Fd connection);  // of sattach
    void on_input(std::string_view bytes);
    void handle(const wire::StepInput& input);
    void feed(const wire::StreamData& data);
    void hang_up();
    void on_lost();
    void pace();
    void hold_input();

    EventLoop& loop_;
    const wire::StepOrder& order_;
    const wire::TaskSpec& spec_;
    const User* user_ = nullptr;
    const Container* container_ = nullptr;
    std::function<void(bool)> terminate_;
    std::function<void(int, bool)> signal_all_;
    OnFailed on_failed_;
    FrameReader reader_{kStepInputSizeMax};
    std::unique_ptr<Stream> srun_;
    AttachedClients attached_;
    RecentOutput recent_;
    std::unique_ptr<AttachDoor> attach_door_;
    std::vector<std::unique_ptr<Task>> tasks_;
    std::unique_ptr<Pmi> pmi_;         // --mpi
    std::unique_ptr<X11Display> x11_;  // --x11
    std::size_t running_ = 0;
    bool starting_ = false;  // there are more tasks to start
    StepBinding binding_;
    std::string preface_;
    wire::ExitStatus worst_;
    bool paused_ = false;
    bool input_held_ = false;  // by srun, as it was told
    bool done_sent_ = false;
    EventLoop::Clock::time_point leave_before_;  // set with done_sent_
    bool bad_exit_handled_ = false;
    std::string cause_said_;
};

}  // namespace sluice
