// policy/random_test.cc: whatever is changed, the policy stays consistent.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "policy/apply.h"

namespace sluice {
namespace {

class Changes {
public:
    explicit Changes(unsigned seed) : random_(seed) {}

    PolicyStep next() {
        PolicyStep step;
        step.verb = static_cast<PolicyVerb>(pick(3));
        step.entity = static_cast<PolicyEntity>(pick(5));
        const bool is_qos = step.entity == PolicyEntity::Qos;
        const bool is_account = step.entity == PolicyEntity::Account;
        const bool is_cluster = step.entity == PolicyEntity::Cluster;
        step.names = {is_qos       ? name("q")
                      : is_account ? name("a")
                      : is_cluster ? name("c")
                                   : name("u")};
        if (is_account && pick(2)) step.record.parent = name("a");
        if (step.entity == PolicyEntity::User && pick(4)) step.accounts = {name("a")};
        if (step.entity == PolicyEntity::User && pick(3) == 0) step.partitions = {"debug"};
        if (step.entity == PolicyEntity::User && pick(3) == 0)
            step.record.default_account = name("a");
        if (step.entity == PolicyEntity::User && pick(3) == 0) step.wckeys = {name("w")};
        if (step.entity == PolicyEntity::Coordinator) step.accounts = {name("a")};
        if (is_qos && pick(2)) step.qos.preempt_added = {name("q")};
        if (!is_qos && pick(3) == 0) step.limits.qos_added = {name("q")};
        if (!is_qos && pick(3) == 0) step.limits.default_qos = name("q");
        if (pick(4) == 0) step.clusters = {name("c")};
        return step;
    }

private:
    unsigned pick(unsigned count) { return static_cast<unsigned>(random_()) % count; }
    std::string name(const char* prefix) { return prefix + std::to_string(pick(4)); }

    std::mt19937 random_;
};

void expect_consistent(const Policy& policy) {
    std::set<std::uint32_t> seen;
    std::set<std::tuple<std::string, std::string, std::string, std::string>> keys;
    std::map<std::pair<std::string, std::string>, int> defaults, associations;
    for (const Association& each : policy.associations) {
        EXPECT_TRUE(each.parent == 0 || seen.contains(each.parent)) << "a parent precedes";
        EXPECT_TRUE(seen.insert(each.id).second) << "ids are unique";
        EXPECT_TRUE(keys.emplace(each.cluster, each.account, each.user, each.partition).second);
        EXPECT_LT(each.id, policy.next_id);
        if (each.deleted) {
            EXPECT_FALSE(each.is_default);
            continue;
        }
        const Association* parent = find_association(policy, each.parent);
        if (parent) {
            EXPECT_FALSE(parent->deleted);
            EXPECT_EQ(parent->cluster, each.cluster);
            EXPECT_TRUE(parent->user.empty());
        }
        if (each.user.empty()) continue;
        ++associations[{each.cluster, each.user}];
        if (each.is_default) ++defaults[{each.cluster, each.user}];
    }
    for (const auto& [key, count] : associations) EXPECT_EQ(defaults[key], 1) << key.second;
    std::set<std::string> names;
    for (const Qos& qos : policy.qos) EXPECT_TRUE(names.insert(qos.name).second);
}

TEST(PolicyChanges, NeverBreakThePolicy) {
    const PolicyActor root{.name = "root", .uid = UserId{0}, .is_root = true};
    for (unsigned seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        Changes changes(seed);
        Policy policy = first_policy("c0", Time{});
        for (int i = 0; i < 100; ++i) {
            const Policy before = policy;
            const Result<PolicyOutcome> outcome =
                apply_change(policy, {{changes.next()}}, root, {}, Time{Seconds{i}});
            const bool is_changed = outcome && !outcome->is_empty();
            EXPECT_TRUE(is_changed || policy == before);
            expect_consistent(policy);
            if (testing::Test::HasFailure()) return;
        }
    }
}

}  // namespace
}  // namespace sluice
