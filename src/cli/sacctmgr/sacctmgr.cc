// See sacctmgr.h.
#include "cli/sacctmgr/sacctmgr.h"

#include <algorithm>

#include "base/text.h"
#include "cli/common/ask_policy.h"
#include "cli/common/listing.h"
#include "cli/sacctmgr/change.h"
#include "cli/sacctmgr/commands.h"
#include "cli/sacctmgr/help.h"
#include "cli/sacctmgr/show.h"
#include "model/errors.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

using Entity = SacctmgrEntity;
using Show = int (*)(AccountingCommand&, const Policy&, const SacctmgrWords&);

struct EntityRow {
    std::string_view word;
    std::size_t least;
    Entity entity;
    Show show = nullptr;
    bool is_changeable = false;
};

constexpr EntityRow kEntities[] = {
    {"accounts", 3, Entity::Account, show_accounts, true},
    {"accts", 3, Entity::Account, show_accounts, true},
    {"associations", 2, Entity::Association, show_associations},
    {"clusters", 2, Entity::Cluster, show_clusters, true},
    {"coordinators", 4, Entity::Coordinator, nullptr, true},
    {"events", 1, Entity::Event, show_events},
    {"problems", 1, Entity::Problem, show_problems},
    {"qos", 1, Entity::Qos, show_qos, true},
    {"resources", 4, Entity::Resource, show_resources, true},
    {"reservations", 4, Entity::Reservation, show_reservations},
    {"runawayjobs", 2, Entity::RunawayJobs, show_runaway_jobs},
    {"transactions", 2, Entity::Transaction, show_transactions},
    {"txns", 2, Entity::Transaction, show_transactions},
    {"tres", 2, Entity::Tres, show_tres},
    {"users", 1, Entity::User, show_users, true},
    {"wckeys", 1, Entity::Wckey, show_wckeys},
};

const EntityRow* find_entity(std::string_view word) {
    for (const EntityRow& row : kEntities) {
        if (means(word, row.word, row.least)) return &row;
    }
    return nullptr;
}

int no_entity(const AccountingCommand& command, std::string_view verb) {
    command.streams.err(fmt::format(
        "No valid entity in {} command\n{}", verb,
        verb == "list" ? "Input line must include \"Account\", \"Association\", \"Cluster\", "
                         "\"Configuration\",\n\"Event\", \"Federation\", \"Problem\", \"QOS\", "
                         "\"Resource\", \"Reservation\",\n\"RunAwayJobs\", \"Stats\", "
                         "\"Transaction\", \"TRES\", \"User\", or \"WCKey\"\n"
                       : "Input line must include \"Account\", \"Cluster\", \"Coordinator\", "
                         "\"Federation\", \"QOS\", \"Resource\", or \"User\"\n"));
    return 1;
}

int show(AccountingCommand& command) {
    const std::string word = command.words.empty() ? "" : command.words[0];
    if (means(word, "configuration", 4)) return show_configuration(command);
    if (means(word, "federation", 3)) return command.fail("federations are not supported");
    if (means(word, "stats", 1)) return show_accounting_statistics(command);
    const EntityRow* row = find_entity(word);
    if (!row || !row->show) return no_entity(command, "list");
    command.words.erase(command.words.begin());
    const Result<SacctmgrWords> words = read_list_words(row->entity, command.words);
    if (!words) {
        command.streams.err(words.error().detail + "\n");
        return 1;
    }
    const Result<Policy> policy = ask_policy(command.client);
    if (!policy) return command.fail(to_string(policy.error()));
    if (command.json) return print_policy_json(command, row->entity, *policy, *words);
    return row->show(command, *policy, *words);
}

template <PolicyVerb Verb>
int change(AccountingCommand& command) {
    constexpr std::string_view kVerbNames[] = {"add", "modify", "delete"};
    const std::string word = command.words.empty() ? "" : command.words[0];
    if (means(word, "federation", 3)) return command.fail("federations are not supported");
    if (Verb == PolicyVerb::Modify && means(word, "job", 1)) return modify_jobs(command);
    const EntityRow* row = find_entity(word);
    const bool is_possible = row && row->is_changeable &&
                             (Verb != PolicyVerb::Modify || row->entity != Entity::Coordinator);
    if (!is_possible) return no_entity(command, kVerbNames[static_cast<std::size_t>(Verb)]);
    command.words.erase(command.words.begin());
    return change_policy(command, Verb, row->entity);
}

int print_help(AccountingCommand& command) {
    return command.streams.out(kSacctmgrHelp), 0;
}
int show_version(AccountingCommand& command) {
    return print_version(command.streams), 0;
}
struct Verb {
    std::string_view word;
    std::size_t least;
    int (*run)(AccountingCommand& command);
};

constexpr Verb kVerbs[] = {
    {"add", 3, change<PolicyVerb::Add>},
    {"create", 1, change<PolicyVerb::Add>},
    {"archive", 3, archive},
    {"clear", 2, clear_accounting_statistics},
    {"delete", 3, change<PolicyVerb::Delete>},
    {"remove", 3, change<PolicyVerb::Delete>},
    {"dump", 3, dump_policy},
    {"help", 1, print_help},
    {"list", 3, show},
    {"load", 2, load_policy},
    {"modify", 1, change<PolicyVerb::Modify>},
    {"update", 1, change<PolicyVerb::Modify>},
    {"ping", 2, ping_accounting},
    {"reconfigure", 3, reconfigure_accounting},
    {"show", 3, show},
    {"shutdown", 3, shut_accounting_down},
    {"version", 4, show_version},
};

