#include "cli/sacct/options.h"

#include <unistd.h>

#include "base/text.h"
#include "cli/common/endings.h"
#include "cli/common/listing.h"
#include "model/hostlist.h"
#include "model/times.h"
#include "os/user.h"
#include "surface/accounted_table.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

// What is wrong with an option's value. Compat: some errors have a prefix of their own.
struct Complaint {
    enum class Kind : unsigned char { Error, Fatal, Plain };
    std::string text;
    Kind kind = Kind::Error;
};
using Outcome = std::optional<Complaint>;
constexpr Complaint::Kind kFatal = Complaint::Kind::Fatal, kPlain = Complaint::Kind::Plain;

struct Reader {
    Time now;
    SacctOptions& options;
    const Invocation& invocation;
    Streams& streams;
};
using Setter = Outcome (*)(Reader& reader, const std::string& value);
using Texts = std::vector<std::string>;

void append(const Texts& more, Texts& list) {
    list.insert(list.end(), more.begin(), more.end());
}

// ---- which jobs

template <Texts JobSelection::*Member>
Outcome add_texts(Reader& reader, const std::string& value) {
    append(split_list(value), reader.options.selection.*Member);
    return {};
}

// A run may also be named by its SLUID: 's' and 13 characters.
bool is_sluid(std::string_view word) {
    return word.size() == 14 && word[0] == 's' &&
           word.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1) ==
               std::string_view::npos;
}

Outcome add_jobs(Reader& reader, const std::string& value) {
    std::string list = value;
    int depth = 0;  // commas inside of brackets belong to a set of tasks
    for (char& c : list) {
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (c == ',' && depth <= 0) c = '\n';
    }
    for (std::string_view word : split(list, '\n')) {
        word = trim(word);
        if (word.empty()) continue;
        const std::size_t underscore = word.find('_');
        if (!is_sluid(word) && !parse_job_ref(word)) {
            if (underscore != std::string_view::npos && to_number(word.substr(0, underscore))) {
                return Complaint{fmt::format("Bad job array element specified: {}", word), kFatal};
            }
            return Complaint{fmt::format("Bad job/step specified: {}", word), kFatal};
        }
        reader.options.selection.jobs.emplace_back(word);
    }
    return {};
}

Outcome add_users(Reader& reader, const std::string& value) {
    for (const std::string& word : split_list(value)) {
        const std::optional<std::uint64_t> number = to_number(word);
        const auto user = number ? std::nullopt : find_user(word);
        if (!user && (!number || *number > 0xffffffff)) {
            return Complaint{fmt::format("Invalid user id: {}", word)};
        }
        const auto id = user ? user->uid : static_cast<std::uint32_t>(*number);
        reader.options.selection.users.push_back(UserId{id});
    }
    return {};
}

Outcome add_groups(Reader& reader, const std::string& value) {
    for (const std::string& word : split_list(value)) {
        const std::optional<std::uint64_t> number = to_number(word);
        const auto group = number ? std::nullopt : find_group(word);
        if (!group && (!number || *number > 0xffffffff)) {
            return Complaint{fmt::format("Invalid group id: {}", word)};
        }
        const auto id = group ? *group : static_cast<std::uint32_t>(*number);
        reader.options.selection.groups.push_back(GroupId{id});
    }
    return {};
}

Outcome add_associations(Reader& reader, const std::string& value) {
    for (const std::string& word : split_list(value)) {
        const std::optional<std::uint64_t> number = to_number(word);
        if (!number || *number > 0xffffffff) {
            return Complaint{fmt::format("Invalid association id: {}", word)};
        }
        reader.options.associations.push_back(static_cast<std::uint32_t>(*number));
    }
    return {};
}

Outcome add_states(Reader& reader, const std::string& value) {
    for (const std::string& word : split_list(value)) {
        const std::optional<ShownState> state = find_state(word);
        if (!state) {
            return Complaint{fmt::format("unrecognized job state value '{}'", word), kFatal};
        }
        reader.options.selection.states.push_back(*state);
    }
    return {};
}

Outcome add_reasons(Reader& reader, const std::string& value) {
    for (const std::string& word : split_list(value)) {
        bool is_known = false;
        for (int i = 0; i < kReasonCount && !is_known; ++i) {
            const std::string_view name = reason_name(static_cast<Reason>(i));
            is_known = equals_ignoring_case(name, word);
            if (is_known) reader.options.selection.reasons.emplace_back(name);
        }
        if (!is_known) {
            return Complaint{fmt::format("unrecognized job reason value '{}'", word), kFatal};
        }
    }
    return {};
}

