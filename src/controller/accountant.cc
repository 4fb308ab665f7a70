// See accountant.h.
#include "controller/accountant.h"

#include <algorithm>
#include <future>
#include <map>
#include <set>

#include "base/log.h"
#include "model/errors.h"
#include "net/run_on.h"
#include "os/user.h"

namespace sluice {

namespace {

constexpr std::size_t kFactsAtOnce = 2000;
// Facts of a short job that are delivered together cost one row.
constexpr auto kCollect = std::chrono::milliseconds(200);
constexpr auto kRetry = std::chrono::seconds(1);
constexpr auto kPatience = std::chrono::seconds(10);  // of a change, for the core
constexpr Seconds kUpkeepEvery{60};
constexpr Seconds kAskPolicyEvery{5};  // if slurmdbd could not tell that there is a newer one
constexpr Seconds kHour{3600};

std::optional<UserId> uid_of(const std::string& name) {
    const std::optional<User> user = find_user(name);
    return user ? std::optional(UserId{user->uid}) : std::nullopt;
}

// Associations name users; jobs have numbers.
void resolve_users(Policy& policy) {
    std::map<std::string, std::optional<UserId>> known;
    const auto look_up = [&](const std::string& name) {
        auto [place, is_new] = known.try_emplace(name);
        if (is_new) place->second = uid_of(name);
        return place->second;
    };
    for (PolicyUser& user : policy.users) user.uid = look_up(user.name);
    for (Association& each : policy.associations)
        if (!each.user.empty()) each.uid = look_up(each.user);
    for (Wckey& each : policy.wckeys) each.uid = look_up(each.user);
}

}  // namespace

Accountant::Accountant(Store& store, Inbox& inbox, const PublishedState& published,
                       std::unique_ptr<AccountingPeer> peer)
    : store_(store), inbox_(inbox), published_(published), peer_(std::move(peer)) {}

void Accountant::start() {
    thread_ = std::thread([this] { run(); });
}

void Accountant::stop() {
    {
        const std::lock_guard guard(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

bool Accountant::is_stopping() {
    const std::lock_guard guard(mutex_);
    return stopping_;
}

void Accountant::wake() {
    {
        const std::lock_guard guard(mutex_);
        if (std::exchange(woken_, true)) return;
    }
    changed_.notify_all();
}

void Accountant::run() {
    while (true) {
        work();
        std::unique_lock lock(mutex_);
        if (stopping_) return;
        if (is_troubled_) {
            changed_.wait_for(lock, kRetry, [&] { return stopping_; });
            continue;
        }
        changed_.wait_for(lock, kAskPolicyEvery, [&] { return stopping_ || woken_; });
        if (!stopping_) changed_.wait_for(lock, kCollect, [&] { return stopping_; });
        woken_ = false;
    }
}

void Accountant::work() {
    Result<void> outcome;
    if (const Result<bool> brought = bring_policy(); !brought) outcome = brought.error();
    if (outcome) outcome = bring_imports();
    while (outcome) {
        const Result<bool> more = deliver_some();
        if (!more) outcome = more.error();
        if (!more || !*more || is_stopping()) break;
    }
    report(outcome);
    if (const Time now = wall_clock(); outcome && now >= next_upkeep_ && !is_stopping()) {
        next_upkeep_ = now + kUpkeepEvery;
        peer_->upkeep(now);
    }
}

Result<bool> Accountant::deliver_some() {
    if (!knows_delivered_) {
        delivered_ = TRY(peer_->last_delivered());
        knows_delivered_ = true;
    }
    const std::vector<NumberedFact> facts = TRY(store_.facts(delivered_, kFactsAtOnce));
    if (facts.empty()) return false;
    TRY(keep_scripts(facts));
    delivered_ = TRY(peer_->deliver(facts));
    Incoming incoming;
    incoming.event = FactsDelivered{delivered_};
    inbox_.push(std::move(incoming));
    return facts.size() == kFactsAtOnce;
}

// AccountingStoreFlags=job_script,job_env. A script that is gone was deleted with its job.
Result<void> Accountant::keep_scripts(const std::vector<NumberedFact>& facts) {
    const auto live = published_.config.get();
    const Config& config = live->config;
    const bool scripts = config.has_flag(config.accounting_store_flags, "job_script");
    const bool environments = config.has_flag(config.accounting_store_flags, "job_env");
    std::set<std::string> wanted;
    for (const NumberedFact& each : facts) {
        const auto* job = std::get_if<AccountedJob>(&each.fact);
        if (!job) continue;
        if (scripts && !job->script_hash.empty()) wanted.insert(job->script_hash);
        if (environments && !job->environment_hash.empty()) wanted.insert(job->environment_hash);
    }
    for (const std::string& hash : wanted) {
        const Result<std::string> bytes = store_.blob(hash);
        if (bytes) TRY(peer_->keep_script(hash, *bytes));
    }
    return {};
}

Result<void> Accountant::bring_policy_now() {
    auto done = std::make_shared<std::promise<void>>();
    if (!TRY(bring_policy([done] { done->set_value(); }))) return {};
    if (done->get_future().wait_for(kPatience) == std::future_status::ready) return {};
    return Error{ErrorCode::Timeout, "the change is stored and has no effect yet"};
}

Result<bool> Accountant::bring_policy(std::function<void()> then) {
    const std::lock_guard guard(policy_mutex_);
    const std::shared_ptr<const Policy> policy = TRY(peer_->policy_after(policy_version_));
    if (!policy) return false;
    Policy resolved = *policy;
    resolve_users(resolved);
    policy_version_ = policy->version;
    Incoming incoming;
    incoming.event = PolicyChanged{std::make_shared<const Policy>(std::move(resolved))};
    incoming.then = std::move(then);
    inbox_.push(std::move(incoming));
    return true;
}

Result<void> Accountant::bring_imports() {
    const auto snapshot = published_.snapshot.get();
    if (!snapshot) return {};  // what the core has counted is not known yet
    last_import_ = std::max(last_import_, snapshot->last_import);
    while (true) {
        const std::vector<UsageImport> imports = TRY(peer_->imports_after(last_import_));
        if (imports.empty()) return {};
        for (const UsageImport& each : imports) {
            last_import_ = each.number;
            Incoming incoming;
            incoming.event = UsageImported{std::make_shared<const UsageImport>(each)};
            inbox_.push(std::move(incoming));
        }
        next_upkeep_ = Time{};  // they are rolled up at once
    }
}

// One line when it begins, and one when it is over.
void Accountant::report(const Result<void>& outcome) {
    if (!outcome) {
        knows_delivered_ = false;
        if (!std::exchange(is_troubled_, true)) {
            log_error("accounting is not available: {}; facts are kept and delivered later",
                      to_string(outcome.error()));
            const ErrorCode code = outcome.error().code;
            is_dbd_gone_ = code == ErrorCode::ControllerUnreachable || code == ErrorCode::Timeout;
            tell_triggers(is_dbd_gone_ ? TriggerEvent::SlurmdbdFailed
                                       : TriggerEvent::DatabaseFailed);
        }
    } else if (std::exchange(is_troubled_, false)) {
        log_info("accounting is available again");
        tell_triggers(is_dbd_gone_ ? TriggerEvent::SlurmdbdResumed : TriggerEvent::DatabaseResumed);
    }
}

void Accountant::tell_triggers(TriggerEvent event) {
    Incoming incoming;
    incoming.event = ServiceChanged{event};
    inbox_.push(std::move(incoming));
}

Result<std::shared_ptr<const Policy>> OwnAccounting::policy_after(std::uint64_t version) {
    const std::shared_ptr<const Policy> policy = service_.policy();
    if (policy->version <= version) return std::shared_ptr<const Policy>();
    return std::make_shared<const Policy>(policy_of_cluster(*policy, cluster_));
}

Result<std::vector<UsageImport>> OwnAccounting::imports_after(std::uint64_t number) {
    std::vector<UsageImport> imports = TRY(service_.imports_after(cluster_, number));
    if (!imports.empty()) next_roll_up_ = Time{};
    return imports;
}

void OwnAccounting::upkeep(Time now) {
    if (now < next_roll_up_) return;
    if (const Result<void> done = service_.roll_up(now); !done)
        log_error("the usage of the last hour was not computed: {}", to_string(done.error()));
    next_roll_up_ = std::chrono::floor<std::chrono::hours>(now) + kHour + kUpkeepEvery;
}

}  // namespace sluice
