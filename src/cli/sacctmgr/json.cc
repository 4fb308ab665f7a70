// cli/sacctmgr/json.cc
//
// sacctmgr show --json of accounts, associations, clusters, QOS, TRES, users and wckeys.
#include "surface/json.h"

#include <algorithm>

#include "cli/common/job_setup.h"
#include "cli/common/listing.h"
#include "cli/sacctmgr/commands.h"
#include "cli/sacctmgr/policy_line.h"
#include "policy/tree.h"

namespace sluice {

namespace {

// [{"type": "gres", "name": "gpu", "id": 1001, "count": 4}]
void write_tres(Json& json, std::string_view key, const Policy& policy, const Tres& tres) {
    json.open_list(key);
    for (const auto& [name, count] : tres) {
        const std::size_t slash = name.find('/');
        json.open_object();
        json.text("type", name.substr(0, slash));
        json.text("name", slash == std::string::npos ? "" : name.substr(slash + 1));
        std::uint32_t id = 0;
        for (const TresKind& kind : policy.tres) id = kind.name == name ? kind.id : id;
        json.number("id", id);
        json.number("count", static_cast<std::int64_t>(count));
        json.close();
    }
    json.close();
}

std::int64_t number_of(const std::optional<std::uint32_t>& count) {
    return count ? std::int64_t{*count} : kUnlimited;
}

void write_association(Json& json, const Policy& policy, const Association& own) {
    const Association each = inherited(policy, own);
    json.open_object();
    json.text("account", own.account);
    json.text("cluster", own.cluster);
    json.text("comment", own.comment);
    json.open_object("default");
    json.text("qos", each.default_qos);
    json.close();
    json.number("id", own.id);
    json.boolean("is_default", own.is_default);
    json.open_object("max");
    json.open_object("jobs");
    json.open_object("per");
    json.optional_number("count", number_of(each.of_all.running));
    json.optional_number("accruing", number_of(each.of_all.accruing));
    json.optional_number("submitted", number_of(each.of_all.submitted));
    json.close();
    json.optional_number("active", number_of(each.of_each.running));
    json.optional_number("accruing", number_of(each.of_each.accruing));
    json.optional_number("total", number_of(each.of_each.submitted));
    json.close();
    json.open_object("tres");
    write_tres(json, "total", policy, each.of_all.tres);
    json.open_object("group");
    write_tres(json, "minutes", policy, each.of_all.minutes);
    write_tres(json, "active", policy, each.of_all.run_minutes);
    json.close();
    json.open_object("per");
    write_tres(json, "job", policy, each.max_per_job);
    write_tres(json, "node", policy, each.max_per_node);
    json.close();
    json.close();
    json.close();
    const Association* parent = find_association(policy, own.parent);
    json.text("parent_account", parent && own.user.empty() ? parent->account : "");
    json.text("partition", own.partition);
    json.optional_number("priority", own.priority ? std::int64_t{own.priority} : kAbsent);
    json.texts("qos", each.qos.value_or(std::vector<std::string>{}));
    json.number("shares_raw", own.shares);
    json.text("user", own.user);
    json.close();
}

void write_qos(Json& json, const Policy& policy, const Qos& qos) {
    json.open_object();
    json.text("description", qos.description);
    json.open_list("flags");
    for (std::string_view flag : split(print_qos_flags(qos.flags), ',')) {
        if (!flag.empty()) json.element(flag);
    }
    json.close();
    json.number("id", qos.id);
    json.open_object("limits");
    json.number("grace_time", qos.grace_time.count());
    json.open_object("max");
    json.open_object("tres");
    write_tres(json, "total", policy, qos.of_all.tres);
    json.open_object("per");
    write_tres(json, "account", policy, qos.of_account.tres);
    write_tres(json, "job", policy, qos.max_per_job);
    write_tres(json, "node", policy, qos.max_per_node);
    write_tres(json, "user", policy, qos.of_user.tres);
    json.close();
    json.close();
    json.close();
    json.open_object("min");
    json.open_object("tres");
    json.open_object("per");
    write_tres(json, "job", policy, qos.min_per_job);
    json.close();
    json.close();
    json.close();
    json.close();
    json.text("name", qos.name);
    json.open_object("preempt");
    json.texts("list", qos.preempt);
    json.texts("mode", {qos.preempt_mode.empty() ? "DISABLED" : qos.preempt_mode});
    json.close();
    json.optional_number("priority", qos.priority);
    json.close();
}

void write_user(Json& json, const Policy& policy, const PolicyUser& user) {
    json.open_object();
    json.texts("administrator_level", {print_admin_level(user.admin_level)});
    json.open_list("coordinators");
    for (const std::string& account : coordinated_by(policy, user.name)) {
        json.open_object();
        json.text("name", account);
        json.close();
    }
    json.close();
    json.open_object("default");
    json.text("account", default_account_of(policy, user.name));
    json.text("wckey", default_wckey_of(policy, user.name));
    json.close();
    json.text("name", user.name);
    json.close();
}

void write_account(Json& json, const Account& account) {
    json.open_object();
    json.open_list("coordinators");
    for (const std::string& user : account.coordinators) {
        json.open_object();
        json.text("name", user);
        json.close();
    }
    json.close();
    json.text("description", account.description);
    json.text("name", account.name);
    json.text("organization", account.organization);
    json.close();
}

bool write_rows(Json& json, SacctmgrEntity entity, const Policy& policy,
                const SacctmgrWords& words) {
    const std::vector<std::string>& names = words.step.names;
    if (entity == SacctmgrEntity::Association) {
        json.open_list("associations");
        for (const Association* each : tree_order(policy, false)) {
            if (is_among(words.step.accounts, each->account) &&
                is_among(words.step.clusters, each->cluster) && words.selects("users", each->user))
                write_association(json, policy, *each);
        }
    } else if (entity == SacctmgrEntity::Qos) {
        json.open_list("qos");
        for (const Qos& each : policy.qos) {
            if (!each.deleted && is_among(names, each.name)) write_qos(json, policy, each);
        }
    } else if (entity == SacctmgrEntity::User) {
        json.open_list("users");
        for (const PolicyUser& each : policy.users) {
            if (!each.deleted && is_among(names, each.name)) write_user(json, policy, each);
        }
    } else if (entity == SacctmgrEntity::Account) {
        json.open_list("accounts");
        for (const Account& each : policy.accounts) {
            if (!each.deleted && is_among(names, each.name)) write_account(json, each);
        }
    } else if (entity == SacctmgrEntity::Tres) {
        Tres all;
        for (const TresKind& kind : policy.tres) all[kind.name] = 0;
        write_tres(json, "TRES", policy, all);
        return true;
    } else {
        return false;
    }
    json.close();
    return true;
}

}  // namespace

int print_policy_json(AccountingCommand& command, SacctmgrEntity entity, const Policy& policy,
                      const SacctmgrWords& words) {
    const Looks looks = looks_for(command.invocation, command.client, current_time());
    const JsonMeta meta = json_meta(command.invocation, looks, *command.json);
    Json json(meta.style);
    json.open_object();
    if (!write_rows(json, entity, policy, words))
        return command.fail("--json is supported for accounts, associations, qos, tres and users");
    write_json_meta(json, meta);
    json.close();
    command.streams.out(json.take());
    return 0;
}

}  // namespace sluice
