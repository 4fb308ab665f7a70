#include "cli/scontrol/scontrol.h"

#include <algorithm>

#include "base/text.h"
#include "cli/common/listing.h"
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
int show_help(Session& session, const Words&);
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

int run_take_over(Session& session, const Words& words) {
    return take_over(session, words.size() > 1 ? &words[1] : nullptr);
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
    std::string_view operands = {};
    std::string_view help = {};
};

constexpr std::size_t kMany = 1000;

constexpr std::string_view kHelpEnd = R"(
Without a command, commands are read from standard input; !! repeats the last one. Keywords can be
shortened and written in any case. Entities: config, daemons, damaged, hostlist, hostlistsorted,
hostnames, job, licenses, node, partition, reservation, step, topology.
)";

// clang-format off
constexpr Command kCommands[] = {
    {"all",               3, 0, 0,     set_mode<&Session::all>,            "",                                               "hidden partitions too"},
    {"create",            2, 0, kMany, create,                             "ENTITY KEY=VALUE...",                            "create a partition or a reservation"},
    {"delete",            3, 0, kMany, remove,                             "ENTITY=NAME",                                    "delete a partition or a reservation"},
    {"details",           1, 0, 0,     set_style<&RecordStyle::details>,   "",                                               "show more about jobs, such as the indexes of devices"},
    {"exit",              1, 0, 0,     set_mode<&Session::over>,           "",                                               "leave the prompt"},
    {"getaddrs",          4, 1, 1,     show_addresses,                     "NODES",                                          "print the addresses of nodes"},
    {"help",              2, 0, 0,     show_help,                          "",                                               "show this text"},
    {"hide",              2, 0, 0,     set_mode<&Session::all, false>,     "",                                               "no hidden partitions (default)"},
    {"hold",              3, 1, kMany, control_jobs,                       "JOBS",                                           "keep jobs from starting; by an operator: until an operator releases them"},
    {"holdu",             5, 1, kMany, control_jobs,                       "JOBS",                                           "keep jobs from starting until their owner releases them"},
    {"oneliner",          1, 0, 0,     set_style<&RecordStyle::one_line>,  "",                                               "one line for each record"},
    {"ping",              3, 0, 0,     run_ping,                           "",                                               "test whether slurmctld responds"},
    {"quiet",             4, 0, 0,     set_mode<&Session::quiet>,          "",                                               "print errors only"},
    {"quit",              4, 0, 0,     set_mode<&Session::over>,           "",                                               "leave the prompt"},
    {"reconfigure",       3, 0, 0,     run_reconfigure,                    "",                                               "read slurm.conf again; a file with an error changes nothing"},
    {"release",           3, 1, kMany, control_jobs,                       "JOBS",                                           "let held jobs start"},
    {"requeue",           3, 1, kMany, control_jobs,                       "[Incomplete] [State=SpecialExit] JOBS",           "end jobs and put them back into the queue; Incomplete: only those that have started and not ended; SpecialExit: held, and shown in that state"},
    {"requeuehold",       8, 1, kMany, control_jobs,                       "[Incomplete] [State=SpecialExit] JOBS",           "the same, in held state"},
    {"resume",            3, 1, kMany, control_jobs,                       "JOBS",                                           "continue suspended jobs"},
    {"show",              3, 1, 2,     show,                               "ENTITY [NAME]",                                  "print the records of an entity"},
    {"shutdown",          8, 0, 1,     run_shutdown,                       "[slurmctld]",                                    "end all daemons, or slurmctld alone; jobs continue"},
    {"suspend",           2, 1, kMany, control_jobs,                       "JOBS",                                           "stop the processes of running jobs"},
    {"top",               3, 1, 1,     control_jobs,                       "JOBS",                                           "put jobs first among those of the same user"},
    {"uhold",             5, 1, kMany, control_jobs,                       "JOBS",                                           "the same as holdu"},
    {"update",            1, 0, kMany, update,                             "ENTITY=NAME KEY=VALUE...",                       "change a job, node, partition or reservation"},
    {"verbose",           4, 0, 0,     do_nothing,                         "",                                               "accepted"},
    {"version",           4, 0, 0,     show_version,                       "",                                               "print the version"},
    {"write",             5, 1, 3,     write_script,                       "batch_script JOB [FILE]",                        "write the script of a job to a file; -: standard output"},
    {"cancel_reboot",     3, 0, 1,     cancel_reboot,                      "NODES",                                          "withdraw a reboot that has not begun"},
    {"cluster",           2, 0, kMany, nullptr},
    {"completing",        2, 0, kMany, nullptr},
    {"errnumstr",         2, 0, kMany, nullptr},
    {"fsdampeningfactor", 3, 0, kMany, nullptr},
    {"listjobs",          5, 0, 1,     list_jobs,                          "[NODE]",                                         "print the jobs that have processes on this host, or on a node"},
    {"listpids",          5, 0, 2,     list_pids,                          "[JOB[.STEP]] [NODE]",                            "print the processes of steps on this host, or on a node"},
    {"liststeps",         5, 0, 1,     list_steps,                         "[NODE]",                                         "print the steps that have processes on this host, or on a node"},
    {"notify",            1, 2, kMany, notify,                             "JOB[.STEP] MESSAGE",                             "print a message on the standard error of a job's script or steps"},
    {"pidinfo",           3, 1, 1,     show_process,                       "PID",                                            "print the job of a process of this host, and when it ends"},
    {"power",             3, 0, kMany, power,                              "up|down [asap|force] NODES [Reason=TEXT]",       "switch nodes on or off"},
    {"reboot",            3, 0, kMany, reboot,                             "[ASAP] [nextstate=STATE] [reason=TEXT] NODES",   "restart nodes when their jobs have ended"},
    {"schedloglevel",     3, 0, kMany, nullptr},
    {"setdebug",          2, 0, kMany, nullptr},
    {"setdebugflags",     9, 0, kMany, nullptr},
    {"takeover",          8, 0, 1,     run_take_over,                      "[N]",                                            "let a backup controller become the active one; 0: the primary, 1: the first backup (default)"},
    {"token",             3, 0, kMany, nullptr},
    {"wait_job",          1, 1, 1,     wait_for_job,                       "JOB",                                            "wait until a job and its nodes are ready, or the job has ended"},
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
    kYaml,
};