Outcome add_flags(Reader& reader, const std::string& value) {
    for (const std::string& word : split_list(value)) {
        if (equals_ignoring_case(word, "SchedMain")) {
            reader.options.flags |= kStartedByMain;
        } else if (equals_ignoring_case(word, "SchedBackfill")) {
            reader.options.flags |= kStartedByBackfill;
        } else if (equals_ignoring_case(word, "StartReceived")) {
            reader.options.flags |= kStartReceived;
        } else {
            return Complaint{fmt::format("Invalid job flag {}", word)};
        }
    }
    return {};
}

Outcome add_clusters(Reader& reader, const std::string& value) {
    Texts& clusters = reader.options.selection.clusters;
    for (const std::string& word : split_list(value)) {
        clusters.push_back(equals_ignoring_case(word, "all") ? "*" : word);
    }
    return {};
}
Outcome set_all_clusters(Reader& reader, const std::string&) {
    reader.options.selection.clusters = {"*"};
    return {};
}

Outcome set_nodes(Reader& reader, const std::string& value) {
    if (!Hostlist::parse(value)) {
        return Complaint{fmt::format("Invalid node list for -N (--nodelist): {}", value)};
    }
    reader.options.selection.nodes = value;
    return {};
}

// "4" is exactly 4, "4-8" a range.
bool set_range(const std::string& value, std::optional<std::uint32_t>& least,
               std::optional<std::uint32_t>& most) {
    const std::size_t dash = value.find('-');
    const std::optional<std::uint64_t> first = to_number(value.substr(0, dash));
    const std::optional<std::uint64_t> last =
        dash == std::string::npos ? first : to_number(value.substr(dash + 1));
    if (!first || !last || *first > *last || *last > 0xffffffff) return false;
    least = static_cast<std::uint32_t>(*first);
    most = static_cast<std::uint32_t>(*last);
    return true;
}
Outcome set_node_count(Reader& reader, const std::string& value) {
    JobSelection& selection = reader.options.selection;
    if (set_range(value, selection.nodes_min, selection.nodes_max)) return {};
    return Complaint{fmt::format("Invalid numeric value \"{}\" for requested node range.", value)};
}
Outcome set_cpu_count(Reader& reader, const std::string& value) {
    JobSelection& selection = reader.options.selection;
    if (set_range(value, selection.cpus_min, selection.cpus_max)) return {};
    return Complaint{fmt::format("Invalid numeric value \"{}\" for requested cpu range.", value)};
}

template <std::optional<Seconds> JobSelection::*Member>
Outcome set_limit(Reader& reader, const std::string& value) {
    const Result<TimeLimit> limit = parse_time_limit(value);
    if (!limit || limit->unlimited()) {
        return Complaint{fmt::format("Invalid time limit specification: {}", value), kFatal};
    }
    reader.options.selection.*Member = limit->length();
    return {};
}

template <std::optional<Time> JobSelection::*Member>
Outcome set_time(Reader& reader, const std::string& value) {
    const Result<Time> time = parse_moment(value, reader.now, PassedTime::IsMeant);
    if (!time) return Complaint{time.error().detail, kPlain};
    reader.options.selection.*Member = *time;
    return {};
}

template <bool JobSelection::*Member>
Outcome select(Reader& reader, const std::string&) {
    reader.options.selection.*Member = true;
    return {};
}

// ---- how they are shown

