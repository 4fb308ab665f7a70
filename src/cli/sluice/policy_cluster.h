// cli/sluice/policy_cluster.h
//
// For tests: a cluster with a policy, which it changes as slurmctld would change it.
#pragma once

#include <utility>
#include <vector>

#include "base/check.h"
#include "cli/squeue/fake_cluster.h"
#include "model/policy_fields.h"
#include "policy/apply.h"
#include "policy/change_fields.h"
#include "protocol/field_codec.h"

namespace sluice {

class PolicyCluster : public FakeCluster {
public:
    PolicyCluster() {
        policy.tres.push_back({1001, "gres/gpu"});
        change({.verb = PolicyVerb::Add, .entity = PolicyEntity::Account, .names = {"overcap"}});
    }

    Result<wire::Reply> call(const wire::Request& request, const Waiting& waiting = {}) override {
        wire::Reply reply;
        if (request.has_ask_accounting()) {
            field_codec::put_fields(policy, *reply.mutable_rows()->add_rows());
        } else if (request.has_change_policy()) {
            PolicyChange wanted;
            TRY(field_codec::get_fields(request.change_policy(), wanted));
            PolicyFacts facts{.jobs = jobs_of_labs, .uids = {}, .gres = {"gpu"}};
            TRY(apply_change(policy, wanted, actor, facts, Time{}));
            ++changes;
            reply.mutable_done();
        } else {
            return FakeCluster::call(request, waiting);
        }
        return reply;
    }
    void change(PolicyStep step) {
        const PolicyActor root{.name = "root", .uid = UserId{0}, .is_root = true};
        const PolicyFacts facts{.gres = {"gpu"}};
        CHECK(apply_change(policy, {{std::move(step)}}, root, facts, Time{}).has_value());
    }

    Policy policy = first_policy("oracle", Time{});
    PolicyActor actor{.name = "root", .uid = UserId{0}, .is_root = true};
    std::vector<LiveJob> jobs_of_labs;
    int changes = 0;
};

}  // namespace sluice
