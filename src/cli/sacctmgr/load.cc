// cli/sacctmgr/load.cc
//
// sacctmgr load: the steps that a file of sacctmgr dump asks for. All are done, or none; an error
// names the line.
#include "base/text.h"
#include "cli/common/ask_policy.h"
#include "cli/common/change_policy.h"
#include "cli/sacctmgr/change.h"
#include "cli/sacctmgr/commands.h"
#include "model/errors.h"
#include "os/files.h"
#include "policy/dump_file.h"

namespace sluice {

namespace {

std::string list_steps(const PolicyChange& change) {
    std::string out;
    for (const PolicyStep& step : change.steps) {
        constexpr std::string_view kVerbs[] = {"Add", "Modify", "Delete"};
        constexpr std::string_view kEntities[] = {"account",     "user",    "qos",
                                                  "coordinator", "cluster", "resource"};
        out += fmt::format(" {:<6} {:<11} {}", kVerbs[static_cast<std::size_t>(step.verb)],
                           kEntities[static_cast<std::size_t>(step.entity)], join(step.names, ","));
        if (!step.accounts.empty()) out += " account=" + join(step.accounts, ",");
        if (step.record.parent) out += " parent=" + *step.record.parent;
        if (step.record.default_account) out += " defaultaccount=" + *step.record.default_account;
        for (const auto& [name, value] : settings_of(step.limits))
            out += fmt::format(" {}={}", name, value);
        out += '\n';
    }
    return out;
}

}  // namespace

int load_policy(AccountingCommand& command) {
    if (command.read_only) {
        command.streams.err("Can't run this command in readonly mode.\n");
        return 1;
    }
    std::string file, cluster;
    bool clean = false;
    for (const std::string& word : command.words) {
        const std::size_t at = word.find('=');
        const std::string_view key = std::string_view(word).substr(0, at);
        if (at == std::string::npos && means(word, "clean", 3))
            clean = true;
        else if (at == std::string::npos || means(key, "file", 1))
            file = at == std::string::npos ? word : word.substr(at + 1);
        else if (means(key, "cluster", 3))
            cluster = to_lower(word.substr(at + 1));
        else
            return command.say("Unknown option: " + word);
    }
    if (file.empty()) return command.say("You need to specify a file to load.");
    const std::string path =
        file.starts_with('/') ? file : command.invocation.directory + "/" + file;
    const Result<std::string> text = read_file(path);
    if (!text)
        return command.say(fmt::format("Unable to read \"{}\": {}", file, text.error().detail));
    Result<Policy> policy = ask_policy(command.client);
    if (!policy) return command.fail(to_string(policy.error()));
    const Result<PolicyChange> change = load_dump(*policy, cluster, *text, clean);
    if (!change) {
        command.streams.err(change.error().detail + "\n");
        return command.say("Nothing was changed");
    }
    command.streams.out(fmt::format("For cluster {}\n", cluster));
    if (change->steps.empty()) return command.streams.out(" Nothing new added.\n"), 0;
    if (!command.quiet) command.streams.out(list_steps(*change));
    if (!command.is_agreed(kCommitQuestion)) return 0;
    const Result<void> sent = send_change(command.client, *change);
    return sent ? 0 : report_refusal(command, change->steps.front(), sent.error());
}

}  // namespace sluice
