// cli/sattach/attachment.h
//
// The connections of one sattach to the supervisors of a step, from the first to the end of the
// step.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "cli/sattach/options.h"
#include "cli/srun/input_pump.h"
#include "cli/srun/task_output.h"
#include "cli/srun/task_table.h"
#include "os/event_loop.h"
#include "os/stream.h"
#include "protocol/frame.h"

namespace sluice {

class Attachment {
public:
    Attachment(const AttachOptions& options, std::string step_id, const Invocation& invocation,
               Client& client, Streams& streams);

    // To the end of the step; the exit code of sattach.
    int run(const wire::AttachStep& step, const std::vector<wire::NodeAddress>& nodes);

private:
    struct Node {
        std::string name;
        std::unique_ptr<Stream> stream;
        FrameReader reader{kFrameSizeMax};
        bool welcomed = false;
        bool done = false;
        std::optional<wire::Attached> greeting;
    };

    Result<void> connect(const wire::AttachStep& step, const wire::NodeAddress& address);
    void on_data(Node& node, std::string_view bytes);
    void on_message(Node& node, const wire::StepOutput& output);
    void on_attached(Node& node, const wire::Attached& attached);
    void begin();  // all nodes have answered
    void print_layout();
    void on_output(const wire::StreamData& data);
    void on_exited(Node& node, const wire::TaskExited& exited);
    void on_input(std::string_view data);
    void on_signal(int signal);
    void fail(const std::string& text);
    void finish(Node& node);
    void pace_input();

    const AttachOptions& options_;
    std::string step_id_;
    const Invocation& invocation_;
    Client& client_;
    Streams& streams_;
    EventLoop loop_;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::unique_ptr<TaskTable> tasks_;
    std::unique_ptr<TaskOutput> output_;
    std::unique_ptr<InputPump> pump_;
    int own_code_ = 0;  // of sattach itself
};

}  // namespace sluice
