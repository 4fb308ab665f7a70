// See summary.h.
#include "cli/sacctmgr/summary.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/sacctmgr/policy_line.h"
#include "cli/sacctmgr/show.h"

namespace sluice {

namespace {

using Names = std::vector<std::string>;

std::string list_of(std::string_view heading, const Names& names) {
    return names.empty() ? "" : fmt::format(" {}\n  {}\n", heading, fmt::join(names, "\n  "));
}

std::string associations_of(std::string_view heading, const PolicyOutcome& outcome) {
    Names lines;
    for (const ChangedAssociation& each : outcome.associations)
        lines.push_back(print_association(each));
    return list_of(heading, lines);
}

std::string added_accounts(const PolicyStep& step, const PolicyOutcome& outcome) {
    std::string text = list_of("Adding Account(s)", outcome.names);
    if (!outcome.names.empty()) {
        text += fmt::format(" Settings\n  Description     = {}\n  Organization    = {}\n",
                            step.record.description.value_or("Account Name"),
                            step.record.organization.value_or("Parent/Account Name"));
    }
    text += " Associations\n";
    for (const ChangedAssociation& each : outcome.associations)
        text += fmt::format("  A = {:<10} C = {:<10}\n", each.record.account, each.record.cluster);
    if (step.record.parent || !step.limits.is_empty()) {
        text += " Settings\n" +
                print_settings(step.limits, step.record.parent.value_or(std::string(kRootAccount)));
    }
    return text;
}

std::string user_settings(const PolicyStep& step) {
    std::string text;
    const RecordChange& record = step.record;
    if (record.default_account)
        text += fmt::format("  Default Account = {}\n", *record.default_account);
    if (record.default_wckey)
        text += fmt::format("  Default WCKey   = {}\n", *record.default_wckey);
    if (record.admin_level)
        text += fmt::format("  Admin Level     = {}\n", print_admin_level(*record.admin_level));
    return text.empty() ? "" : " Settings =\n" + text;
}

std::string added_users(const PolicyStep& step, const PolicyOutcome& outcome) {
    std::string text = list_of("Adding User(s)", outcome.names);
    if (!outcome.names.empty()) text += user_settings(step);
    if (!outcome.associations.empty()) text += " Associations =\n";
    for (const ChangedAssociation& each : outcome.associations) {
        const Association& made = each.record;
        text += fmt::format("  U = {:<9.9} A = {:<10.10} C = {:<10.10}", made.user, made.account,
                            made.cluster);
        text += made.partition.empty() ? "\n" : fmt::format(" P = {:<10.10}\n", made.partition);
    }
    if (!outcome.wckeys.empty()) text += " WCKeys =\n";
    for (const Wckey& key : outcome.wckeys) {
        text += fmt::format("  U = {:<9.9} W = {:<10.10} C = {:<10.10}\n", key.user, key.name,
                            key.cluster);
    }
    if (!outcome.associations.empty())
        text += " Non Default Settings\n" + print_settings(step.limits);
    return text;
}

// Compat: of several that are described by their names the last one is shown.
std::string added_qos(const PolicyStep& step, const PolicyOutcome& outcome, const Names& words) {
    std::string others;
    for (const std::string& word : words) {
        const std::size_t at = word.find('=');
        if (at == std::string::npos) continue;
        const std::string_view name = qos_key_name(word.substr(0, at));
        const bool is_setting = !name.empty() && name != "Description" && name != "Name";
        if (is_setting) others += fmt::format("  {:<24} = {}\n", name, word.substr(at + 1));
    }
    return fmt::format("{} Settings\n  Description    = {}\n{}",
                       list_of("Adding QOS(s)", outcome.names),
                       step.qos.description.value_or(outcome.names.back()), others);
}

std::string added_clusters(const PolicyStep& step, const PolicyOutcome& outcome) {
    std::string text = " Adding Cluster(s)\n";
    for (const std::string& name : outcome.names)
        text += fmt::format("  Name           = {}\n", name);
    std::string settings;
    if (step.record.classification)
        settings += fmt::format("  Classification = {}\n", *step.record.classification);
    if (!step.limits.is_empty()) settings += "  Default Limits:\n" + print_settings(step.limits);
    return settings.empty() ? text : text + " Setting\n" + settings;
}

std::string added_resources(const PolicyStep& step, const PolicyOutcome& outcome) {
    std::string text;
    for (const std::string& label : outcome.names) {
        const std::string name = label.substr(0, label.find('@'));
        text += " Adding Resource(s)\n  " + label + "\n";
        for (const std::string& cluster : step.clusters) {
            text +=
                fmt::format("   Cluster - {}\t{}{}\n", cluster, step.resource.allowed.value_or(0),
                            step.resource.is_absolute ? "" : "%");
        }
        text += fmt::format(
            " Settings\n  Name           = {}\n  Server         = {}\n  Description    = {}\n",
            name, label.substr(name.size() + 1), step.resource.description.value_or(name));
        if (step.resource.server_type)
            text += fmt::format("  ServerType     = {}\n", *step.resource.server_type);
        text += fmt::format("  Count          = {}\n  Type           = License\n",
                            step.resource.count.value_or(0));
    }
    return text;
}

std::string added(const PolicyStep& step, const PolicyOutcome& outcome, const Names& words) {
    switch (step.entity) {
        case PolicyEntity::Account:
            return added_accounts(step, outcome);
        case PolicyEntity::User:
            return added_users(step, outcome);
        case PolicyEntity::Qos:
            return added_qos(step, outcome, words);
        case PolicyEntity::Coordinator:
            return list_of("Adding Coordinator User(s)", outcome.names) +
                   list_of("To Account(s) and all sub-accounts", step.accounts);
        case PolicyEntity::Cluster:
            return added_clusters(step, outcome);
        case PolicyEntity::Resource:
            break;
    }
    return added_resources(step, outcome);
}

std::string modified(const PolicyStep& step, const PolicyOutcome& outcome) {
    switch (step.entity) {
        case PolicyEntity::Account:
            return list_of("Modified accounts...", outcome.names) +
                   associations_of("Modified account associations...", outcome);
        case PolicyEntity::User:
            return list_of("Modified users...", outcome.names) +
                   associations_of("Modified user associations...", outcome);
        case PolicyEntity::Qos:
            return list_of("Modified qos...", outcome.names);
        case PolicyEntity::Cluster: {
            std::string settings;
            if (step.record.classification)
                settings += fmt::format("  Classification = {}\n", *step.record.classification);
            if (!step.limits.is_empty())
                settings += "  Default Limits:\n" + print_settings(step.limits);
            return " Setting\n" + settings +
                   associations_of("Modified cluster defaults for associations...", outcome);
        }
        default:
            return list_of("Modified server resource ...", outcome.names);
    }
}

// Compat: the account is padded to ten places here.
std::string deleted_associations(std::string_view heading, const PolicyOutcome& outcome) {
    Names lines;
    for (const ChangedAssociation& each : outcome.associations) {
        const Association& gone = each.record;
        std::string line = fmt::format("C = {:<10} A = {:<10}", gone.cluster, gone.account);
        if (!gone.user.empty()) line += fmt::format(" U = {:<9}", gone.user);
        if (!gone.partition.empty()) line += " P = " + gone.partition;
        lines.push_back(line);
    }
    return list_of(heading, lines);
}

std::string deleted(const PolicyStep& step, const PolicyOutcome& outcome) {
    switch (step.entity) {
        case PolicyEntity::Account:
            return outcome.names.empty()
                       ? deleted_associations("Deleting account associations...", outcome)
                       : list_of("Deleting accounts...", outcome.names);
        case PolicyEntity::User:
            return outcome.names.empty()
                       ? deleted_associations("Deleting user associations...", outcome) +
                             list_of("Deleting users (No Associations)...", outcome.users_left)
                       : list_of("Deleting users...", outcome.names);
        case PolicyEntity::Qos:
            return list_of("Deleting QOS(s)...", outcome.names);
        case PolicyEntity::Coordinator:
            return list_of("Removing Coordinators with user name", step.names) +
                   list_of("From Account(s)", step.accounts) +
                   list_of("Removed Coordinators (sub accounts not listed)...", outcome.names);
        case PolicyEntity::Cluster:
            return list_of("Deleting clusters...", outcome.names);
        case PolicyEntity::Resource:
            break;
    }
    return list_of("Deleting resource(s)...", outcome.names);
}

}  // namespace

std::string print_settings(const AssociationChange& limits, const std::string& parent) {
    std::string text;
    bool has_parent = parent.empty();
    auto say_parent = [&] {
        if (!has_parent) text += fmt::format("  {:<14}= {}\n", "Parent", parent);
        has_parent = true;
    };
    for (const auto& [name, value] : settings_of(limits)) {
        // Compat: the parent is shown before these.
        if (name == "Priority" || name == "QOS" || name == "DefQOS" || name == "Comment")
            say_parent();
        const bool is_wide = name == "GrpJobsAccrue";
        text += fmt::format("  {:<{}}= {}\n", name, is_wide ? 25 : 14, value);
    }
    say_parent();
    return text;
}

std::string summary_of(const PolicyStep& step, const PolicyOutcome& outcome, const Names& words) {
    switch (step.verb) {
        case PolicyVerb::Add:
            return added(step, outcome, words);
        case PolicyVerb::Modify:
            return modified(step, outcome);
        case PolicyVerb::Delete:
            break;
    }
    return deleted(step, outcome);
}

}  // namespace sluice
