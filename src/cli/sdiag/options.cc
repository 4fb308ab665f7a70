#include "cli/sdiag/options.h"

#include "cli/common/endings.h"
#include "cli/common/listing.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

// What is wrong with an option's value, printed after "sdiag: error: ".
using Outcome = std::optional<std::string>;
using Setter = Outcome (*)(SdiagOptions& options, const std::string& value);

Outcome set_reset(SdiagOptions& options, const std::string&) {
    options.reset = true;
    return {};
}
Outcome set_all(SdiagOptions& options, const std::string&) {
    options.reset = false;
    return {};
}
template <RequestOrder Order>
Outcome set_order(SdiagOptions& options, const std::string&) {
    options.order = Order;
    return {};
}
template <bool Yaml>
Outcome set_json(SdiagOptions& options, const std::string& value) {
    Result<JsonStyle> style = parse_json_style(value, Yaml);
    if (!style) return style.error().detail;
    options.json = *style;
    return {};
}
Outcome refuse_clusters(SdiagOptions&, const std::string&) {
    return "-M (--cluster) is not supported: there is one cluster here";
}
// Names are never truncated.
Outcome set_nothing(SdiagOptions&, const std::string&) {
    return {};
}

using Row = ListingOption<Setter>;

constexpr Argument kNone = Argument::None, kValue = Argument::Required, kMaybe = Argument::Optional;

// clang-format off
const Row kOptions[] = {
    {{"all",           'a', kNone},  nullptr,          set_all,                              nullptr,       "show all statistics (default)"},
    {{"cluster",       'M', kValue}, "SLURM_CLUSTERS", refuse_clusters,                      "name",        nullptr, false},
    {{"json",          0,   kMaybe}, nullptr,          set_json<false>,                      "[list|name]", "print JSON; list: the names of its versions, v0.0.42 to v0.0.45"},
    {{"no-trunc",      0,   kNone},  nullptr,          set_nothing,                          nullptr,       "do not truncate names: they never are"},
    {{"reset",         'r', kNone},  nullptr,          set_reset,                            nullptr,       "reset the counters; for operators and administrators"},
    {{"sort-by-id",    'i', kNone},  nullptr,          set_order<RequestOrder::Id>,          nullptr,       "sort requests by the number of their type, or by uid"},
    {{"sort-by-time",  't', kNone},  nullptr,          set_order<RequestOrder::TotalTime>,   nullptr,       "sort requests by total time"},
    {{"sort-by-time2", 'T', kNone},  nullptr,          set_order<RequestOrder::AverageTime>, nullptr,       "sort requests by average time"},
    {{"yaml",          0,   kMaybe}, nullptr,          set_json<true>,                       "[list|name]", "the same as --json, printed as YAML"},
};
// clang-format on

// Compat: -h is --help.
std::vector<OptionSpelling> all_spellings() {
    std::vector<OptionSpelling> all = spellings_without_lists(kOptions);
    for (OptionSpelling& each : all) {
        if (each.id == kHelp) each.letter = 'h';
    }
    return all;
}

void print_ending(std::size_t id, Streams& streams) {
    if (id == kHelp) return print_listing_help(streams, "sdiag", sdiag_option_help());
    if (id == kUsage) return streams.out(usage_lines("sdiag", sdiag_option_help(), ""));
    print_version(streams);
}

// True: the option only prints something.
bool has_ended(const GivenOption& option, Streams& streams) {
    if (option.id >= kHelp) {
        print_ending(option.id, streams);
        return true;
    }
    const Setter set = kOptions[option.id].set;
    const bool is_json = set == set_json<false> || set == set_json<true>;
    if (!is_json || option.value != "list") return false;
    print_data_parsers(streams);
    return true;
}

}  // namespace

std::vector<OptionHelp> sdiag_option_help() {
    std::vector<OptionHelp> all = help_of(kOptions);
    std::erase_if(all, [](const OptionHelp& each) {
        return each.name == "helpFormat" || each.name == "helpstate" || each.name == "helpformat";
    });
    for (OptionHelp& each : all) {
        if (each.name == "help") each.letter = 'h';
    }
    return all;
}

std::optional<SdiagOptions> parse_sdiag_options(const Invocation& invocation, Streams& streams,
                                                int& exit_code) {
    exit_code = 1;
    SdiagOptions options;
    const auto use = [&](const Row& row, const std::string& value) {
        const Outcome wrong = row.set(options, value);
        if (wrong) print_error(streams, invocation, *wrong);
        return !wrong;
    };
    for (const Row& row : kOptions) {
        auto value = row.environment ? invocation.environment.find(row.environment) : std::nullopt;
        if (value && !value->empty() && !use(row, std::string(*value))) return {};
    }
    const Result<Arguments> given =
        parse_arguments(invocation.args, all_spellings(), OptionsEnd::Nowhere);
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
    return options;  // Compat: operands are ignored
}

}  // namespace sluice
