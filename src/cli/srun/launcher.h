// cli/srun/launcher.h
//
// A step's life as srun sees it: tasks started on every node, their input and output, the user's
// signals, and how each task ended.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "cli/srun/input_pump.h"
#include "cli/srun/node_lines.h"
#include "cli/srun/send_program.h"
#include "cli/srun/step_exchange.h"
#include "cli/srun/task_output.h"
#include "cli/srun/task_table.h"
#include "cli/srun/terminal.h"
#include "cli/srun/x11_carrier.h"
#include "os/event_loop.h"
#include "surface/job_options.h"

namespace sluice {

struct StepFiles {
    Fd in, out, err;          // files that srun itself reads and writes for all tasks
    bool err_is_out = false;  // and errors go where output goes
    bool reads_input = true;  // tasks get srun's standard input (or `in`)
    std::optional<std::uint32_t> input_task;  // only this one
    std::optional<SentProgram> program;       // --bcast
};

class StepLauncher {
public:
    StepLauncher(const JobOptions& options, const wire::StepCreated& step,
                 const Invocation& invocation, Client& client, Streams& streams);

    // Runs the step to its end; srun's exit code.
    int run(const wire::TaskSpec& spec, StepFiles files);
    // The same, for the job's record.
    wire::ExitStatus exit_status() const;
    bool launch_failed() const { return launch_failed_; }

private:
    struct Node {
        std::string name;
        std::uint32_t rank = 0;
        std::vector<std::uint32_t> tasks;
        std::size_t started = 0;
        bool done = false;
        std::vector<TaskEnd> untold;  // ends that have not been printed
        bool telling = false;
    };

    Result<void> offer_display(StepLaunch& launch);
    Result<void> connect(const StepLaunch& launch);
    Result<std::uint32_t> tree_width();
    void on_message(Node& node, const wire::StepOutput& output);
    void on_started(Node& node, std::uint32_t task);
    void on_exited(Node& node, const wire::TaskExited& exited);
    void on_abort(const wire::StepAbort& abort);
    void on_exchange(const Result<void>& result);
    void on_lost(const std::vector<std::uint32_t>& ranks);
    void on_input(std::string_view data);
    void on_signal(int signal);
    void on_interrupt();
    void on_first_exit();
    void fail_launch(Node* node, const Error& error);
    void finish(Node& node);
    void tell_ends(Node& node);
    void send_to_all(const wire::StepInput& input);
    void signal_tasks(int signal, bool task_failed = false);
    void say_aborted();
    Seconds grace_time();
    void terminate(bool task_failed = false);  // CONT, TERM, and KILL when the grace time is over
    void inform(const std::string& text);
    void tell_more(const std::string& text);
    void print_states();
    void pace_input();
    void send_window();
    void on_continued();

    const JobOptions& options_;
    const wire::StepCreated& step_;
    const Invocation& invocation_;
    Client& client_;
    Streams& streams_;
    std::string step_id_;  // "12.0"
    EventLoop loop_;
    std::vector<std::unique_ptr<Node>> nodes_;  // by rank
    std::size_t unfinished_ = 0;                // of them
    NodeLines lines_;
    TaskTable tasks_;
    TaskOutput output_;
    std::unique_ptr<InputPump> pump_;
    std::optional<std::uint32_t> input_task_;
    std::optional<RawTerminal> terminal_;  // --pty
    std::optional<std::chrono::steady_clock::time_point> last_interrupt_;
    bool aborting_ = false;  // by us
    bool abort_said_ = false;
    bool launch_failed_ = false;
    bool terminating_ = false;
    std::unique_ptr<StepExchange> exchange_;  // --mpi
    std::unique_ptr<X11Carrier> x11_;         // --x11
    std::optional<int> abort_code_;           // of a task that has ended the step
    int least_exit_code_ = 0;  // of srun itself, when the step could not run properly
};

}  // namespace sluice
