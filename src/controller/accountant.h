// controller/accountant.h
//
// Delivers the facts of the store's outbox to the accounting database, in their order, and brings
// changes of the policy to the core. A thread of its own: a slow or absent database delays nothing
// else. Facts stay in the outbox until the database has them.
//
// Without slurmdbd the database is StateSaveLocation/accounting.db, and slurmctld also answers the
// questions of sacct, sacctmgr and others.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "accounting/service.h"
#include "controller/inbox.h"
#include "controller/published.h"
#include "store/store.h"

namespace sluice {

// Where facts go to and the policy comes from.
class AccountingPeer {
public:
    virtual ~AccountingPeer() = default;
    virtual Result<std::uint64_t> last_delivered() = 0;
    virtual Result<std::uint64_t> deliver(const std::vector<NumberedFact>& facts) = 0;
    virtual Result<void> keep_script(const std::string& hash, std::string_view bytes) = 0;
    // The policy of this cluster, if it is newer than that version; else null.
    virtual Result<std::shared_ptr<const Policy>> policy_after(std::uint64_t version) = 0;
    // What imported runs used: see UsageImport.
    virtual Result<std::vector<UsageImport>> imports_after(std::uint64_t number) = 0;
    virtual void upkeep(Time /*now*/) {}  // once a minute
};

class Accountant {
public:
    Accountant(Store& store, Inbox& inbox, const PublishedState& published,
               std::unique_ptr<AccountingPeer> peer);
    ~Accountant() { stop(); }

    void start();
    // One more delivery. What is left stays in the outbox, for the next controller.
    void stop();
    void wake();  // facts were committed
    // Returns when the core has the current policy.
    Result<void> bring_policy_now();

private:
    void run();
    void work();
    bool is_stopping();
    Result<bool> deliver_some();  // whether there may be more
    Result<void> keep_scripts(const std::vector<NumberedFact>& facts);
    Result<bool> bring_policy(std::function<void()> then = {});  // whether there was a newer one
    Result<void> bring_imports();
    void report(const Result<void>& outcome);
    void tell_triggers(TriggerEvent event);

    Store& store_;
    Inbox& inbox_;
    const PublishedState& published_;
    std::unique_ptr<AccountingPeer> peer_;
    std::uint64_t delivered_ = 0;
    bool knows_delivered_ = false;
    std::mutex policy_mutex_;  // for the next, and for the order of policies in the inbox
    std::uint64_t policy_version_ = 0;
    std::uint64_t last_import_ = 0;
    bool is_troubled_ = false;  // the last attempt failed
    bool is_dbd_gone_ = false;  // slurmdbd did not respond; else its database failed
    Time next_upkeep_{};

    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;
    bool stopping_ = false;
    std::thread thread_;
};

// The database of this slurmctld.
class OwnAccounting : public AccountingPeer {
public:
    OwnAccounting(AccountingService& service, std::string cluster)
        : service_(service), cluster_(std::move(cluster)) {}

    Result<std::uint64_t> last_delivered() override { return service_.last_delivered(cluster_); }
    Result<std::uint64_t> deliver(const std::vector<NumberedFact>& facts) override {
        return service_.deliver(cluster_, facts);
    }
    Result<void> keep_script(const std::string& hash, std::string_view bytes) override {
        return service_.keep_script(hash, bytes);
    }
    Result<std::shared_ptr<const Policy>> policy_after(std::uint64_t version) override;
    Result<std::vector<UsageImport>> imports_after(std::uint64_t number) override;
    void upkeep(Time now) override;

private:
    AccountingService& service_;
    std::string cluster_;
    Time next_roll_up_{};
};

}  // namespace sluice