template <bool SacctOptions::*Member, bool Value = true>
Outcome set_flag(Reader& reader, const std::string&) {
    reader.options.*Member = Value;
    return {};
}
template <Bars Value>
Outcome set_bars(Reader& reader, const std::string&) {
    reader.options.bars = Value;
    return {};
}
template <SacctEnding Value>
Outcome set_ending(Reader& reader, const std::string&) {
    reader.options.ending = Value;
    return {};
}
Outcome set_delimiter(Reader& reader, const std::string& value) {
    reader.options.delimiter = value;
    return {};
}
// Of several formats the fields follow each other.
Outcome add_format(Reader& reader, const std::string& value) {
    std::optional<std::string>& format = reader.options.format;
    format = format ? *format + "," + value : value;
    return {};
}
Outcome set_brief(Reader& reader, const std::string&) {
    return add_format(reader, std::string(kAccountedBriefFormat));
}
Outcome set_long(Reader& reader, const std::string&) {
    return add_format(reader, std::string(kAccountedLongFormat));
}
Outcome set_units(Reader& reader, const std::string& value) {
    const std::string upper = to_upper(value);
    if (upper.size() != 1 || std::string_view("KMGTP").find(upper[0]) == std::string_view::npos) {
        return Complaint{
            fmt::format("Invalid unit type '{}'. Possible options are 'KMGTP'", value)};
    }
    reader.options.units.unit = upper[0];
    return {};
}
Outcome set_no_conversion(Reader& reader, const std::string&) {
    reader.options.units.convert = false;
    return {};
}
Outcome set_json(Reader& reader, const std::string& value, bool yaml) {
    if (value == "list") return set_ending<SacctEnding::DataParsers>(reader, value);
    const Result<JsonStyle> style = parse_json_style(value, yaml);
    if (!style) return Complaint{style.error().detail};
    reader.options.json = *style;
    return {};
}
Outcome set_json_output(Reader& reader, const std::string& value) {
    return set_json(reader, value, false);
}
Outcome set_yaml_output(Reader& reader, const std::string& value) {
    return set_json(reader, value, true);
}
Outcome add_verbosity(Reader& reader, const std::string&) {
    ++reader.options.verbosity;
    return {};
}
Outcome set_whole_het_job(Reader&, const std::string& value) {
    if (value.empty() || value == "yes" || value == "no") return {};
    return Complaint{
        fmt::format("Invalid --whole-hetjob value \"{}\". Valid values: [yes|no].", value)};
}
Outcome set_nothing(Reader&, const std::string&) {
    return {};
}

// ---- what there is not

Outcome refuse_completion(Reader&, const std::string&) {
    return Complaint{"Slurm job completion is disabled", kPlain};
}
Outcome refuse_file(Reader&, const std::string& value) {
    return Complaint{fmt::format(
        "-f (--file) is not supported: {} cannot be read, jobs are kept in a database", value)};
}

using Row = ListingOption<Setter>;
using J = JobSelection;
using O = SacctOptions;

constexpr Argument kNone = Argument::None, kValue = Argument::Required, kMaybe = Argument::Optional;

