// The lines of a scenario that describe the policy of accounting: accounts, their members, QOS.
#include <algorithm>

#include "model/times.h"
#include "testkit/scenario.h"
#include "testkit/scenario_words.h"

namespace sluice {

namespace {

// -1 removes a limit.
void set_tres(Tres& tres, const std::string& text) {
    tres = text == "-1" ? Tres{} : parse_tres(text).value();
}

void set_count(std::optional<std::uint32_t>& count, const std::string& text) {
    count = text == "-1" ? std::nullopt : std::optional(as_number(text));
}

void set_length(std::optional<Seconds>& length, const std::string& text) {
    length = text == "-1" ? std::nullopt : std::optional<Seconds>(Minutes{as_number(text)});
}

// Returns whether the key is one of them; `group` is "Grp", "Max" or the like.
bool set_allotment(Allotment& most, const std::string& group, const std::string& suffix,
                   const std::string& key, const std::string& value) {
    if (key == group + "TRES" + suffix && group == "Grp") return set_tres(most.tres, value), true;
    if (key == group + "TRESMins" + suffix && group == "Grp")
        return set_tres(most.minutes, value), true;
    if (key == group + "TRESRunMins" + suffix) return set_tres(most.run_minutes, value), true;
    if (key == group + "Jobs" + suffix) return set_count(most.running, value), true;
    if (key == group + "SubmitJobs" + suffix) return set_count(most.submitted, value), true;
    if (key == group + "JobsAccrue" + suffix) return set_count(most.accruing, value), true;
    if (key == group + "Wall" && group == "Grp") return set_length(most.wall, value), true;
    return false;
}

std::vector<std::string> names_in(const std::string& list) {
    std::vector<std::string> names;
    for (std::string_view name : split(list, ',')) names.emplace_back(name);
    return names;
}

void set_association(Association& a, const std::string& key, const std::string& value) {
    if (set_allotment(a.of_all, "Grp", "", key, value)) return;
    if (set_allotment(a.of_each, "Max", "", key, value)) return;
    if (key == "MaxTRES") return set_tres(a.max_per_job, value);
    if (key == "MaxTRESPerNode") return set_tres(a.max_per_node, value);
    if (key == "MaxTRESMins") return set_tres(a.max_minutes_per_job, value);
    if (key == "MaxWall") return set_length(a.max_wall, value);
    if (key == "MinPrio") return set_count(a.min_priority, value);
    if (key == "DefaultQOS") return void(a.default_qos = value);
    if (key == "Priority") return void(a.priority = as_number(value));
    if (key == "Fairshare")
        return void(a.shares = value == "parent" ? kSharesOfParent : as_number(value));
    if (key == "QOS") return void(a.qos = names_in(value));
    CHECK(key == "parent" || key == "account" || key == "partition" || key == "default");
}

void set_qos_limit(Qos& qos, const std::string& key, const std::string& value) {
    if (set_allotment(qos.of_all, "Grp", "", key, value)) return;
    if (set_allotment(qos.of_user, "Max", "PU", key, value)) return;
    if (set_allotment(qos.of_account, "Max", "PA", key, value)) return;
    if (key == "MaxTRESMins") return set_tres(qos.max_minutes_per_job, value);
    if (key == "MinPrio") return set_count(qos.min_priority, value);
    if (key == "UsageFactor") return void(qos.usage_factor = as_number(value));
    if (key == "UsageThreshold") return set_count(qos.usage_threshold, value);
    if (key == "LimitFactor") return set_count(qos.limit_factor, value);
    CHECK(key == "Flags");
    qos.flags |= find_qos_flag(value).value();
}

Association& association_in(Policy& policy, const std::string& account, const std::string& user,
                            const std::string& partition) {
    for (Association& each : policy.associations) {
        if (each.account == account && each.user == user && each.partition == partition)
            return each;
    }
    // A new account is below the root, unless the caller puts it elsewhere.
    const std::uint32_t above = account == "root" ? 0 : association_in(policy, "root", "", "").id;
    Association fresh{.id = policy.next_id++,
                      .parent = above,
                      .account = account,
                      .user = user,
                      .partition = partition};
    return policy.associations.emplace_back(std::move(fresh));
}

}  // namespace

void Scenario::change_policy(const std::string& verb, const std::string& name,
                             const Words& options) {
    Policy policy = cluster_->policy();
    ++policy.version;
    if (policy.associations.empty() && verb != "qoslimit") association_in(policy, "root", "", "");
    if (verb == "qoslimit") {
        auto qos = std::find_if(policy.qos.begin(), policy.qos.end(),
                                [&](const Qos& each) { return each.name == name; });
        for (const auto& [key, value] : options) set_qos_limit(*qos, key, value);
    } else {
        const bool is_user = verb == "member" || verb == "unmember";
        const std::string account = is_user ? options.at("account") : name;
        const std::string parent = is_user ? account : option(options, "parent", "root");
        const std::uint32_t above =
            name == "root" && !is_user ? 0 : association_in(policy, parent, "", "").id;
        Association& changed =
            association_in(policy, account, is_user ? name : "", option(options, "partition"));
        changed.parent = above;
        if (is_user) changed.uid = UserId{as_number(name)};
        changed.is_default = options.contains("default");
        changed.deleted = verb == "unmember";
        for (const auto& [key, value] : options) set_association(changed, key, value);
    }
    apply_event(PolicyChanged{std::make_shared<const Policy>(std::move(policy))});
}

}  // namespace sluice
