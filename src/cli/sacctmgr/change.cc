// See change.h.
#include "cli/sacctmgr/change.h"

#include "base/text.h"
#include "cli/common/ask_policy.h"
#include "cli/common/change_policy.h"
#include "cli/sacctmgr/summary.h"
#include "model/errors.h"
#include "os/user.h"

namespace sluice {

namespace {

struct EntityName {
    SacctmgrEntity entity;
    PolicyEntity changed;
    std::string_view plural;  // "Problem adding accounts: ..."
    std::string_view missing_name;
};

constexpr EntityName kEntityNames[] = {
    {SacctmgrEntity::Account, PolicyEntity::Account, "accounts", " Need name of account to add."},
    {SacctmgrEntity::User, PolicyEntity::User, "users", " Need name of user to add."},
    {SacctmgrEntity::Qos, PolicyEntity::Qos, "QOS", " Need name of qos to add."},
    {SacctmgrEntity::Coordinator, PolicyEntity::Coordinator, "coordinators",
     " You need to specify a user list."},
    {SacctmgrEntity::Cluster, PolicyEntity::Cluster, "clusters", " Need name of cluster to add."},
    {SacctmgrEntity::Resource, PolicyEntity::Resource, "resources",
     " Need name of resource to add."},
};

const EntityName& name_of(PolicyEntity entity) {
    return kEntityNames[static_cast<std::size_t>(entity)];
}

int nothing_done(const AccountingCommand& command, const PolicyStep& step) {
    switch (step.verb) {
        case PolicyVerb::Add:
            return command.say("Nothing new added.");
        case PolicyVerb::Modify:
            return command.say("Nothing modified");
        case PolicyVerb::Delete:
            break;
    }
    return command.say(step.entity == PolicyEntity::Coordinator ? "Nothing removed"
                                                                : "Nothing deleted");
}

// Compat: a change of everything needs a confirmation of its own.
bool may_continue(const AccountingCommand& command, const SacctmgrWords& words) {
    if (words.has_conditions || words.step.verb != PolicyVerb::Modify || command.immediate)
        return true;
    command.streams.err(" You didn't set any conditions with 'WHERE'.\n");
    return command.is_agreed("Are you sure you want to continue?");
}

// Users that the directory service of this host does not know may be a typing error.
bool are_users_wanted(const AccountingCommand& command, const PolicyOutcome& outcome) {
    if (command.immediate) return true;
    for (const std::string& name : outcome.names) {
        if (find_user(name)) continue;
        command.streams.out(fmt::format("There is no uid for user '{}'\n", name));
        if (!command.is_agreed("Are you sure you want to continue?")) return false;
    }
    return true;
}

int perform(AccountingCommand& command, const PolicyStep& step, const std::string& summary) {
    if (!command.immediate) {
        command.streams.out(summary);
        if (!command.is_agreed(kCommitQuestion)) return 0;
    }
    if (Result<void> sent = send_change(command.client, {{step}}); !sent)
        return report_refusal(command, step, sent.error());
    if (command.immediate && !command.quiet) command.streams.out(summary);
    return 0;
}

}  // namespace

int report_refusal(const AccountingCommand& command, const PolicyStep& step, const Error& error) {
    if (error.code == ErrorCode::AccessDenied && step.verb == PolicyVerb::Add) {
        return command.say(
            fmt::format("Problem adding {}: {}", name_of(step.entity).plural, text_of(error.code)));
    }
    if (error.code == ErrorCode::AccessDenied) {
        command.fail("Your user doesn't have privilege to perform this action");
        return command.say(fmt::format("Error with request: {}", text_of(error.code)));
    }
    if (!error.detail.starts_with(' ')) return command.fail(to_string(error));
    command.streams.err(error.detail + "\n");
    return 1;
}

int change_policy(AccountingCommand& command, PolicyVerb verb, SacctmgrEntity entity) {
    if (command.read_only) {
        command.streams.err("Can't run this command in readonly mode.\n");
        return 1;
    }
    Result<SacctmgrWords> words = read_change_words(entity, verb, command.words);
    if (!words) {
        if (words.error().code == ErrorCode::NotSupported)
            return command.fail(to_string(words.error()));
        const std::string& text = words.error().detail;
        if (!text.starts_with(' ')) return command.fail(text);
        command.streams.err(text + "\n");
        return 1;
    }
    PolicyStep& step = words->step;
    for (const EntityName& row : kEntityNames) {
        if (row.entity == entity) step.entity = row.changed;
    }
    if (verb == PolicyVerb::Add && step.names.empty())
        return report_refusal(
            command, step,
            {ErrorCode::BadArgument, std::string(name_of(step.entity).missing_name)});
    if (verb == PolicyVerb::Modify && !words->has_settings)
        return command.say("You didn't give me anything to set");
    if (verb == PolicyVerb::Delete && !words->has_conditions)
        return command.say("No conditions given to remove, not executing.");
    if (!may_continue(command, *words)) return 0;
    Result<Policy> policy = ask_policy(command.client);
    if (!policy) return command.fail(to_string(policy.error()));
    const Result<PolicyOutcome> outcome = preview(*policy, {{step}});
    if (!outcome) return report_refusal(command, step, outcome.error());
    if (outcome->is_empty()) return nothing_done(command, step);
    const bool adds_users = step.entity == PolicyEntity::User && verb == PolicyVerb::Add;
    if (adds_users && !are_users_wanted(command, *outcome)) return 0;
    return perform(command, step, summary_of(step, *outcome, command.words));
}

}  // namespace sluice
