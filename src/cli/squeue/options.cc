#include "cli/squeue/options.h"

#include <unistd.h>

#include "base/text.h"
#include "cli/common/endings.h"
#include "cli/common/listing.h"
#include "model/hostlist.h"
#include "model/states.h"
#include "model/times.h"
#include "os/user.h"
#include "surface/arguments.h"
#include "surface/jobs.h"
#include "surface/json.h"
#include "surface/steps.h"

namespace sluice {

namespace {

// What is wrong with an option's value, as Slurm words it; printed after "squeue: error: ". Compat:
// an empty line follows some of them.
struct Complaint {
    std::string text;
    bool empty_line = false;
};
using Outcome = std::optional<Complaint>;

// Everything that an option can set, and what the text of errors needs.
struct Reader {
    SqueueOptions& options;
    const Invocation& invocation;
    Streams& streams;
};

using Setter = Outcome (*)(Reader& reader, const std::string& value);

void complain(Reader& reader, const Complaint& complaint) {
    print_error(reader.streams, reader.invocation, complaint.text);
    if (complaint.empty_line) reader.streams.err("\n");
}

Outcome set_jobs(Reader& reader, const std::string& value) {
    for (const std::string& word : split_list(value)) {
        Result<JobRef> ref = parse_job_ref(word);
        if (!ref) return Complaint{fmt::format("Invalid job id: {}", word)};
        reader.options.filter.jobs.push_back(*ref);
    }
    return {};
}

Outcome set_steps(Reader& reader, const std::string& value) {
    reader.options.steps = true;
    for (const std::string& word : split_list(value)) {
        Result<JobRef> ref = parse_job_ref(word);
        if (!ref || !ref->step) return Complaint{fmt::format("Invalid job_step id: {}.??", word)};
        reader.options.filter.jobs.push_back(*ref);
    }
    return {};
}

std::string state_list() {
    std::string list;
    for (int i = 0; i < kShownStateCount; ++i) {
        if (i) list += ',';
        list += to_lower(state_name(static_cast<ShownState>(i)));
    }
    return list;
}

Outcome set_states(Reader& reader, const std::string& value) {
    reader.options.filter.states.clear();
    reader.options.filter.all_states = false;
    for (const std::string& word : split_list(value)) {
        if (equals_ignoring_case(word, "all")) {
            reader.options.filter.all_states = true;
        } else if (std::optional<ShownState> state = find_state(word)) {
            reader.options.filter.states.push_back(*state);
        } else {
            return Complaint{
                fmt::format("Invalid job state specified: {}\nValid job states include: {}", word,
                            state_list()),
                true};
        }
    }
    return {};
}

// Compat: an unknown user gives an error line and matches no job; the exit code is 0.
Outcome set_users(Reader& reader, const std::string& value) {
    Filter& filter = reader.options.filter;
    for (const std::string& word : split_list(value)) {
        if (std::optional<std::uint64_t> number = to_number(word)) {
            filter.users.push_back(UserId{static_cast<std::uint32_t>(*number)});
        } else if (std::optional<User> user = find_user(word)) {
            filter.users.push_back(UserId{user->uid});
        } else {
            complain(reader, {fmt::format("Invalid user: {}", word), true});
        }
    }
    reader.options.matches_nothing = filter.users.empty();
    return {};
}

Outcome set_me(Reader& reader, const std::string&) {
    reader.options.filter.users = {UserId{static_cast<std::uint32_t>(getuid())}};
    reader.options.matches_nothing = false;
    return {};
}

Outcome set_not_me(Reader& reader, const std::string&) {
    reader.options.not_user = getuid();
    return {};
}

Outcome set_nodes(Reader& reader, const std::string& value) {
    Result<Hostlist> hosts = Hostlist::parse(value);
    if (!hosts) return Complaint{fmt::format("Invalid node list specified: {}", value)};
    reader.options.filter.nodes = hosts->names();
    return {};
}

Outcome set_repeat(Reader& reader, const std::string& value) {
    std::optional<std::uint64_t> seconds = to_number(value);
    if (!seconds || *seconds == 0 || *seconds > 1'000'000) {
        return Complaint{fmt::format("--iterate={}", value), true};
    }
    reader.options.repeat_seconds = static_cast<std::uint32_t>(*seconds);
    return {};
}

template <std::optional<std::int64_t> SqueueOptions::*Member>
Outcome set_running(Reader& reader, const std::string& value) {
    Result<TimeLimit> limit = parse_time_limit(value);
    if (!limit || limit->unlimited())
        return Complaint{fmt::format("Invalid time specified: {}", value)};
    reader.options.*Member = limit->length().count();
    return {};
}

template <bool Yaml>
Outcome set_json(Reader& reader, const std::string& value) {
    Result<JsonStyle> style = parse_json_style(value, Yaml);
    if (!style) return Complaint{style.error().detail};
    reader.options.json = *style;
    return {};
}

template <bool SqueueOptions::*Member, bool Value = true>
Outcome set_flag(Reader& reader, const std::string&) {
    reader.options.*Member = Value;
    return {};
}
template <std::optional<std::string> SqueueOptions::*Member>
Outcome set_text(Reader& reader, const std::string& value) {
    reader.options.*Member = value;
    return {};
}
template <std::vector<std::string> Filter::*Member>
Outcome set_names(Reader& reader, const std::string& value) {
    reader.options.filter.*Member = split_list(value);
    return {};
}
Outcome set_licenses(Reader& reader, const std::string& value) {
    reader.options.licenses = split_list(value);
    return {};
}
template <bool Value>
Outcome set_hidden(Reader& reader, const std::string&) {
    reader.options.filter.include_hidden = Value;
    return {};
}
Outcome set_nothing(Reader&, const std::string&) {
    return {};
}

// One cluster is all there is: what would ask others is refused by name.
template <char Option>
Outcome refuse(Reader&, const std::string&) {
    return Complaint{Option == 'M' ? "-M (--clusters) is not supported: there is one cluster here"
                                   : "--federation is not supported: there is one cluster here"};
}

using Row = ListingOption<Setter>;

constexpr Argument kNone = Argument::None, kValue = Argument::Required, kMaybe = Argument::Optional;

// clang-format off
const Row kOptions[] = {
    {{"account",         'A', kValue}, "SQUEUE_ACCOUNT",   set_names<&Filter::accounts>,                   "names",       "only jobs of these accounts"},
    {{"all",             'a', kNone},  "SQUEUE_ALL",       set_hidden<true>,                               nullptr,       "hidden partitions too"},
    {{"array",           'r', kNone},  "SQUEUE_ARRAY",     set_flag<&SqueueOptions::array_elements>,       nullptr,       "one line for each task of an array"},
    {{"clusters",        'M', kValue}, nullptr,            refuse<'M'>,                                    "names",       nullptr, false},
    {{"expand-patterns", 0,   kNone},  nullptr,            set_flag<&SqueueOptions::expand_patterns>,      nullptr,       "replace the patterns in names of output files"},
    {{"federation",      0,   kNone},  nullptr,            refuse<'f'>,                                    nullptr,       nullptr, false},
    {{"Format",          'O', kValue}, nullptr,            set_text<&SqueueOptions::long_format>,          "fields",      "columns by name: JobID,Name:30,StateCompact"},
    {{"format",          'o', kValue}, nullptr,            set_text<&SqueueOptions::format>,               "format",      "columns by letter: \"%.18i %.9P %.2t %R\"; a number is the width, a point aligns right"},
    {{"hide",            0,   kNone},  nullptr,            set_hidden<false>,                              nullptr,       "no hidden partitions (default)"},
    {{"iterate",         'i', kValue}, nullptr,            set_repeat,                                     "seconds",     "print the list again after this many seconds, until interrupted"},
    {{"jobs",            'j', kMaybe}, nullptr,            set_jobs,                                       "[ids]",       "only these jobs: 12, 12_3, 12_[1-5]"},
    {{"json",            0,   kMaybe}, nullptr,            set_json<false>,                                   "[list|name]", "print JSON; list: the names of its versions, v0.0.42 to v0.0.45"},
    {{"licenses",        'L', kValue}, "SQUEUE_LICENSES",  set_licenses,                                   "names",       "only jobs that use these licences"},
    {{"local",           0,   kNone},  nullptr,            set_nothing,                                    nullptr,       "accepted: there is one cluster"},
    {{"long",            'l', kNone},  nullptr,            set_flag<&SqueueOptions::long_list>,            nullptr,       "more columns"},
    {{"me",              0,   kNone},  nullptr,            set_me,                                         nullptr,       "only my own jobs"},
    {{"name",            'n', kValue}, "SQUEUE_NAMES",     set_names<&Filter::names>,                      "names",       "only jobs with these names"},
    {{"noconvert",       0,   kNone},  nullptr,            set_flag<&SqueueOptions::convert_units, false>, nullptr,       "print sizes as they are: 2048M instead of 2G"},
    {{"nodelist",        'w', kValue}, nullptr,            set_nodes,                                      "nodes",       "only jobs on these nodes"},
    {{"nodes",           0,   kValue}, nullptr,            set_nodes,                                      "nodes"},
    {{"noheader",        'h', kNone},  nullptr,            set_flag<&SqueueOptions::no_header>,            nullptr,       "no header line"},
    {{"notme",           0,   kNone},  nullptr,            set_not_me,                                     nullptr,       "no jobs of my own"},
    {{"only-job-state",  0,   kNone},  nullptr,            set_flag<&SqueueOptions::only_job_state>,       nullptr,       "only ids and states of jobs"},
    {{"partition",       'p', kValue}, "SQUEUE_PARTITION", set_names<&Filter::partitions>,                 "names",       "only jobs in these partitions"},
    {{"priority",        'P', kNone},  nullptr,            set_nothing,                                    nullptr,       "accepted: a job in several partitions has one line"},
    {{"qos",             'q', kValue}, "SQUEUE_QOS",       set_names<&Filter::qos>,                        "names",       "only jobs with these qualities of service"},
    {{"reservation",     'R', kValue}, nullptr,            set_names<&Filter::reservations>,               "names",       "only jobs with these reservations"},
    {{"running-over",    0,   kValue}, nullptr,            set_running<&SqueueOptions::running_over>,      "time",        "only jobs that have run for more than this time"},
    {{"running-under",   0,   kValue}, nullptr,            set_running<&SqueueOptions::running_under>,     "time",        "only jobs that have run for less than this time"},
    {{"sibling",         0,   kNone},  nullptr,            refuse<'f'>,                                    nullptr,       nullptr, false},
    {{"sort",            'S', kValue}, "SQUEUE_SORT",      set_text<&SqueueOptions::sort>,                 "letters",     "order by these letters of -o; a minus before a letter reverses it"},
    {{"start",           0,   kNone},  nullptr,            set_flag<&SqueueOptions::start>,                nullptr,       "estimated starts of waiting jobs"},
    {{"states",          't', kValue}, "SQUEUE_STATES",    set_states,                                     "states",      "only jobs in these states; all: ended jobs too"},
    {{"steps",           's', kMaybe}, nullptr,            set_steps,                                      "[ids]",       "steps instead of jobs"},
    {{"user",            'u', kValue}, "SQUEUE_USERS",     set_users,                                      "names",       "only jobs of these users"},
    {{"users",           0,   kValue}, nullptr,            set_users,                                      "names"},
    {{"verbose",         'v', kNone},  nullptr,            set_nothing,                                    nullptr,       "accepted"},
    {{"yaml",            0,   kMaybe}, nullptr,            set_json<true>,                                 "[list|name]", "the same as --json, printed as YAML"},
};
// clang-format on

std::string letters_of(std::span<const JobField> fields) {
    std::string text;
    for (const JobField& field : fields) {
        if (field.letter)
            fmt::format_to(std::back_inserter(text), "%{} {}\n", field.letter, field.header);
    }
    return text;
}

std::string names_of(std::span<const JobField> fields) {
    std::string text;
    for (const JobField& field : fields)
        fmt::format_to(std::back_inserter(text), "{}\n", field.name);
    return text;
}

bool is_json(const Row& row) {
    return row.set == set_json<false> || row.set == set_json<true>;
}

void print_ending(std::size_t id, bool steps, Streams& streams) {
    std::span<const JobField> fields = steps ? step_fields() : job_fields();
    switch (id) {
        case kHelp:
            return print_listing_help(streams, "squeue", squeue_option_help());
        case kUsage:
            return streams.out(usage_lines("squeue", squeue_option_help(), ""));
        case kHelpFormat:
            return streams.out(letters_of(fields));
        case kHelpLongFormat:
            return streams.out(names_of(fields));
        case kHelpState:
            return streams.out(fmt::format("{}\n", state_list()));
        default:
            return print_version(streams);
    }
}

// Compat: the values of -j and -s are optional for getopt, yet people put a blank before them.
std::vector<std::string> join_optional_values(const std::vector<std::string>& args) {
    std::vector<std::string> joined;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string& word = args[i];
        const bool has_next = i + 1 < args.size() && !args[i + 1].starts_with('-');
        const bool is_short = word.size() >= 2 && word[0] == '-' && word[1] != '-' &&
                              (word.back() == 'j' || word.back() == 's') &&
                              word.find_first_of("AMOoiLnpqRStuw") == std::string::npos;
        const bool is_long = word.size() >= 5 && (std::string_view("--jobs").starts_with(word) ||
                                                  std::string_view("--steps").starts_with(word));
        if (has_next && is_short) {
            joined.push_back(word + args[++i]);
        } else if (has_next && is_long) {
            joined.push_back(fmt::format("{}={}", word, args[++i]));
        } else {
            joined.push_back(word);
        }
    }
    return joined;
}

bool read_environment(Reader& reader) {
    for (const Row& row : kOptions) {
        if (!row.environment) continue;
        std::optional<std::string_view> value = reader.invocation.environment.find(row.environment);
        if (!value) continue;
        if (Outcome wrong = row.set(reader, std::string(*value))) {
            complain(reader, *wrong);
            return false;
        }
    }
    return true;
}

// -u and -t of the command line replace the values of the environment.
void forget_environment(SqueueOptions& options, std::size_t id) {
    if (kOptions[id].set == set_users) options.filter.users.clear();
}

}  // namespace