// clang-format off
const Row kOptions[] = {
    {{"accounts",        'A', kValue}, nullptr,        add_texts<&J::accounts>,          "names",      "only jobs of these accounts"},
    {{"allclusters",     'L', kNone},  nullptr,        set_all_clusters,                 nullptr,      "jobs of all clusters of the database"},
    {{"allocations",     'X', kNone},  nullptr,        select<&J::no_steps>,             nullptr,      "jobs only, without their steps"},
    {{"allusers",        'a', kNone},  nullptr,        set_flag<&O::all_users>,          nullptr,      "jobs of all users; without this option only root sees them all"},
    {{"array",           0,   kNone},  nullptr,        set_flag<&O::each_task>,          nullptr,      "a line for each task of an array that waits"},
    {{"associations",    'x', kValue}, nullptr,        add_associations,                 "ids",        "only jobs of the associations with these numbers"},
    {{"batch-script",    'B', kNone},  nullptr,        select<&J::scripts>,              nullptr,      "print the batch scripts of the jobs named by -j"},
    {{"brief",           'b', kNone},  nullptr,        set_brief,                        nullptr,      "the fields JobID, State, ExitCode"},
    {{"clusters",        'M', kValue}, nullptr,        add_clusters,                     "names",      "jobs of these clusters; all: of all"},
    {{"completion",      'c', kNone},  nullptr,        refuse_completion,                nullptr,      nullptr, false},
    {{"constraints",     'C', kValue}, nullptr,        add_texts<&J::constraints>,       "features",   "only jobs that requested all of these features"},
    {{"delimiter",       0,   kValue}, nullptr,        set_delimiter,                    "characters", "between values with -p and -P, instead of '|'"},
    {{"duplicates",      'D', kNone},  nullptr,        select<&J::all_runs>,             nullptr,      "all runs of jobs that were requeued, not only the last"},
    {{"endtime",         'E', kValue}, nullptr,        set_time<&J::end>,                "time",       "only jobs before this time; now, unless -s is given"},
    {{"env-vars",        0,   kNone},  nullptr,        select<&J::environments>,         nullptr,      "print the environments of the jobs named by -j"},
    {{"expand-patterns", 0,   kNone},  nullptr,        set_flag<&O::expand_patterns>,    nullptr,      "replace patterns such as %j in the names of files"},
    {{"federation",      0,   kNone},  "SACCT_FEDERATION", set_nothing,                  nullptr,      "accepted: clusters form no federations"},
    {{"file",            'f', kValue}, nullptr,        refuse_file,                      "file",       nullptr, false},
    {{"flags",           'F', kValue}, nullptr,        add_flags,                        "flags",      "only jobs with one of these flags: SchedMain, SchedBackfill, StartReceived"},
    {{"format",          'o', kValue}, nullptr,        add_format,                       "fields",     "fields to show: name, name%20, name%-20, ALL"},
    {{"gid",             'g', kValue}, nullptr,        add_groups,                       "groups",     "only jobs of these groups, by name or number"},
    {{"group",           0,   kValue}, nullptr,        add_groups,                       "groups"},
    {{"help",            'h', kNone},  nullptr,        set_ending<SacctEnding::Help>,    nullptr,      "show this text"},
    {{"helpformat",      'e', kNone},  nullptr,        set_ending<SacctEnding::Fields>,  nullptr,      "list the fields of -o"},
    {{"helpreason",      0,   kNone},  nullptr,        set_ending<SacctEnding::Reasons>, nullptr,      "list the reasons of -R"},
    {{"helpstate",       0,   kNone},  nullptr,        set_ending<SacctEnding::States>,  nullptr,      "list the states of -s"},
    {{"jobs",            'j', kValue}, nullptr,        add_jobs,                         "ids",        "only these jobs, tasks or steps: 12, 12_3, 12.0, 12.batch"},
    {{"json",            0,   kMaybe}, nullptr,        set_json_output,                  "[parser]",   "print JSON; list: the versions that there are"},
    {{"local",           0,   kNone},  "SACCT_LOCAL",  set_nothing,                      nullptr,      "accepted: clusters form no federations"},
    {{"long",            'l', kNone},  nullptr,        set_long,                         nullptr,      "most fields"},
    {{"name",            0,   kValue}, nullptr,        add_texts<&J::names>,             "names",      "only jobs with these names"},
    {{"ncpus",           'I', kValue}, nullptr,        set_cpu_count,                    "min[-max]",  "only jobs that had so many CPUs"},
    {{"nnodes",          'i', kValue}, nullptr,        set_node_count,                   "min[-max]",  "only jobs that had so many nodes"},
    {{"noconvert",       0,   kNone},  nullptr,        set_no_conversion,                nullptr,      "keep the original units: 2048M is not shown as 2G"},
    {{"nodelist",        'N', kValue}, nullptr,        set_nodes,                        "hosts...",   "only jobs that ran on one of these nodes"},
    {{"noheader",        'n', kNone},  nullptr,        set_flag<&O::header, false>,      nullptr,      "no header line"},
    {{"parsable",        'p', kNone},  nullptr,        set_bars<Bars::AfterEach>,        nullptr,      "'|' after each value"},
    {{"parsable2",       'P', kNone},  nullptr,        set_bars<Bars::Between>,          nullptr,      "'|' between values"},
    {{"partition",       'r', kValue}, nullptr,        add_texts<&J::partitions>,        "names",      "only jobs of these partitions"},
    {{"qos",             'q', kValue}, nullptr,        add_texts<&J::qos>,               "names",      "only jobs of these QOS"},
    {{"reason",          'R', kValue}, nullptr,        add_reasons,                      "reasons",    "only jobs that waited for one of these reasons"},
    {{"starttime",       'S', kValue}, nullptr,        set_time<&J::start>,              "time",       "only jobs after this time; the last midnight, unless -j or -s is given"},
    {{"state",           's', kValue}, nullptr,        add_states,                       "states",     "only jobs that were in one of these states in the time from -S to -E"},
    {{"timelimit-max",   'K', kValue}, nullptr,        set_limit<&J::limit_max>,         "time",       "with -k: only jobs with a time limit up to this"},
    {{"timelimit-min",   'k', kValue}, nullptr,        set_limit<&J::limit_min>,         "time",       "only jobs with this time limit; with -K: from this on"},
    {{"truncate",        'T', kNone},  nullptr,        set_flag<&O::truncate>,           nullptr,      "show times before -S and after -E as these"},
    {{"uid",             0,   kValue}, nullptr,        add_users,                        "users"},
    {{"units",           0,   kValue}, nullptr,        set_units,                        "KMGTP",      "show sizes in this unit"},
    {{"usage",           0,   kNone},  nullptr,        set_ending<SacctEnding::Usage>,   nullptr,      "show a brief usage text"},
    {{"use-local-uid",   0,   kNone},  nullptr,        set_nothing,                      nullptr,      "accepted: the names of users are those of this host"},
    {{"user",            'u', kValue}, nullptr,        add_users,                        "users",      "only jobs of these users, by name or number"},
    {{"verbose",         'v', kNone},  nullptr,        add_verbosity,                    nullptr,      "print the time window that is searched"},
    {{"version",         'V', kNone},  nullptr,        set_ending<SacctEnding::Version>, nullptr,      "print the version and exit"},
    {{"wckeys",          'W', kValue}, nullptr,        add_texts<&J::wckeys>,            "names",      "only jobs with these wckeys"},
    {{"whole-hetjob",    0,   kMaybe}, nullptr,        set_whole_het_job,                "[yes|no]",   "accepted: there are no heterogeneous jobs"},
    {{"yaml",            0,   kMaybe}, nullptr,        set_yaml_output,                  "[parser]",   "print YAML"},
};
// clang-format on

