// controller/fleet.h
//
// The nodes' connections. A node registers, reports events and gets an acknowledgement when they
// are on disk; orders are addressed by node name. An order for a node that is not connected is
// dropped: the core repeats it when the node registers again. All shared state lives on one
// executor.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/committer.h"
#include "controller/services.h"
#include "net/link.h"
#include "wire.pb.h"

namespace sluice {

// One node's connection.
class NodeLink {
public:
    NodeLink(std::shared_ptr<Link> link, std::string node, UserId user)
        : link(std::move(link)),
          node(std::move(node)),
          user(user),
          answered(this->link->executor()) {}

    const std::shared_ptr<Link> link;
    const std::string node;
    const UserId user;  // of its slurmd
    // Used by the fleet: whether it may get orders, and its index in the core.
    bool welcome = false;
    NodeIndex index;
    // Used by the link: set when the core has answered the registration.
    std::optional<NodeWelcome> answer;
    asio::steady_timer answered;
};

// Scripts and environments of recent launches: the tasks of an array share theirs. Reads from the
// store, so it belongs to one thread that may block.
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

    // The session of a node, on the link's executor, until it ends.
    asio::awaitable<void> serve(std::shared_ptr<Link> link, UserId user);
    void deliver(std::vector<NodeOrder> orders, std::vector<Ack> acks) override;
    // Tells every node to read its slurm.conf again.
    void reconfigure();
    // Tells every slurmd to end; running jobs continue.
    asio::awaitable<void> shut_down();
    // Where there are several controllers, a node that hears nothing looks for another one.
    asio::awaitable<void> pulse();
    // Messages that are not passed to a connection yet, and the batches they came in. Any thread
    // may ask.
    struct Waiting {
        std::size_t messages = 0, batches = 0;
    };
    Waiting waiting() const { return {waiting_messages_, waiting_batches_}; }

private:
    using Node = std::shared_ptr<NodeLink>;

    asio::awaitable<void> claim(Node node, Incoming registration);
    asio::awaitable<void> leave(Node node);
    asio::awaitable<bool> wait_for_welcome(const Node& node);
    asio::awaitable<void> hear(const Node& node);
    // An order, and the blobs of a launch.
    struct Blobs {
        std::shared_ptr<const std::string> script, environment;
    };
    struct ReadyOrder {
        NodeOrder order;
        Result<Blobs> blobs = Blobs{};
    };
    std::vector<ReadyOrder> with_blobs(std::vector<NodeOrder> orders);
    Result<Blobs> blobs_for(const LaunchBatch& order);
    void carry_out(const ReadyOrder& ready);
    void welcome(const Node& node, const NodeWelcome& answer);
    void tell_to_reconfigure(const Node& node);
    asio::awaitable<void> tell_all_to_end();
    void launch(const Node& node, const LaunchBatch& order, const Result<Blobs>& blobs);
    void prepare(const Node& node, const PrepareJob& order);
    void acknowledge(std::vector<Ack> acks);
    Seconds heartbeat_interval() const;

    asio::any_io_executor home_;
    Services& services_;
    BlobCache blobs_;  // used by blob_pool only
    std::unordered_map<std::string, Node> nodes_;
    std::atomic<std::size_t> waiting_messages_{0}, waiting_batches_{0};
    std::uint64_t reconfigured_ = 0;                       // number of reconfigurations
    std::unordered_map<std::string, std::uint64_t> told_;  // the last one each node was told of
};

}  // namespace sluice
