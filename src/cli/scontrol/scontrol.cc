#include "cli/scontrol/scontrol.h"

#include <algorithm>

#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/scontrol/help.h"
#include "cli/scontrol/session.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "surface/arguments.h"
#include "surface/json.h"

namespace sluice {

namespace {

template <bool Session::*Member, bool Value = true>
int set_mode(Session& session, const Words&) {
    session.*Member = Value;
    return 0;
}
template <bool RecordStyle::*Member>
int set_style(Session& session, const Words&) {
    session.style.*Member = true;
    return 0;
}
int do_nothing(Session&, const Words&) {
    return 0;
}
int show_help(Session& session, const Words&) {
    session.streams.out(kScontrolHelp);
    return 0;
}
int show_version(Session& session, const Words&) {
    print_version(session.streams);
    return 0;
}
int run_ping(Session& session, const Words&) {
    return ping(session);
}
int run_reconfigure(Session& session, const Words&) {
    return reconfigure(session);
}
int run_shutdown(Session& session, const Words& words) {
    const bool only_controller = words.size() > 1;
    if (only_controller && words[1] != "slurmctld") {
        session.streams.err(fmt::format("invalid shutdown argument:{}\n", words[1]));
        return 1;
    }
    return shut_down(session, only_controller);
}

int show_addresses(Session& session, const Words& words) {
    Result<Hostlist> hosts = Hostlist::parse(words[1]);
    if (!hosts) {
        print_error(session.streams, session.invocation,
                    fmt::format("Invalid hostlist: {}", words[1]));
        return 1;
    }
    Result<Table> table = fetch_table(
        session.client, TableKind::Nodes,
        {static_cast<ColumnId>(NodeColumn::Name), static_cast<ColumnId>(NodeColumn::Address),
         static_cast<ColumnId>(NodeColumn::Port)},
        {.nodes = hosts->names(), .include_hidden = true});
    if (!table) {
        print_api_error(session.streams, "slurm_load_node", table.error());
        return 1;
    }
    std::string out;
    for (std::size_t i = 0; i < table->rows(); ++i) {
        out += fmt::format("{}: {}:{}\n", table->text(i, NodeColumn::Name),
                           table->text(i, NodeColumn::Address), table->number(i, NodeColumn::Port));
    }
    session.streams.out(out);
    return table->rows() > 0 ? 0 : 1;
}

struct Command {
    std::string_view name;
    std::size_t shortest;                              // as few letters are enough
    std::size_t words_min, words_max;                  // after the name
    int (*run)(Session& session, const Words& words);  // nullptr: not supported here
};

constexpr std::size_t kMany = 1000;

// clang-format off
constexpr Command kCommands[] = {
    {"all",          3, 0, 0,     set_mode<&Session::all>},
    {"create",       2, 0, kMany, create},
    {"delete",       3, 0, kMany, remove},
    {"details",      1, 0, 0,     set_style<&RecordStyle::details>},
    {"exit",         1, 0, 0,     set_mode<&Session::over>},
    {"getaddrs",     4, 1, 1,     show_addresses},
    {"help",         2, 0, 0,     show_help},
    {"hide",         2, 0, 0,     set_mode<&Session::all, false>},
    {"hold",         3, 1, kMany, control_jobs},
    {"holdu",        5, 1, kMany, control_jobs},
    {"oneliner",     1, 0, 0,     set_style<&RecordStyle::one_line>},
    {"ping",         3, 0, 0,     run_ping},
    {"quiet",        4, 0, 0,     set_mode<&Session::quiet>},
    {"quit",         4, 0, 0,     set_mode<&Session::over>},
    {"reconfigure",  3, 0, 0,     run_reconfigure},
    {"release",      3, 1, kMany, control_jobs},
    {"requeue",      3, 1, kMany, control_jobs},
    {"requeuehold",  8, 1, kMany, control_jobs},
    {"resume",       3, 1, kMany, control_jobs},
    {"show",         3, 1, 2,     show},
    {"shutdown",     8, 0, 1,     run_shutdown},
    {"suspend",      2, 1, kMany, control_jobs},
    {"top",          3, 1, 1,     control_jobs},
    {"uhold",        5, 1, kMany, control_jobs},
    {"update",       1, 0, kMany, update},
    {"verbose",      4, 0, 0,     do_nothing},
    {"version",      4, 0, 0,     show_version},
    {"write",        5, 1, 3,     write_script},
    {"cancel_reboot", 3, 0, 1,    cancel_reboot},
    {"cluster",      2, 0, kMany, nullptr},
    {"completing",   2, 0, kMany, nullptr},
    {"errnumstr",    2, 0, kMany, nullptr},
    {"fsdampeningfactor", 3, 0, kMany, nullptr},
    {"listjobs",     5, 0, kMany, nullptr},
    {"listpids",     5, 0, kMany, nullptr},
    {"liststeps",    5, 0, kMany, nullptr},
    {"notify",       1, 0, kMany, nullptr},
    {"pidinfo",      3, 0, kMany, nullptr},
    {"power",        3, 0, kMany, nullptr},
    {"reboot",       3, 0, kMany, reboot},
    {"schedloglevel", 3, 0, kMany, nullptr},
    {"setdebug",     2, 0, kMany, nullptr},
    {"setdebugflags", 9, 0, kMany, nullptr},
    {"takeover",     8, 0, kMany, nullptr},
    {"token",        3, 0, kMany, nullptr},
    {"wait_job",     1, 0, kMany, nullptr},
};
// clang-format on

const Command* find_command(std::string_view name) {
    const Command* found = nullptr;
    for (const Command& command : kCommands) {
        if (equals_ignoring_case(command.name, name)) return &command;
        const bool fits =
            name.size() >= command.shortest && starts_with_ignoring_case(command.name, name);
        if (fits && !found) found = &command;
    }
    return found;
}

int run_command(Session& session, Words words) {
    const Command* command = find_command(words[0]);
    if (!command) {
        session.streams.err(fmt::format("invalid keyword: {}\n", words[0]));
        return 1;
    }
    words[0] = command->name;
    const std::size_t count = words.size() - 1;
    if (!command->run) {
        print_error(session.streams, session.invocation,
                    fmt::format("{} is not supported", command->name));
        return 1;
    }
    if (count < command->words_min || count > command->words_max) {
        session.streams.err(fmt::format("too {} arguments for keyword:{}\n",
                                        count < command->words_min ? "few" : "many", words[0]));
        return 1;
    }
    return command->run(session, words);
}

// A line of the prompt as words; quotes keep blanks together.
Words split_line(std::string_view line) {
    Words found;
    std::string word;
    bool inside = false;
    char quote = 0;
    for (char c : line) {
        if (quote && c == quote) {
            quote = 0;
        } else if (!quote && (c == '"' || c == '\'')) {
            quote = c;
            inside = true;
        } else if (!quote && (c == ' ' || c == '\t')) {
            if (inside) found.push_back(std::move(word));
            word.clear();
            inside = false;
        } else {
            word += c;
            inside = true;
        }
    }
    if (inside) found.push_back(std::move(word));
    return found;
}

int run_prompt(Session& session) {
    int code = 0;
    std::string line, last;
    while (!session.over) {
        session.streams.out("scontrol: ");
        session.streams.flush();
        if (!session.streams.read_line(line)) {
            session.streams.out("\n");
            break;
        }
        if (trim(line) == "!!") line = last;
        Words words = split_line(line);
        if (words.empty()) continue;
        last = line;
        if (run_command(session, std::move(words)) != 0) code = 1;
    }
    return code;
}

enum Option : std::size_t {
    kAll,
    kDetails,
    kFederation,
    kFuture,
    kHelp,
    kHide,
    kJson,
    kLocal,
    kCluster,
    kOneLine,
    kQuiet,
    kUid,
    kVerbose,
    kVersion,
};

constexpr OptionSpelling kSpellings[] = {
    {"all", 'a', Argument::None, kAll},
    {"cluster", 'M', Argument::Required, kCluster},
    {"clusters", 0, Argument::Required, kCluster},
    {"details", 'd', Argument::None, kDetails},
    {"federation", 0, Argument::None, kFederation},
    {"future", 'F', Argument::None, kFuture},
    {"help", 'h', Argument::None, kHelp},
    {"usage", 0, Argument::None, kHelp},
    {"hide", 0, Argument::None, kHide},
    {"json", 0, Argument::Optional, kJson},
    {"local", 0, Argument::None, kLocal},
    {"oneliner", 'o', Argument::None, kOneLine},
    {"quiet", 'Q', Argument::None, kQuiet},
    {"sibling", 0, Argument::None, kFederation},
    {"uid", 'u', Argument::Required, kUid},
    {"verbose", 'v', Argument::None, kVerbose},
    {"version", 'V', Argument::None, kVersion},
};

// Nothing: go on. A code: everything has been said.
std::optional<int> apply_option(Session& session, const GivenOption& option) {
    auto refuse = [&](std::string_view what) {
        print_error(session.streams, session.invocation, fmt::format("{} is not supported", what));
        return 1;
    };
    switch (option.id) {
        case kAll:
            session.all = true;
            break;
        case kDetails:
            session.style.details = true;
            break;
        case kHide:
            session.all = false;
            break;
        case kOneLine:
            session.style.one_line = true;
            break;
        case kQuiet:
            session.quiet = true;
            break;
        case kHelp:
            return show_help(session, {});
        case kVersion:
            return show_version(session, {});
        case kCluster:
            return refuse("-M (--clusters)");
        case kFederation:
            return refuse("--federation");
        case kUid:
            return refuse("-u (--uid)");
        case kJson:
            if (option.value == "list") {
                print_data_parsers(session.streams);
                return 0;
            }
            if (option.value && !is_data_parser(*option.value)) {
                return refuse(fmt::format("--json={}", *option.value));
            }
            session.json = true;
            break;
        default:
            break;
    }
    return {};
}

}  // namespace

int run_scontrol_at(Time now, const Invocation& invocation, Client& client, Streams& streams) {
    Session session{.invocation = invocation, .client = client, .streams = streams, .now = now};
    if (auto all = invocation.environment.find("SCONTROL_ALL")) session.all = true;
    Result<Arguments> given = parse_arguments(invocation.args, kSpellings, OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return 1;
    }
    for (const GivenOption& option : given->options) {
        if (std::optional<int> code = apply_option(session, option)) return *code;
    }
    return given->operands.empty() ? run_prompt(session) : run_command(session, given->operands);
}

int run_scontrol(const Invocation& invocation, Client& client, Streams& streams) {
    return run_scontrol_at(current_time(), invocation, client, streams);
}

}  // namespace sluice
