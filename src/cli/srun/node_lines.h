// cli/srun/node_lines.h
//
// The connections of srun to the nodes of a step. With more nodes than the width of the tree, each
// connection leads to a relay, which passes messages on to several nodes (TreeWidth, ADR 36).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/client/client.h"
#include "cli/srun/step_request.h"
#include "os/event_loop.h"
#include "os/stream.h"
#include "protocol/frame.h"
#include "protocol/launch_tree.h"

namespace sluice {

class NodeLines {
public:
    // Nodes are named by their rank in the step. Nothing comes from a node after its launch was
    // refused, it is lost, or finish() was called for it.
    struct Handlers {
        std::function<void(std::uint32_t, const wire::StepOutput&)> on_message;
        std::function<void(std::uint32_t, const Error&)> on_refused;
        std::function<void(const std::vector<std::uint32_t>&)> on_lost;
        std::function<void()> on_pace;  // takes_input() may be different now
    };

    NodeLines(EventLoop& loop, Client& client, Handlers handlers)
        : loop_(loop), client_(client), handlers_(std::move(handlers)) {}

    // `width`: of the tree; 0: each node has a connection of its own.
    Result<void> open(const StepLaunch& launch, const wire::StepCreated& step, std::uint32_t width);
    void send_to_all(const std::string& frames);
    void send_to(std::uint32_t rank, const std::string& frames);
    void finish(std::uint32_t rank);
    bool takes_input() const;

private:
    struct Line {
        Branch branch;  // ranks
        std::size_t open_count = 0;
        std::unique_ptr<Stream> stream;
        FrameReader reader{kFrameSizeMax};
        bool welcomed = false;
        bool holds_input = false;  // of a relay

        bool is_relay() const { return branch.count > 1; }
        bool is_over() const { return !stream || stream->closed(); }
        bool has(std::size_t rank) const {
            return rank >= branch.start && rank - branch.start < branch.count;
        }
        std::uint32_t first_rank() const { return static_cast<std::uint32_t>(branch.start); }
    };

    Result<void> open_line(const Branch& branch, const StepLaunch& launch,
                           const std::vector<const wire::NodeAddress*>& addresses,
                           std::uint32_t width);
    void on_data(Line& line, std::string_view bytes);
    Result<void> on_welcome(Line& line, std::string_view frame);
    void on_message(Line& line, const wire::StepOutput& output);
    void lose(const Line& line);
    void tell_lost();

    EventLoop& loop_;
    Client& client_;
    Handlers handlers_;
    std::vector<std::unique_ptr<Line>> lines_;
    std::vector<Line*> line_of_rank_;
    std::vector<bool> is_finished_;    // by rank
    std::set<std::uint32_t> held_;     // nodes that take no more input for now
    std::vector<std::uint32_t> lost_;  // that have not been told yet
};

}  // namespace sluice
