// cli/strigger/options.cc: see options.h.
#include "cli/strigger/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "cli/common/option_table.h"
#include "model/hostlist.h"
#include "model/sizes.h"
#include "os/user.h"

namespace sluice {

namespace {

enum Option : std::size_t {
    kSet,
    kGet,
    kClear,
    kFlags,
    kId,
    kJob,
    kNode,
    kNoHeader,
    kOffset,
    kProgram,
    kQuiet,
    kUser,
    kVerbose,
    kClusters,
    kBurstBuffer,
    kFrontEnd,
    kEvent = 100,  // and the number of the TriggerEvent
};

constexpr std::size_t of(TriggerEvent event) {
    return kEvent + static_cast<std::size_t>(event);
}

constexpr Argument kNone = Argument::None, kValue = Argument::Required, kMaybe = Argument::Optional;

// clang-format off
constexpr ToolOption kOptions[] = {
    {{"set",       0,   kNone,  kSet},       nullptr,  nullptr, "set a trigger"},
    {{"get",       0,   kNone,  kGet},       nullptr,  nullptr, "show triggers"},
    {{"clear",     0,   kNone,  kClear},     nullptr,  nullptr, "delete the triggers that --id, --jobid and --user name"},
    {{"backup_slurmctld_assumed_control",    'C', kNone, of(TriggerEvent::BackupAssumedControl)},       nullptr, nullptr, "a backup slurmctld has assumed control"},
    {{"down",      'd', kNone,  of(TriggerEvent::NodeDown)},     nullptr, nullptr, "a node goes DOWN"},
    {{"drained",   'D', kNone,  of(TriggerEvent::NodeDrained)},  nullptr, nullptr, "a node becomes DRAINED"},
    {{"draining",  0,   kNone,  of(TriggerEvent::NodeDraining)}, nullptr, nullptr, "a node becomes DRAINING"},
    {{"fail",      'F', kNone,  of(TriggerEvent::NodeFailing)},  nullptr, nullptr, "a node is set to FAIL"},
    {{"fini",      'f', kNone,  of(TriggerEvent::JobEnded)},     nullptr, nullptr, "the job has ended"},
    {{"flags",     0,   kValue, kFlags},     "perm",    nullptr, "perm: the trigger stays after an event"},
    {{"id",        'i', kValue, kId},        "id",      nullptr, "the trigger with this number"},
    {{"idle",      'I', kNone,  of(TriggerEvent::NodeIdle)},     nullptr, nullptr, "a node has been IDLE for the time that --offset gives"},
    {{"jobid",     'j', kValue, kJob},       "id",      nullptr, "of this job, or of its nodes"},
    {{"node",      'n', kMaybe, kNode},      "[hosts]", nullptr, "of these nodes; all nodes where none is named"},
    {{"noheader",  'N', kNone,  kNoHeader},  nullptr,   nullptr, "no header line"},
    {{"offset",    'o', kValue, kOffset},    "seconds", nullptr, "time from the event to the program; negative: before the event"},
    {{"primary_database_failure",            'h', kNone, of(TriggerEvent::DatabaseFailed)},             nullptr, nullptr, "the accounting database has failed"},
    {{"primary_database_resumed_operation",  'H', kNone, of(TriggerEvent::DatabaseResumed)},            nullptr, nullptr, "the accounting database works again"},
    {{"primary_slurmctld_failure",           'a', kNone, of(TriggerEvent::ControllerFailed)},           nullptr, nullptr, "the primary slurmctld has failed"},
    {{"primary_slurmctld_resumed_control",   'b', kNone, of(TriggerEvent::ControllerResumedControl)},   nullptr, nullptr, "the primary slurmctld has taken control back"},
    {{"primary_slurmctld_resumed_operation", 'A', kNone, of(TriggerEvent::ControllerResumedOperation)}, nullptr, nullptr, "the primary slurmctld was started"},
    {{"primary_slurmdbd_failure",            'g', kNone, of(TriggerEvent::SlurmdbdFailed)},             nullptr, nullptr, "slurmdbd does not respond"},
    {{"primary_slurmdbd_resumed_operation",  'G', kNone, of(TriggerEvent::SlurmdbdResumed)},            nullptr, nullptr, "slurmdbd responds again"},
    {{"program",   'p', kValue, kProgram},   "path",    nullptr, "what slurmctld runs as the user who set the trigger; may have arguments"},
    {{"quiet",     'Q', kNone,  kQuiet},     nullptr,   nullptr, "no error where --clear finds no trigger"},
    {{"reconfig",  'r', kNone,  of(TriggerEvent::Reconfigured)}, nullptr, nullptr, "the configuration was read again"},
    {{"resume",    'R', kNone,  of(TriggerEvent::NodeResumed)},  nullptr, nullptr, "a node is drained no longer"},
    {{"time",      't', kNone,  of(TriggerEvent::JobTimeLimit)}, nullptr, nullptr, "the job reaches its time limit"},
    {{"up",        'u', kNone,  of(TriggerEvent::NodeUp)},       nullptr, nullptr, "a node is DOWN no longer"},
    {{"user",      0,   kValue, kUser},      "user",    nullptr, "triggers of this user, by name or number"},
    {{"verbose",   'v', kNone,  kVerbose},   nullptr,   nullptr, "say what was set"},
    {{"help",      0,   kNone,  kHelpOption},    nullptr, nullptr, "show this text"},
    {{"usage",     0,   kNone,  kUsageOption},   nullptr, nullptr, "show a brief usage text"},
    {{"version",   'V', kNone,  kVersionOption}, nullptr, nullptr, "print the version and exit"},
};
// Known and refused.
constexpr ToolOption kRefused[] = {
    {{"backup_slurmctld_failure",           'B', kNone, of(TriggerEvent::BackupFailed)},           nullptr, nullptr, "a controller in standby is not watched"},
    {{"backup_slurmctld_resumed_operation", 'c', kNone, of(TriggerEvent::BackupResumedOperation)}, nullptr, nullptr, "a controller in standby is not watched"},
    {{"burst_buffer", 0,  kNone,  kBurstBuffer}, nullptr, nullptr, "there are no burst buffers"},
    {{"clusters",    'M', kValue, kClusters},    "name",  "SLURM_CLUSTERS", "there is one cluster here"},
    {{"front_end",    0,  kNone,  kFrontEnd},    nullptr, nullptr, "there are no front end nodes"},
    {{"primary_slurmctld_acct_buffer_full", 'e', kNone, of(TriggerEvent::AccountingBufferFull)},   nullptr, nullptr, "facts for accounting have no buffer that could be full"},
};
// clang-format on

const ToolOption* refused_option(std::size_t id) {
    for (const ToolOption& each : kRefused) {
        if (each.spelling.id == id) return &each;
    }
    return nullptr;
}

std::vector<ToolOption> all_options() {
    std::vector<ToolOption> all(std::begin(kOptions), std::end(kOptions));
    all.insert(all.end(), std::begin(kRefused), std::end(kRefused));
    return all;
}

// What is wrong with an option's value, printed after "strigger: error: ".
using Outcome = std::optional<std::string>;

Outcome set_number(std::optional<std::uint32_t>& member, std::string_view name,
                   const std::string& value) {
    const auto number = to_number(value);
    if (!number || *number == 0 || *number > 0xffffffff)
        return fmt::format("Invalid --{} value: {}", name, value);
    member = static_cast<std::uint32_t>(*number);
    return {};
}

Outcome set_job(TriggerOptions& options, const std::string& value) {
    std::optional<std::uint32_t> number;
    if (Outcome wrong = set_number(number, "jobid", value)) return wrong;
    options.choice.job = options.request.job = JobId{*number};
    return {};
}

Outcome set_offset(TriggerOptions& options, const std::string& value) {
    constexpr std::uint64_t kMost = 32000;  // Compat
    const bool is_negative = value.starts_with('-');
    const auto number = to_number(is_negative ? std::string_view(value).substr(1) : value);
    if (!number || *number > kMost)
        return fmt::format("The --offset parameter must be between +/-{}: {}", kMost, value);
    options.request.offset = Seconds{static_cast<std::int64_t>(*number) * (is_negative ? -1 : 1)};
    return {};
}

Outcome set_node(TriggerOptions& options, const std::optional<std::string>& value) {
    options.node_given = true;
    if (!value || value->empty() || *value == "*") return {};
    if (!Hostlist::parse(*value)) return fmt::format("Invalid --node value: {}", *value);
    options.request.nodes = *value;
    return {};
}

Outcome set_user(TriggerOptions& options, const std::string& value) {
    if (const auto number = to_number(value); number && *number <= 0xffffffff) {
        options.choice.user = UserId{static_cast<std::uint32_t>(*number)};
    } else if (const auto user = find_user(value)) {
        options.choice.user = UserId{user->uid};
    } else {
        return fmt::format("Invalid user {}", value);
    }
    return {};
}

Outcome set_flags(TriggerOptions& options, const std::string& value) {
    for (const std::string_view word : split(value, ',')) {
        if (!equals_ignoring_case(word, "perm")) return fmt::format("Invalid flags {}", word);
        options.request.permanent = true;
    }
    return {};
}

Outcome use(TriggerOptions& options, const GivenOption& given) {
    using Verb = TriggerOptions::Verb;
    const std::string value = given.value.value_or("");
    const auto set_verb = [&](Verb verb) -> Outcome {
        if (options.verb != Verb::None && options.verb != verb)
            return "You must use exactly one of the following options: --set, --get or --clear";
        options.verb = verb;
        return {};
    };
    const ToolOption* refused = refused_option(given.id);
    if (refused)
        return fmt::format("--{} is not supported: {}", refused->spelling.name, refused->help);
    if (given.id >= kEvent && given.id <= of(kLastTriggerEvent)) {
        options.events.push_back(static_cast<TriggerEvent>(given.id - kEvent));
        return {};
    }
    switch (given.id) {
        case kSet:
            return set_verb(Verb::Set);
        case kGet:
            return set_verb(Verb::Get);
        case kClear:
            return set_verb(Verb::Clear);
        case kFlags:
            return set_flags(options, value);
        case kId:
            return set_number(options.choice.id, "id", value);
        case kJob:
            return set_job(options, value);
        case kNode:
            return set_node(options, given.value);
        case kOffset:
            return set_offset(options, value);
        case kProgram:
            options.request.program = value;
            return {};
        case kUser:
            return set_user(options, value);
        case kNoHeader:
            options.no_header = true;
            return {};
        case kQuiet:
            options.quiet = true;
            return {};
        case kVerbose:
            options.verbose = true;
            return {};
        default:
            return {};
    }
}

Outcome check_set(const TriggerOptions& options) {
    const TriggerRequest& wanted = options.request;
    if (options.events.empty()) return "You must specify a trigger (--down, --up, --fini, ...)";
    if (wanted.program.empty()) return "You must specify a --program value";
    if (!wanted.program.starts_with('/')) return "The --program value must start with \"/\"";
    if (wanted.program.size() > sizes::kPath) return "The --program value is too long";
    if (options.node_given && wanted.job)
        return "You can not specify both --node and --jobid options";
    for (const TriggerEvent event : options.events) {
        const bool of_job = resource_of(event) == TriggerResource::Job;
        if (of_job && !wanted.job) return "You must specify a --jobid value";
        if (wanted.job && !of_job && !is_of_nodes(event))
            return fmt::format("--{} is of no job: it can not be used with --jobid",
                               name_of(event));
        if (!wanted.nodes.empty() && !is_of_nodes(event))
            return fmt::format("--{} is of no node: it can not be used with --node={}",
                               name_of(event), wanted.nodes);
    }
    return {};
}

// Options without an effect on the verb are refused.
Outcome check_other(const TriggerOptions& options) {
    const TriggerRequest& wanted = options.request;
    if (!wanted.program.empty()) return "--program can be used with --set only";
    if (wanted.permanent) return "--flags can be used with --set only";
    if (wanted.offset != Seconds{0}) return "--offset can be used with --set only";
    return {};
}

Outcome check(const TriggerOptions& options) {
    switch (options.verb) {
        case TriggerOptions::Verb::None:
            return "You must use exactly one of the following options: --set, --get or --clear";
        case TriggerOptions::Verb::Set:
            if (options.choice.id) return "--id can not be used with --set";
            if (options.choice.user) return "--user can not be used with --set";
            return check_set(options);
        case TriggerOptions::Verb::Get:
            return check_other(options);
        case TriggerOptions::Verb::Clear:
            break;
    }
    const TriggerChoice& choice = options.choice;
    if (!choice.id && !choice.job && !choice.user)
        return "You must specify a --id, --jobid, or --user to clear";
    if (!options.events.empty() || options.node_given)
        return "--clear chooses triggers by --id, --jobid and --user only";
    return check_other(options);
}

}  // namespace

std::vector<OptionHelp> strigger_option_help() {
    std::vector<OptionHelp> all = help_of(kOptions);
    for (OptionHelp refused : help_of(kRefused)) {
        refused.is_supported = false;
        all.push_back(std::move(refused));
    }
    return all;
}

std::optional<TriggerOptions> parse_trigger_options(const Invocation& invocation, Streams& streams,
                                                    int& exit_code) {
    exit_code = 1;
    const std::vector<ToolOption> known = all_options();
    const std::optional<Arguments> given = read_options(known, invocation, streams);
    if (!given) return {};
    if (print_help_option(*given, kOptions, "--set|--get|--clear", invocation, streams)) {
        exit_code = 0;
        return {};
    }
    TriggerOptions options;
    Outcome wrong;
    for (const GivenOption& each : given->options) {
        if (!wrong) wrong = use(options, each);
    }
    if (!wrong && !given->operands.empty())
        wrong = fmt::format("Unrecognized option: {}", given->operands.front());
    if (!wrong) wrong = check(options);
    if (!wrong) return options;
    print_error(streams, invocation, *wrong);
    return {};
}

}  // namespace sluice