bool use(Reader& reader, const Row& row, const std::string& value) {
    const Outcome wrong = row.set(reader, value);
    if (!wrong) return true;
    if (wrong->kind == kPlain) {
        reader.streams.err(wrong->text + "\n");
    } else if (wrong->kind == kFatal) {
        print_fatal(reader.streams, reader.invocation, wrong->text);
    } else {
        print_error(reader.streams, reader.invocation, wrong->text);
    }
    return false;
}

bool read_environment(Reader& reader) {
    for (const Row& row : kOptions) {
        if (!row.environment) continue;
        const auto value = reader.invocation.environment.find(row.environment);
        if (value && !value->empty() && !use(reader, row, std::string(*value))) return false;
    }
    return true;
}

// Nothing but -k: exactly this limit. -K alone says nothing.
void complete_limits(JobSelection& selection) {
    if (!selection.limit_min) {
        selection.limit_max = {};
    } else if (!selection.limit_max) {
        selection.limit_max = selection.limit_min;
    }
}

// See DEFAULT TIME WINDOW of the manual page. With -j, all times.
bool complete_times(Reader& reader) {
    JobSelection& selection = reader.options.selection;
    const bool has_jobs = !selection.jobs.empty(), has_states = !selection.states.empty();
    const std::optional<Time> given = selection.start;
    if (!given && !has_jobs) {
        const Result<Time> midnight = parse_moment("00:00", reader.now, PassedTime::IsMeant);
        selection.start = has_states || !midnight ? reader.now : *midnight;
    }
    if (!selection.end && has_states) selection.end = given.value_or(reader.now);
    // No end is as good as now, and does not depend on this host's clock.
    const Time end = selection.end.value_or(reader.now);
    if (!selection.start || *selection.start <= end) return true;
    print_error(reader.streams, reader.invocation,
                fmt::format("Start time ({}) requested is after end time ({}).",
                            print_moment(*selection.start), print_moment(end)));
    return false;
}

bool is_complete(Reader& reader, const std::vector<std::string>& operands) {
    SacctOptions& options = reader.options;
    if (!operands.empty()) {
        print_error(reader.streams, reader.invocation,
                    fmt::format("Unknown arguments:\n {}", fmt::join(operands, "\n ")));
        return false;
    }
    if ((options.selection.scripts || options.selection.environments) &&
        options.selection.jobs.empty()) {
        print_fatal(reader.streams, reader.invocation,
                    fmt::format("When requesting job {} you must also request specific jobs with "
                                "the '-j' option.",
                                options.selection.scripts ? "scripts" : "environment"));
        return false;
    }
    complete_limits(options.selection);
    // Compat: a job that is named is shown to all users that may see it.
    const bool own_only = !options.all_users && options.selection.users.empty() &&
                          options.selection.jobs.empty() && getuid() != 0;
    if (options.all_users) options.selection.users.clear();
    if (own_only) options.selection.users = {UserId{getuid()}};
    return complete_times(reader);
}

std::vector<OptionSpelling> all_spellings() {
    std::vector<OptionSpelling> all;
    for (const Row& row : kOptions) {
        all.push_back(row.spelling);
        all.back().id = all.size() - 1;
    }
    return all;
}

}  // namespace

std::vector<OptionHelp> sacct_option_help() {
    std::vector<OptionHelp> all = help_of(kOptions);
    all.resize(std::size(kOptions));  // without the endings of other listings
    return all;
}

std::optional<SacctOptions> parse_sacct_options(Time now, const Invocation& invocation,
                                                Streams& streams) {
    SacctOptions options;
    Reader reader{now, options, invocation, streams};
    if (!read_environment(reader)) return {};
    const Result<Arguments> given =
        parse_arguments(invocation.args, all_spellings(), OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return {};
    }
    for (const GivenOption& option : given->options) {
        if (!use(reader, kOptions[option.id], option.value.value_or(""))) return {};
        if (options.ending != SacctEnding::None) return options;
    }
    if (!is_complete(reader, given->operands)) return {};
    return options;
}

}  // namespace sluice
