// See lab_plan.h.
#include "cli/sluice/lab_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/common/gpu_count.h"
#include "policy/apply.h"

namespace sluice {

namespace {

using Names = std::vector<std::string>;

Error bad(std::string text) {
    return {ErrorCode::BadArgument, std::move(text)};
}

// What the policy says of one cluster.
class LabView {
public:
    LabView(const Policy& policy, const std::string& cluster)
        : policy_(policy), cluster_(cluster) {}

    const Association* account(std::string_view name) const {
        for (const Association& each : policy_.associations) {
            if (is_here(each) && each.user.empty() && each.account == name) return &each;
        }
        return nullptr;
    }
    bool has_overcap() const { return account(kOvercap) != nullptr; }
    bool has_children(const std::string& name) const {
        const Association* parent = account(name);
        return std::any_of(
            policy_.associations.begin(), policy_.associations.end(), [&](const Association& each) {
                return is_here(each) && each.user.empty() && each.parent == parent->id;
            });
    }
    Names members(std::string_view name) const {
        std::set<std::string> users;
        for (const Association& each : policy_.associations) {
            if (is_here(each) && !each.user.empty() && each.account == name)
                users.insert(each.user);
        }
        return {users.begin(), users.end()};
    }
    bool is_member(const std::string& user, std::string_view name) const {
        const Names users = members(name);
        return std::binary_search(users.begin(), users.end(), user);
    }
    // The labs of a user that is leaving one; and whether that one is the default account.
    Names other_accounts(const std::string& user, const std::string& left) const {
        std::set<std::string> accounts;
        for (const Association& each : policy_.associations) {
            if (is_here(each) && each.user == user && each.account != left &&
                each.account != kOvercap)
                accounts.insert(each.account);
        }
        return {accounts.begin(), accounts.end()};
    }
    bool is_default(const std::string& user, const std::string& name) const {
        return std::any_of(policy_.associations.begin(), policy_.associations.end(),
                           [&](const Association& each) {
                               return is_here(each) && each.user == user && each.account == name &&
                                      each.is_default;
                           });
    }
    Lab lab(const Association& account) const {
        Lab lab{.name = account.account, .cap = {}, .users = members(account.account)};
        auto cap = account.of_all.tres.find(std::string(kGpuTres));
        if (cap != account.of_all.tres.end()) lab.cap = cap->second;
        return lab;
    }
    std::vector<Lab> labs() const {
        std::vector<Lab> found;
        for (const Association& each : policy_.associations) {
            if (!is_here(each) || !each.user.empty() || each.parent == 0) continue;
            if (Lab one = lab(each); one.cap) found.push_back(std::move(one));
        }
        std::sort(found.begin(), found.end(),
                  [](const Lab& a, const Lab& b) { return a.name < b.name; });
        return found;
    }

private:
    bool is_here(const Association& each) const {
        return !each.deleted && each.cluster == cluster_;
    }

    const Policy& policy_;
    const std::string& cluster_;
};

// The steps of one command.
class LabPlan {
public:
    LabPlan(const Policy& policy, const std::string& cluster, const LabRequest& request)
        : view_(policy, cluster), cluster_(cluster), request_(request) {}

    const LabView& view() const { return view_; }
    PolicyChange take() { return std::move(change_); }

