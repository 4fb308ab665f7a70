// The fleet's orders to a node, with a store that takes its time.
#include "controller/fleet.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <future>

#include "controller/replies.h"
#include "os/fd.h"
#include "testkit/scenario.h"

namespace sluice {
namespace {

class SlowStore : public Store {
public:
    std::promise<void> asked;  // for the first blob
    std::promise<void> may_answer;

    Result<Epoch> take_epoch() override { return Epoch{1}; }
    CommitOutcome commit(const Batch&) override { return {}; }
    Result<StoredState> load() override { return StoredState{}; }
    Result<std::vector<NumberedFact>> facts(std::uint64_t, std::size_t) override {
        return std::vector<NumberedFact>{};
    }
    Result<std::string> blob(std::string_view hash) override {
        if (!std::exchange(was_asked_, true)) {
            asked.set_value();
            may_answer.get_future().wait();
        }
        return "blob " + std::string(hash);
    }
    Result<bool> has_blob(std::string_view) override { return true; }

private:
    bool was_asked_ = false;
};

class FleetOrders : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(world_.run("nodes n1\nsubmit a\npass\nexpect a running n1"), "");
        Job job = world_.cluster().job(world_.job("a"));
        job.details = std::make_shared<const PackedDetails>(
            JobDetails{.script_hash = "script", .environment_hash = "environment"});
        job_ = std::make_shared<const Job>(std::move(job));
        published_.snapshot.set(world_.cluster().take_snapshot(world_.now()));
        published_.config.set(std::make_shared<const LiveConfig>());
        int pair[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        node_.reset(pair[0]);
        auto link = std::make_shared<Link>(
            Link::Socket(io_, asio::generic::stream_protocol(AF_UNIX, 0), pair[1]), scratch_, "n1");
        asio::co_spawn(io_, fleet_.serve(link, UserId{0}), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
        wire::AgentReport report;
        report.mutable_register_()->set_node("n1");
        const Bytes frame = framed(report);
        ASSERT_EQ(write(node_.get(), frame->data(), frame->size()),
                  static_cast<ssize_t>(frame->size()));
        ASSERT_EQ(inbox_.take(1).size(), 1u);  // the registration
    }
    void TearDown() override {
        services_.blob_pool.join();
        io_.stop();
        thread_.join();
    }

    NodeOrder order(auto order) { return {.node = "n1", .order = std::move(order)}; }
    void deliver(NodeOrder order) {
        std::vector<NodeOrder> orders;
        orders.push_back(std::move(order));
        fleet_.deliver(std::move(orders), {});
    }
    wire::AgentOrder next_order() {
        char bytes[4096];
        for (;;) {
            const auto frame = reader_.next();
            if (frame && *frame) return decode<wire::AgentOrder>(**frame).value();
            const ssize_t count = read(node_.get(), bytes, sizeof bytes);
            if (!frame || count <= 0) return {};
            reader_.feed({bytes, static_cast<std::size_t>(count)});
        }
    }
    RunId run() const { return {job_->id, job_->run.restarts, kBatchStep}; }

    Scenario world_;
    std::shared_ptr<const Job> job_;
    Inbox inbox_{16};
    PublishedState published_;
    SlowStore store_;
    CredentialSigner signer_ =
        CredentialSigner::load_or_create(testing::TempDir() + "fleet_test.key").value();
    Services services_{.inbox = inbox_,
                       .published = published_,
                       .store = store_,
                       .signer = signer_,
                       .config_path = "",
                       .hostname = "",
                       .boot_time = {}};
    std::vector<char> scratch_ = std::vector<char>(64u << 10);
    asio::io_context io_{1};
    Fleet fleet_{io_.get_executor(), services_};
    Fd node_;
    FrameReader reader_;
    std::thread thread_;
};

TEST_F(FleetOrders, AreInOrderAndDoNotStopTheIoThreadWhileTheScriptIsRead) {
    deliver(order(NodeWelcome{}));
    EXPECT_TRUE(next_order().has_registered());
    deliver(order(LaunchBatch{NodeIndex{0}, job_}));
    deliver(order(TerminateJob{.node = NodeIndex{0}, .run = run(), .reason_line = {}}));
    store_.asked.get_future().wait();
    std::promise<void> turn;
    asio::post(io_, [&] { turn.set_value(); });
    const bool is_free =
        turn.get_future().wait_for(std::chrono::seconds{10}) == std::future_status::ready;
    EXPECT_TRUE(is_free);
    char byte = 0;
    EXPECT_LT(recv(node_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT), 0);
    store_.may_answer.set_value();
    const wire::AgentOrder launch = next_order();
    ASSERT_TRUE(launch.has_launch_batch());
    EXPECT_EQ(launch.launch_batch().script(), "blob script");
    EXPECT_EQ(launch.launch_batch().environment(), "blob environment");
    EXPECT_TRUE(next_order().has_terminate());
}

TEST_F(FleetOrders, AReconfigurationComesAfterTheOrdersBeforeIt) {
    store_.may_answer.set_value();
    deliver(order(NodeWelcome{}));
    deliver(order(LaunchBatch{NodeIndex{0}, job_}));
    fleet_.reconfigure();
    EXPECT_TRUE(next_order().has_registered());
    EXPECT_TRUE(next_order().has_launch_batch());
    EXPECT_TRUE(next_order().has_reconfigure());
}

}  // namespace
}  // namespace sluice
