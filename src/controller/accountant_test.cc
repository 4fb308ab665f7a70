#include "controller/accountant.h"

#include <gtest/gtest.h>

#include <atomic>

namespace sluice {
namespace {

// Facts without end.
class FullOutbox : public Store {
public:
    Result<Epoch> take_epoch() override { return kept_->take_epoch(); }
    CommitOutcome commit(const Batch& batch) override { return kept_->commit(batch); }
    Result<StoredState> load() override { return kept_->load(); }
    Result<std::vector<NumberedFact>> facts(std::uint64_t after, std::size_t most) override {
        std::vector<NumberedFact> found;
        for (std::size_t i = 1; i <= most; ++i) found.push_back({after + i, AccountedJob{}});
        return found;
    }
    Result<std::string> blob(std::string_view hash) override { return kept_->blob(hash); }
    Result<bool> has_blob(std::string_view hash) override { return kept_->has_blob(hash); }

private:
    std::unique_ptr<Store> kept_ = memory_store();
};

class CountingPeer : public AccountingPeer {
public:
    explicit CountingPeer(std::atomic<std::uint64_t>& last) : last_(last) {}

    Result<std::uint64_t> last_delivered() override { return last_.load(); }
    Result<std::uint64_t> deliver(const std::vector<NumberedFact>& facts) override {
        last_ = facts.back().sequence;
        last_.notify_all();
        return last_.load();
    }
    Result<void> keep_script(const std::string&, std::string_view) override { return {}; }
    Result<std::shared_ptr<const Policy>> policy_after(std::uint64_t) override {
        return std::shared_ptr<const Policy>();
    }
    Result<std::vector<UsageImport>> imports_after(std::uint64_t) override {
        return std::vector<UsageImport>();
    }

private:
    std::atomic<std::uint64_t>& last_;
};

struct Parts {
    FullOutbox store;
    Inbox inbox{kInboxSize};
    PublishedState published;
    std::atomic<std::uint64_t> last = 0;
    Accountant accountant{store, inbox, published, std::make_unique<CountingPeer>(last)};

    Parts() { published.config.set(std::make_shared<LiveConfig>()); }
};

// A planned takeover waits for it.
TEST(Accountant, StopsHoweverManyFactsThereAre) {
    Parts parts;
    parts.accountant.start();
    parts.last.wait(0);
    parts.accountant.stop();
    EXPECT_GE(parts.last, 1u);
}

TEST(Accountant, DeliversOnceMoreAtItsEnd) {
    Parts parts;
    parts.accountant.stop();
    EXPECT_EQ(parts.last, 0u);  // it was never started
    parts.accountant.start();
    parts.accountant.stop();
    EXPECT_EQ(parts.last, 2000u);
}

}  // namespace
}  // namespace sluice