// Words that change how later commands of the same session work.
struct Switch {
    std::string_view word;
    void (*set)(AccountingCommand& command);
};
constexpr Switch kSwitches[] = {
    {"associations", [](AccountingCommand& command) { command.with_associations = true; }},
    {"immediate", [](AccountingCommand& command) { command.immediate = true; }},
    {"oneliner", [](AccountingCommand&) {}},
    {"parsable", [](AccountingCommand& command) { command.bars = Bars::AfterEach; }},
    {"parsable2", [](AccountingCommand& command) { command.bars = Bars::Between; }},
    {"quiet", [](AccountingCommand& command) { command.quiet = true; }},
    {"readonly", [](AccountingCommand& command) { command.read_only = true; }},
    {"verbose", [](AccountingCommand& command) { command.quiet = false; }},
};

int run_command(AccountingCommand& command, const std::vector<std::string>& words) {
    for (const Switch& row : kSwitches) {
        if (equals_ignoring_case(row.word, words[0])) return row.set(command), 0;
    }
    for (const Verb& verb : kVerbs) {
        if (!means(words[0], verb.word, verb.least)) continue;
        command.words.assign(words.begin() + 1, words.end());
        return verb.run(command);
    }
    command.streams.err(fmt::format("invalid keyword: {}\n", words[0]));
    return 1;
}

// At blanks; quotes keep a word together.
std::vector<std::string> words_in(const std::string& line) {
    std::vector<std::string> words;
    bool is_open = false;
    char quote = 0;
    for (const char c : line) {
        const bool is_quote = quote ? c == quote : c == '\'' || c == '"';
        if (!quote && (c == ' ' || c == '\t')) {
            is_open = false;
            continue;
        }
        if (!is_open) words.emplace_back();
        is_open = true;
        if (is_quote)
            quote = quote ? '\0' : c;
        else
            words.back() += c;
    }
    return words;
}

// Compat: the exit code is that of the last command.
int run_session(AccountingCommand& command) {
    int code = 0;
    std::string line, last;
    while (true) {
        command.streams.out("sacctmgr: ");
        command.streams.flush();
        if (!command.streams.read_line(line)) break;
        if (trim(line) == "!!") line = last;
        const std::vector<std::string> words = words_in(line);
        if (words.empty()) continue;
        if (means(words[0], "exit", 1) || means(words[0], "quit", 4)) return code;
        last = line;
        code = run_command(command, words);
    }
    command.streams.out("\n");
    return code;
}

enum Option : std::size_t {
    kAssociations,
    kImmediate,
    kNoHeader,
    kOneLine,
    kParsable,
    kParsable2,
    kQuiet,
    kReadOnly,
    kVerbose,
    kVersion,
    kJson,
    kYaml,
    kHelpOption
};

constexpr OptionSpelling kOptions[] = {
    {"associations", 's', Argument::None, kAssociations},
    {"immediate", 'i', Argument::None, kImmediate},
    {"noheader", 'n', Argument::None, kNoHeader},
    {"oneliner", 'o', Argument::None, kOneLine},
    {"parsable", 'p', Argument::None, kParsable},
    {"parsable2", 'P', Argument::None, kParsable2},
    {"quiet", 'Q', Argument::None, kQuiet},
    {"readonly", 'r', Argument::None, kReadOnly},
    {"verbose", 'v', Argument::None, kVerbose},
    {"version", 'V', Argument::None, kVersion},
    {"json", 0, Argument::Optional, kJson},
    {"yaml", 0, Argument::Optional, kYaml},
    {"help", 'h', Argument::None, kHelpOption},
    {"usage", 0, Argument::None, kHelpOption},
};

// The exit code if the option ends the program.
std::optional<int> set_option(AccountingCommand& command, const GivenOption& option) {
    switch (option.id) {
        case kAssociations:
            command.with_associations = true;
            break;
        case kImmediate:
            command.immediate = true;
            break;
        case kNoHeader:
            command.header = false;
            break;
        case kParsable:
            command.bars = Bars::AfterEach;
            break;
        case kParsable2:
            command.bars = Bars::Between;
            break;
        case kQuiet:
            command.quiet = true;
            break;
        case kReadOnly:
            command.read_only = true;
            break;
        case kVersion:
            return print_version(command.streams), 0;
        case kHelpOption:
            return print_help(command);
        case kJson:
        case kYaml: {
            Result<JsonStyle> style =
                parse_json_style(option.value.value_or(""), option.id == kYaml);
            if (!style) return command.fail(to_string(style.error()));
            command.json = *style;
            break;
        }
        default:
            break;  // every record is a line here, and nothing is logged
    }
    return std::nullopt;
}

}  // namespace

int AccountingCommand::say(std::string_view text) const {
    streams.err(fmt::format(" {}\n", text));
    return 1;
}

int AccountingCommand::fail(std::string_view text) const {
    print_error(streams, invocation, text);
    return 1;
}

bool AccountingCommand::is_agreed(std::string_view question) const {
    if (immediate) return true;
    streams.out(fmt::format("{} (You have 30 seconds to decide)\n(N/y): ", question));
    streams.flush();
    std::string answer;
    const bool yes = streams.read_line(answer) && means(trim(answer), "yes", 1);
    streams.out(yes ? "\n" : "\n Changes Discarded\n");
    return yes;
}

int run_sacctmgr(const Invocation& invocation, Client& client, Streams& streams) {
    Result<Arguments> given = parse_arguments(invocation.args, kOptions, OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return 1;
    }
    AccountingCommand command{invocation, client, streams};
    for (const GivenOption& option : given->options) {
        if (const std::optional<int> code = set_option(command, option)) return *code;
    }
    return given->operands.empty() ? run_session(command) : run_command(command, given->operands);
}

}  // namespace sluice