    void limit(PolicyVerb verb) {
        PolicyStep& account = add(verb, PolicyEntity::Account, {request_.name});
        account.limits.shares = static_cast<std::uint32_t>(*request_.gpus);
        account.limits.of_all.tres[std::string(kGpuTres)] = *request_.gpus;
    }
    Result<void> join() {
        Names strangers_to_overcap;
        for (const std::string& user : request_.joining) {
            if (view_.is_member(user, request_.name))
                return bad(fmt::format("user {} is a member of {} already", user, request_.name));
            if (!view_.is_member(user, kOvercap)) strangers_to_overcap.push_back(user);
        }
        add_users(request_.joining, request_.name);
        if (view_.has_overcap()) add_users(strangers_to_overcap, std::string(kOvercap));
        return {};
    }
    // A user without another lab also leaves overcap, and with it the cluster.
    Result<void> leave(const Names& users) {
        Names gone, staying;
        for (const std::string& user : users) {
            if (!view_.is_member(user, request_.name))
                return bad(fmt::format("user {} is not a member of {}", user, request_.name));
            const Names others = view_.other_accounts(user, request_.name);
            (others.empty() ? gone : staying).push_back(user);
            if (others.empty() || !view_.is_default(user, request_.name)) continue;
            add(PolicyVerb::Modify, PolicyEntity::User, {user}).record.default_account =
                others.front();
        }
        Names accounts{request_.name};
        delete_users(staying, accounts);
        if (view_.has_overcap()) accounts.emplace_back(kOvercap);
        delete_users(gone, accounts);
        return {};
    }
    void remove_account() { add(PolicyVerb::Delete, PolicyEntity::Account, {request_.name}); }

private:
    PolicyStep& add(PolicyVerb verb, PolicyEntity entity, Names names) {
        PolicyStep step{.verb = verb, .entity = entity, .names = std::move(names)};
        step.clusters = {cluster_};
        return change_.steps.emplace_back(std::move(step));
    }
    void add_users(const Names& users, const std::string& account) {
        if (!users.empty()) add(PolicyVerb::Add, PolicyEntity::User, users).accounts = {account};
    }
    void delete_users(const Names& users, const Names& accounts) {
        if (!users.empty()) add(PolicyVerb::Delete, PolicyEntity::User, users).accounts = accounts;
    }

    LabView view_;
    const std::string& cluster_;
    const LabRequest& request_;
    PolicyChange change_;
};

// The lab that a command is about.
Result<Lab> existing_lab(const LabView& view, const LabRequest& request) {
    const Association* account = view.account(request.name);
    if (!account) return bad(fmt::format("there is no lab {}", request.name));
    return view.lab(*account);
}

Result<void> check_name(const std::string& name) {
    if (name != kRootAccount && name != kOvercap) return {};
    return bad(fmt::format("the account {} is not a lab", name));
}

Error not_a_lab(const std::string& name) {
    return bad(fmt::format("the account {} is not a lab: it has no cap on GPUs", name));
}

}  // namespace

std::vector<Lab> labs_of(const Policy& policy, const std::string& cluster) {
    return LabView(policy, cluster).labs();
}

Result<PolicyChange> plan_lab_add(const Policy& policy, const std::string& cluster,
                                  const LabRequest& request) {
    LabPlan plan(policy, cluster, request);
    TRY(check_name(request.name));
    if (plan.view().account(request.name))
        return bad(
            fmt::format("the account {} exists already: sluice lab set changes it", request.name));
    plan.limit(PolicyVerb::Add);
    TRY(plan.join());
    return plan.take();
}

Result<PolicyChange> plan_lab_set(const Policy& policy, const std::string& cluster,
                                  const LabRequest& request) {
    LabPlan plan(policy, cluster, request);
    TRY(check_name(request.name));
    const Lab lab = TRY(existing_lab(plan.view(), request));
    if (!lab.cap && !request.gpus) return not_a_lab(lab.name);
    if (request.gpus) plan.limit(PolicyVerb::Modify);
    TRY(plan.join());
    TRY(plan.leave(request.leaving));
    return plan.take();
}

Result<PolicyChange> plan_lab_remove(const Policy& policy, const std::string& cluster,
                                     const LabRequest& request) {
    LabPlan plan(policy, cluster, request);
    TRY(check_name(request.name));
    const Lab lab = TRY(existing_lab(plan.view(), request));
    if (!lab.cap) return not_a_lab(lab.name);
    if (plan.view().has_children(lab.name))
        return bad(fmt::format("{} has accounts below it: remove these first", lab.name));
    TRY(plan.leave(lab.users));
    plan.remove_account();
    return plan.take();
}

std::string sacctmgr_line(const PolicyStep& step) {
    constexpr std::string_view kVerbs[] = {"add", "modify", "delete"};
    std::string line =
        fmt::format("sacctmgr -i {} {} name={}", kVerbs[static_cast<std::size_t>(step.verb)],
                    step.entity == PolicyEntity::User ? "user" : "account", join(step.names, ","));
    if (!step.accounts.empty()) line += " account=" + join(step.accounts, ",");
    if (!step.clusters.empty()) line += " cluster=" + join(step.clusters, ",");
    if (step.verb == PolicyVerb::Modify) line += " set";
    for (const auto& [key, value] : settings_of(step.limits))
        line += fmt::format(" {}={}", key, value);
    if (step.record.default_account) line += " DefaultAccount=" + *step.record.default_account;
    return line;
}

}  // namespace sluice
