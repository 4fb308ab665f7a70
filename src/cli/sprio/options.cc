#include "cli/sprio/options.h"

#include "base/text.h"
#include "cli/common/endings.h"
#include "cli/common/listing.h"
#include "os/user.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

// What is wrong with an option's value, printed after "sprio: error: ".
using Outcome = std::optional<std::string>;

struct Reader {
    SprioOptions& options;
    const Invocation& invocation;
    Streams& streams;
};

using Setter = Outcome (*)(Reader& reader, const std::string& value);

// Compat: tasks of arrays cannot be named here.
Outcome set_jobs(Reader& reader, const std::string& value) {
    for (const std::string& word : split_list(value)) {
        Result<JobRef> ref = parse_job_ref(word);
        if (!ref || ref->tasks || ref->step) return fmt::format("Invalid job id: {}", word);
        reader.options.filter.jobs.push_back(*ref);
    }
    return {};
}

// Compat: an unknown user gives an error line and matches no job; the exit code is 0.
Outcome set_users(Reader& reader, const std::string& value) {
    Filter& filter = reader.options.filter;
    for (const std::string& word : split_list(value)) {
        if (std::optional<std::uint64_t> number = to_number(word);
            number && *number <= 0xffffffff) {
            filter.users.push_back(UserId{static_cast<std::uint32_t>(*number)});
        } else if (std::optional<User> user = find_user(word)) {
            filter.users.push_back(UserId{user->uid});
        } else {
            print_error(reader.streams, reader.invocation, fmt::format("Invalid user: {}", word));
            reader.streams.err("\n");
        }
    }
    reader.options.users_given = true;
    reader.options.matches_nothing = filter.users.empty();
    return {};
}

Outcome set_partitions(Reader& reader, const std::string& value) {
    reader.options.partitions = split_list(value);
    return {};
}

template <bool SprioOptions::*Member>
Outcome set_flag(Reader& reader, const std::string&) {
    reader.options.*Member = true;
    return {};
}
template <std::optional<std::string> SprioOptions::*Member>
Outcome set_text(Reader& reader, const std::string& value) {
    reader.options.*Member = value;
    return {};
}
Outcome set_nothing(Reader&, const std::string&) {
    return {};
}

// One cluster is all there is: what would ask others is refused by name.
Outcome refuse_clusters(Reader&, const std::string&) {
    return "-M (--clusters) is not supported: there is one cluster here";
}
Outcome refuse_federation(Reader&, const std::string&) {
    return "--federation is not supported: there is one cluster here";
}

using Row = ListingOption<Setter>;

constexpr Argument kNone = Argument::None, kValue = Argument::Required, kMaybe = Argument::Optional;

// clang-format off
const Row kOptions[] = {
    {{"clusters",   'M', kValue}, "SLURM_CLUSTERS",   refuse_clusters,                     "names",   nullptr, false},
    {{"federation", 0,   kNone},  "SPRIO_FEDERATION", refuse_federation,                   nullptr,   nullptr, false},
    {{"format",     'o', kValue}, "SPRIO_FORMAT",     set_text<&SprioOptions::format>,     "format",  "columns by letter: \"%.15i %9r %.10Y\"; a number is the width, a point aligns right"},
    {{"jobs",       'j', kMaybe}, nullptr,            set_jobs,                            "[ids]",   "only these jobs"},
    {{"local",      0,   kNone},  "SPRIO_LOCAL",      set_nothing,                         nullptr,   "accepted: there is one cluster"},
    {{"long",       'l', kNone},  nullptr,            set_flag<&SprioOptions::long_list>,  nullptr,   "all columns"},
    {{"noheader",   'h', kNone},  nullptr,            set_flag<&SprioOptions::no_header>,  nullptr,   "no header line"},
    {{"norm",       'n', kNone},  nullptr,            set_flag<&SprioOptions::normalized>, nullptr,   "factors from 0 to 1 instead of weighted ones"},
    {{"partition",  'p', kValue}, nullptr,            set_partitions,                      "names",   "only lines of these partitions"},
    {{"sibling",    0,   kNone},  "SPRIO_SIBLING",    refuse_federation,                   nullptr,   nullptr, false},
    {{"sort",       'S', kValue}, nullptr,            set_text<&SprioOptions::sort>,       "letters", "order by these letters of -o; a minus before a letter reverses it"},
    {{"user",       'u', kValue}, nullptr,            set_users,                           "names",   "only jobs of these users"},
    {{"users",      0,   kValue}, nullptr,            set_users,                           "names"},
    {{"verbose",    'v', kNone},  nullptr,            set_nothing,                         nullptr,   "accepted"},
    {{"weights",    'w', kNone},  nullptr,            set_flag<&SprioOptions::weights>,    nullptr,   "the weights of slurm.conf instead of jobs"},
};
// clang-format on

// Compat: the value of -j is optional for getopt, yet people put a blank before it.
std::vector<std::string> join_optional_values(const std::vector<std::string>& args) {
    std::vector<std::string> joined;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string& word = args[i];
        const bool has_next = i + 1 < args.size() && !args[i + 1].starts_with('-');
        const bool is_short = word.size() >= 2 && word[0] == '-' && word[1] != '-' &&
                              word.back() == 'j' &&
                              word.find_first_of("MoSpu") == std::string::npos;
        const bool is_long = word.size() >= 3 && std::string_view("--jobs").starts_with(word);
        if (has_next && (is_short || is_long)) {
            joined.push_back(fmt::format("{}{}{}", word, is_long ? "=" : "", args[++i]));
        } else {
            joined.push_back(word);
        }
    }
    return joined;
}

bool use(Reader& reader, const Row& row, const std::string& value) {
    Outcome wrong = row.set(reader, value);
    if (wrong) print_error(reader.streams, reader.invocation, *wrong);
    return !wrong;
}

bool read_environment(Reader& reader) {
    for (const Row& row : kOptions) {
        if (!row.environment) continue;
        auto value = reader.invocation.environment.find(row.environment);
        if (value && !value->empty() && !use(reader, row, std::string(*value))) return false;
    }
    return true;
}

void print_ending(std::size_t id, Streams& streams) {
    if (id == kHelp) return print_listing_help(streams, "sprio", sprio_option_help());
    if (id == kUsage) return streams.out(usage_lines("sprio", sprio_option_help(), ""));
    print_version(streams);
}

}  // namespace

std::vector<OptionHelp> sprio_option_help() {
    std::vector<OptionHelp> all = help_of(kOptions);
    std::erase_if(all, [](const OptionHelp& each) {
        return each.name.starts_with("help") && each.name != "help";
    });
    return all;
}

std::optional<SprioOptions> parse_sprio_options(const Invocation& invocation, Streams& streams,
                                                int& exit_code) {
    exit_code = 1;
    SprioOptions options;
    Reader reader{options, invocation, streams};
    if (!read_environment(reader)) return {};
    Result<Arguments> given =
        parse_arguments(join_optional_values(invocation.args), spellings_without_lists(kOptions),
                        OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return {};
    }
    for (const GivenOption& option : given->options) {
        if (option.id >= kHelp) {
            print_ending(option.id, streams);
            exit_code = 0;
            return {};
        }
        if (!use(reader, kOptions[option.id], option.value.value_or(""))) return {};
    }
    if (!given->operands.empty()) {
        print_error(streams, invocation,
                    fmt::format("Unrecognized option: {}", given->operands[0]));
        streams.out(usage_lines("sprio", sprio_option_help(), ""));
        return {};
    }
    return options;
}

}  // namespace sluice
