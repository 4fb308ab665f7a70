// controller/fleet.h
//
// The nodes' connections. A node registers, reports what happens on it and hears when that is on
// disk; orders go to it by name. An order for a node that is not connected is dropped: the core
// repeats it when the node registers again. All that is shared lives on one executor.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/committer.h"
#include "controller/link.h"
#include "controller/services.h"
#include "wire.pb.h"

namespace sluice {

// One node's connection.
class NodeLink {
public:
    NodeLink(std::shared_ptr<Link> link, std::string node)
        : link(std::move(link)), node(std::move(node)), answered(this->link->executor()) {}

    const std::shared_ptr<Link> link;
    const std::string node;
    // The fleet's: may it be given orders, and its number in the core.
    bool welcome = false;
    NodeIndex index;
    // The link's: set when the core has answered the registration.
    std::optional<NodeWelcome> answer;
    asio::steady_timer answered;
};

// Scripts and environments that were launched lately: an array's tasks share theirs.
class BlobCache {
public:
    explicit BlobCache(Store& store) : store_(store) {}
    Result<std::shared_ptr<const std::string>> get(const std::string& hash);

private:
    struct Kept {
        std::string hash;
        std::shared_ptr<const std::string> bytes;
    };
    static constexpr std::size_t kBytesMost = 32u << 20;

    Store& store_;
    std::list<Kept> kept_;  // the last used first
    std::unordered_map<std::string, std::list<Kept>::iterator> by_hash_;
    std::size_t bytes_ = 0;
};

class Fleet : public OrderTaker {
public:
    Fleet(asio::any_io_executor home, Services& services);

    // A node's conversation, on the link's executor, until it ends.
    asio::awaitable<void> serve(std::shared_ptr<Link> link);
    void deliver(std::vector<NodeOrder> orders, std::vector<Ack> acks) override;
    // Tells every node to read its slurm.conf again.
    void reconfigure();
    // Tells every slurmd to end; what runs goes on.
    asio::awaitable<void> shut_down();

private:
    using Node = std::shared_ptr<NodeLink>;

    asio::awaitable<void> claim(Node node, Incoming registration);
    asio::awaitable<void> leave(Node node);
    asio::awaitable<bool> wait_for_welcome(const Node& node);
    asio::awaitable<void> hear(const Node& node);
    void carry_out(NodeOrder& order);
    void welcome(const Node& node, const NodeWelcome& answer);
    void tell_to_reconfigure(const Node& node);
    asio::awaitable<void> tell_all_to_end();
    void launch(const Node& node, const LaunchBatch& order);
    void acknowledge(std::vector<Ack> acks);
    Seconds heartbeat_interval() const;

    asio::any_io_executor home_;
    Services& services_;
    BlobCache blobs_;
    std::unordered_map<std::string, Node> nodes_;
    std::uint64_t reconfigured_ = 0;                       // how often
    std::unordered_map<std::string, std::uint64_t> told_;  // which time each node heard of last
};

}  // namespace sluice
