#include "cli/sshare/options.h"

#include "base/text.h"
#include "cli/common/endings.h"
#include "cli/common/listing.h"
#include "surface/arguments.h"
#include "surface/shares.h"

namespace sluice {

namespace {

// What is wrong with an option's value, printed after "sshare: error: ".
using Outcome = std::optional<std::string>;
using Setter = Outcome (*)(SshareOptions& options, const std::string& value);

// Compat: accounts are kept in lower case.
Outcome set_accounts(SshareOptions& options, const std::string& value) {
    for (const std::string& name : split_list(value)) options.accounts.push_back(to_lower(name));
    if (options.accounts.empty()) return fmt::format("--accounts={}: expected names", value);
    return {};
}

Outcome set_users(SshareOptions& options, const std::string& value) {
    for (std::string& name : split_list(value)) options.users.push_back(std::move(name));
    if (options.users.empty()) return fmt::format("--users={}: expected names", value);
    return {};
}

template <bool SshareOptions::*Member>
Outcome set_flag(SshareOptions& options, const std::string&) {
    options.*Member = true;
    return {};
}
template <Bars Value>
Outcome set_bars(SshareOptions& options, const std::string&) {
    options.bars = Value;
    return {};
}
Outcome set_format(SshareOptions& options, const std::string& value) {
    options.format = value;
    return {};
}
template <bool Yaml>
Outcome set_json(SshareOptions& options, const std::string& value) {
    Result<JsonStyle> style = parse_json_style(value, Yaml);
    if (!style) return style.error().detail;
    options.json = *style;
    return {};
}
Outcome refuse_clusters(SshareOptions&, const std::string&) {
    return "-M (--clusters) is not supported: there is one cluster here";
}
// Handled before any other option has an effect.
Outcome set_nothing(SshareOptions&, const std::string&) {
    return {};
}

using Row = ListingOption<Setter>;

constexpr Argument kNone = Argument::None, kValue = Argument::Required, kMaybe = Argument::Optional;

// clang-format off
const Row kOptions[] = {
    {{"accounts",   'A', kValue}, nullptr,          set_accounts,                           "names",       "only these accounts"},
    {{"all",        'a', kNone},  nullptr,          set_flag<&SshareOptions::all_users>,    nullptr,       "all users; else only oneself"},
    {{"clusters",   'M', kValue}, "SLURM_CLUSTERS", refuse_clusters,                        "names",       nullptr, false},
    {{"format",     'o', kValue}, nullptr,          set_format,                             "fields",      "columns by name: \"account,user%-12,rawusage%8\"; a number is the width, a minus aligns left"},
    {{"helpformat", 'e', kNone},  nullptr,          set_nothing,                            nullptr,       "list the fields of -o"},
    {{"json",       0,   kMaybe}, nullptr,          set_json<false>,                        "[list|name]", "print JSON; list: the names of its versions, v0.0.42 to v0.0.45"},
    {{"long",       'l', kNone},  nullptr,          set_flag<&SshareOptions::long_list>,    nullptr,       "also normalized usage, levels and limits"},
    {{"noheader",   'n', kNone},  nullptr,          set_flag<&SshareOptions::no_header>,    nullptr,       "no header lines"},
    {{"parsable",   'p', kNone},  nullptr,          set_bars<Bars::AfterEach>,              nullptr,       "cells with a bar after each"},
    {{"parsable2",  'P', kNone},  nullptr,          set_bars<Bars::Between>,                nullptr,       "cells with bars between them"},
    {{"partition",  'm', kNone},  nullptr,          set_flag<&SshareOptions::partitions>,   nullptr,       "also the partition of associations that have one"},
    {{"users",      'u', kValue}, nullptr,          set_users,                              "names",       "these users"},
    {{"Users",      'U', kNone},  nullptr,          set_flag<&SshareOptions::users_only>,   nullptr,       "only users, without the accounts above them"},
    {{"verbose",    'v', kNone},  nullptr,          set_flag<&SshareOptions::verbose>,      nullptr,       "print which users and accounts are listed"},
    {{"yaml",       0,   kMaybe}, nullptr,          set_json<true>,                         "[list|name]", "the same as --json, printed as YAML"},
};
// clang-format on

bool is_json(const Row& row) {
    return row.set == set_json<false> || row.set == set_json<true>;
}

// Compat: four to a line.
std::string field_list() {
    std::string out;
    std::size_t count = 0;
    for (const ReportField& field : share_fields()) {
        if (count > 0) out += count % 4 == 0 ? '\n' : ' ';
        out += fmt::format("{:<17}", field.name);
        ++count;
    }
    return out + "\n";
}

void print_ending(std::size_t id, Streams& streams) {
    if (id == kHelp) return print_listing_help(streams, "sshare", sshare_option_help());
    if (id == kUsage) return streams.out(usage_lines("sshare", sshare_option_help(), ""));
    print_version(streams);
}

// True: the option only prints something.
bool has_ended(const GivenOption& option, Streams& streams) {
    if (option.id >= kHelp) {
        print_ending(option.id, streams);
        return true;
    }
    const Row& row = kOptions[option.id];
    if (is_json(row) && option.value == "list") {
        print_data_parsers(streams);
        return true;
    }
    if (row.spelling.letter != 'e') return false;
    streams.out(field_list());
    return true;
}

}  // namespace

std::vector<OptionHelp> sshare_option_help() {
    std::vector<OptionHelp> all = help_of(kOptions);
    std::erase_if(all, [](const OptionHelp& each) {
        return each.name == "helpFormat" || each.name == "helpstate" ||
               (each.name == "helpformat" && each.letter == 0);
    });
    return all;
}

std::optional<SshareOptions> parse_sshare_options(const Invocation& invocation, Streams& streams,
                                                  int& exit_code) {
    exit_code = 1;
    SshareOptions options;
    const auto use = [&](const Row& row, const std::string& value) {
        Outcome wrong = row.set(options, value);
        if (wrong) print_error(streams, invocation, *wrong);
        return !wrong;
    };
    for (const Row& row : kOptions) {
        auto value = row.environment ? invocation.environment.find(row.environment) : std::nullopt;
        if (value && !value->empty() && !use(row, std::string(*value))) return {};
    }
    Result<Arguments> given =
        parse_arguments(invocation.args, spellings_without_lists(kOptions), OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return {};
    }
    for (const GivenOption& option : given->options) {
        if (has_ended(option, streams)) {
            exit_code = 0;
            return {};
        }
        if (!use(kOptions[option.id], option.value.value_or(""))) return {};
    }
    if (given->operands.empty()) return options;
    print_error(streams, invocation, fmt::format("Unrecognized option: {}", given->operands[0]));
    streams.out(usage_lines("sshare", sshare_option_help(), ""));
    return {};
}

}  // namespace sluice
