// See sacctmgr.h.
#include "cli/sacctmgr/sacctmgr.h"

#include "base/text.h"
#include "cli/common/listing.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

constexpr std::string_view kHelp = R"(sacctmgr [<OPTION>] <COMMAND>
    Options:
      -h, --help         show this text
      -i, --immediate    make changes without asking
      -n, --noheader     no header line
      -p, --parsable     '|' after each value
      -P, --parsable2    '|' between values
      -Q, --quiet        do not print the changes
      -V, --version      print the version and exit
    Commands:
      add qos <NAMES> [<KEY>=<VALUE> ...]
      modify qos [where] <NAMES> set <KEY>=<VALUE> ...
      delete qos <NAMES>
      show qos [<NAMES>] [format=<FIELD>[%<WIDTH>],...]
    Keys of a QOS:
      Description, GraceTime (seconds), Preempt (= += -=), PreemptExemptTime,
      PreemptMode (CLUSTER, CANCEL, REQUEUE, SUSPEND, WITHIN), Priority
    Limits of a QOS (TRES such as cpu=8,mem=64G,gres/gpu=2; -1 removes one):
      MaxTRESPerJob, MaxTRESPerNode, MinTRESPerJob, MaxWall
      GrpTRES, GrpJobs, GrpSubmitJobs, the same with MaxTRESPerUser, MaxJobsPerUser,
      MaxSubmitJobsPerUser and ...PerAccount
      Flags (= += -=): DenyOnLimit, OverPartQOS, PartitionMaxNodes, PartitionMinNodes,
      PartitionTimeLimit, RequiresReservation
    "create" is "add", "update" is "modify", "remove" is "delete", "list" is "show".
)";

struct Verb {
    std::string_view word;
    int (*run)(AccountingCommand& command);
};

constexpr Verb kVerbs[] = {
    {"add", add_qos},       {"create", add_qos},    {"modify", modify_qos}, {"update", modify_qos},
    {"delete", delete_qos}, {"remove", delete_qos}, {"show", show_qos},     {"list", show_qos},
};

// Compat: a beginning of the word will do.
const Verb* find_verb(std::string_view word) {
    for (const Verb& verb : kVerbs) {
        if (word.size() >= 2 && starts_with_ignoring_case(verb.word, word)) return &verb;
    }
    return nullptr;
}

enum Option : std::size_t {
    kImmediate,
    kNoHeader,
    kOneLine,
    kParsable,
    kParsable2,
    kQuiet,
    kVersion,
    kHelpOption
};

constexpr OptionSpelling kOptions[] = {
    {"immediate", 'i', Argument::None, kImmediate}, {"noheader", 'n', Argument::None, kNoHeader},
    {"oneliner", 'o', Argument::None, kOneLine},    {"parsable", 'p', Argument::None, kParsable},
    {"parsable2", 'P', Argument::None, kParsable2}, {"quiet", 'Q', Argument::None, kQuiet},
    {"version", 'V', Argument::None, kVersion},     {"help", 'h', Argument::None, kHelpOption},
    {"usage", 0, Argument::None, kHelpOption},
};

int run_command(AccountingCommand& command, const std::vector<std::string>& words) {
    const Verb* verb = words.empty() ? nullptr : find_verb(words[0]);
    if (!verb) {
        command.streams.err(
            words.empty()
                ? std::string("sacctmgr: error: a command is needed, see sacctmgr --help\n")
                : fmt::format("invalid keyword: {}\n", words[0]));
        return 1;
    }
    if (words.size() < 2 || !equals_ignoring_case(words[1], "qos")) {
        print_error(command.streams, command.invocation,
                    words.size() < 2
                        ? fmt::format("{}: what? Try \"sacctmgr {} qos\"", words[0], words[0])
                        : fmt::format("{} {} is not supported: this version keeps QOS only, no "
                                      "accounts, users or associations",
                                      words[0], words[1]));
        return 1;
    }
    command.words.assign(words.begin() + 2, words.end());
    return verb->run(command);
}

}  // namespace

int run_sacctmgr(const Invocation& invocation, Client& client, Streams& streams) {
    Result<Arguments> given = parse_arguments(invocation.args, kOptions, OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return 1;
    }
    AccountingCommand command{invocation, client, streams};
    for (const GivenOption& option : given->options) {
        switch (option.id) {
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
            case kVersion:
                return print_version(streams), 0;
            case kHelpOption:
                return streams.out(kHelp), 0;
            default:
                break;  // every record is a line here
        }
    }
    return run_command(command, given->operands);
}

}  // namespace sluice