struct ControlOption {
    OptionSpelling spelling;
    std::string_view help = {};  // empty: refused
};
// clang-format off
constexpr ControlOption kOptions[] = {
    {{"all", 'a', Argument::None, kAll}, "hidden partitions too"},
    {{"cluster", 'M', Argument::Required, kCluster}},
    {{"clusters", 0, Argument::Required, kCluster}},
    {{"details", 'd', Argument::None, kDetails}, "show more about jobs, such as the indexes of devices"},
    {{"federation", 0, Argument::None, kFederation}},
    {{"future", 'F', Argument::None, kFuture}, "accepted: nodes in state FUTURE are not listed"},
    {{"help", 'h', Argument::None, kHelp}, "show this text"},
    {{"usage", 0, Argument::None, kHelp}, "show this text"},
    {{"hide", 0, Argument::None, kHide}, "no hidden partitions (default)"},
    {{"json", 0, Argument::Optional, kJson}, "print JSON; list: the names of its versions, v0.0.42 to v0.0.45"},
    {{"local", 0, Argument::None, kLocal}, "accepted: there is one cluster"},
    {{"oneliner", 'o', Argument::None, kOneLine}, "one line for each record"},
    {{"quiet", 'Q', Argument::None, kQuiet}, "print errors only"},
    {{"sibling", 0, Argument::None, kFederation}},
    {{"uid", 'u', Argument::Required, kUid}},
    {{"verbose", 'v', Argument::None, kVerbose}, "accepted"},
    {{"version", 'V', Argument::None, kVersion}, "print the version and exit"},
    {{"yaml", 0, Argument::Optional, kYaml}, "the same as --json, printed as YAML"},
};
// clang-format on

int show_help(Session& session, const Words&) {
    constexpr std::size_t kColumn = 28;
    std::string text = fmt::format("Usage: scontrol [OPTIONS] [COMMAND]\n{}\nCommands:\n",
                                   help_lines(control_option_help(), kColumn));
    for (const ControlCommandHelp& command : control_command_help()) {
        std::string line = fmt::format("  {} {}", command.name, command.operands);
        line.resize(std::max(line.size() + 1, kColumn), ' ');
        text += fmt::format("{}{}\n", line, command.text);
    }
    session.streams.out(text.append(kHelpEnd));
    return 0;
}

std::optional<int> choose_json(Session& session, const GivenOption& option) {
    if (option.value == "list") {
        print_data_parsers(session.streams);
        return 0;
    }
    Result<JsonStyle> style = parse_json_style(option.value.value_or(""), option.id == kYaml);
    if (!style) {
        print_error(session.streams, session.invocation, style.error().detail);
        return 1;
    }
    session.json = *style;
    return {};
}

// Nothing: continue. A code: exit with it; messages have been printed.
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
        case kYaml:
            return choose_json(session, option);
        default:
            break;
    }
    return {};
}

}  // namespace

std::vector<OptionHelp> control_option_help() {
    std::vector<OptionHelp> all;
    for (const ControlOption& option : kOptions) {
        const Argument argument = option.spelling.argument;
        all.push_back({.name = option.spelling.name,
                       .letter = option.spelling.letter,
                       .value = argument == Argument::None       ? ""
                                : argument == Argument::Required ? "name"
                                                                 : "[list|name]",
                       .text = option.help,
                       .is_supported = !option.help.empty()});
    }
    return all;
}

std::vector<ControlCommandHelp> control_command_help() {
    std::vector<ControlCommandHelp> all;
    for (const Command& command : kCommands) {
        if (command.run) all.push_back({command.name, command.operands, command.help});
    }
    return all;
}

int run_scontrol_at(Time now, const Invocation& invocation, Client& client, Streams& streams) {
    Session session{.invocation = invocation, .client = client, .streams = streams, .now = now};
    if (auto all = invocation.environment.find("SCONTROL_ALL")) session.all = true;
    std::vector<OptionSpelling> spellings;
    for (const ControlOption& option : kOptions) spellings.push_back(option.spelling);
    Result<Arguments> given = parse_arguments(invocation.args, spellings, OptionsEnd::Nowhere);
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