std::vector<OptionHelp> squeue_option_help() {
    return help_of(kOptions);
}

std::optional<SqueueOptions> parse_squeue_options(const Invocation& invocation, Streams& streams,
                                                  int& exit_code) {
    exit_code = 1;
    SqueueOptions options;
    Reader reader{options, invocation, streams};
    if (!read_environment(reader)) return {};
    Result<Arguments> given = parse_arguments(join_optional_values(invocation.args),
                                              spellings_of(kOptions), OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return {};
    }
    for (const GivenOption& option : given->options) {
        if (option.id >= kHelp) {
            print_ending(option.id, options.steps, streams);
            exit_code = 0;
            return {};
        }
        if (is_json(kOptions[option.id]) && option.value == "list") {
            print_data_parsers(streams);
            exit_code = 0;
            return {};
        }
        forget_environment(options, option.id);
        if (Outcome wrong = kOptions[option.id].set(reader, option.value.value_or(""))) {
            complain(reader, *wrong);
            return {};
        }
    }
    if (!given->operands.empty()) {
        print_error(streams, invocation,
                    fmt::format("Unrecognized option: {}", given->operands[0]));
        streams.out(usage_lines("squeue", squeue_option_help(), ""));
        return {};
    }
    if (options.format && options.long_format) {
        print_error(streams, invocation, "-O (--Format) is incompatible with -o (--format)");
        return {};
    }
    return options;
}

}  // namespace sluice
