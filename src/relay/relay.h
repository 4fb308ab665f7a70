// relay/relay.h
//
// Between srun and the nodes of a step that are reached through this one (TreeWidth, ADR 36):
// launches on these nodes, and passes messages on in both directions. What comes from a node is
// marked with its rank; what srun sends goes to the node that it names, or to all.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "nodes.pb.h"
#include "os/event_loop.h"
#include "os/stream.h"
#include "protocol/frame.h"
#include "protocol/launch_tree.h"

namespace sluice {

class Relay {
public:
    Relay(EventLoop& loop, const Config& config, Fd srun, wire::LaunchTree tree);

    void launch();

private:
    // A connection to a node that runs a part of the step, or to a relay there.
    struct Child {
        std::vector<std::uint32_t> ranks;
        bool is_relay = false;
        std::unique_ptr<Stream> stream;
        FrameReader reader{kFrameSizeMax};
        bool welcomed = false;
        bool holds_input = false;  // of a relay
        bool is_over() const { return !stream || stream->closed(); }
    };

    void launch_branch(Branch branch);
    Result<void> open(const Branch& branch);
    std::uint32_t rank_of(std::size_t node) const;
    void on_srun_data(std::string_view bytes);
    void on_child_data(Child& child, std::string_view bytes);
    void on_child_closed(Child& child);
    void on_relay_word(Child& child, std::string_view message);
    bool take_welcome(Child& child, std::string_view frame);
    void fail(std::uint32_t rank, const Error& error);
    void send_up(const wire::StepOutput& output, std::uint32_t rank);
    void pace_output();
    void pace_input();

    EventLoop& loop_;
    const Config& config_;
    wire::LaunchTree tree_;
    Stream srun_;
    FrameReader reader_{kFrameSizeMax};
    std::vector<std::unique_ptr<Child>> children_;
    std::unordered_map<std::uint32_t, Child*> child_of_rank_;
    bool input_held_ = false;
    bool output_held_ = false;
};

}  // namespace sluice
