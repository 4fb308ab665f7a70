#include "cli/sinfo/options.h"

#include "base/text.h"
#include "cli/common/endings.h"
#include "cli/common/listing.h"
#include "model/hostlist.h"
#include "surface/arguments.h"
#include "surface/json.h"
#include "surface/nodes.h"

namespace sluice {

namespace {

// What is wrong with an option's value, as Slurm words it; printed after "sinfo: error: ".
using Complaint = std::optional<std::string>;
using Setter = Complaint (*)(SinfoOptions& options, const std::string& value);

template <bool SinfoOptions::*Member>
Complaint set_flag(SinfoOptions& options, const std::string&) {
    options.*Member = true;
    return {};
}
template <std::optional<std::string> SinfoOptions::*Member>
Complaint set_text(SinfoOptions& options, const std::string& value) {
    options.*Member = value;
    return {};
}
Complaint set_partitions(SinfoOptions& options, const std::string& value) {
    options.partitions = split_list(value);
    return {};
}
Complaint set_nodes(SinfoOptions& options, const std::string& value) {
    Result<Hostlist> hosts = Hostlist::parse(value);
    if (!hosts) return fmt::format("Invalid node list specified: {}", value);
    options.nodes = hosts->names();
    return {};
}
Complaint set_states(SinfoOptions& options, const std::string& value) {
    if (equals_ignoring_case(value, "all")) {
        options.states = {};
        return {};
    }
    Result<NodeStateFilter> states = NodeStateFilter::parse(value);
    if (!states) {
        return fmt::format("Bad state string: \"{}\"\nvalid states: {}", states.error().detail,
                           node_state_list());
    }
    options.states = *states;
    return {};
}
Complaint set_repeat(SinfoOptions& options, const std::string& value) {
    std::optional<std::uint64_t> seconds = to_number(value);
    if (!seconds || *seconds == 0 || *seconds > 1'000'000) {
        return fmt::format("Error: invalid entry for --iterate={}", value);
    }
    options.repeat_seconds = static_cast<std::uint32_t>(*seconds);
    return {};
}
template <bool Yaml>
Complaint set_json(SinfoOptions& options, const std::string& value) {
    Result<JsonStyle> style = parse_json_style(value, Yaml);
    if (!style) return style.error().detail;
    options.json = *style;
    return {};
}
Complaint set_hide(SinfoOptions& options, const std::string&) {
    options.all = false;
    return {};
}
Complaint set_nothing(SinfoOptions&, const std::string&) {
    return {};
}
Complaint refuse_clusters(SinfoOptions&, const std::string&) {
    return "-M (--clusters) is not supported: there is one cluster here";
}
Complaint refuse_federation(SinfoOptions&, const std::string&) {
    return "--federation is not supported: there is one cluster here";
}

using Row = ListingOption<Setter>;

constexpr Argument kNone = Argument::None, kValue = Argument::Required, kMaybe = Argument::Optional;

// clang-format off
const Row kOptions[] = {
    {{"all",          'a', kNone},  "SINFO_ALL",       set_flag<&SinfoOptions::all>,          nullptr,       "hidden partitions too"},
    {{"clusters",     'M', kValue}, nullptr,           refuse_clusters,                       "names",       nullptr, false},
    {{"dead",         'd', kNone},  nullptr,           set_flag<&SinfoOptions::dead>,         nullptr,       "only nodes that do not respond"},
    {{"exact",        'e', kNone},  nullptr,           set_flag<&SinfoOptions::exact>,        nullptr,       "group nodes only if they are equal"},
    {{"federation",   0,   kNone},  nullptr,           refuse_federation,                     nullptr,       nullptr, false},
    {{"format",       'o', kValue}, nullptr,           set_text<&SinfoOptions::format>,       "format",      "columns by letter: \"%9P %.5a %.6D %N\"; a number is the width, a point aligns right"},
    {{"Format",       'O', kValue}, nullptr,           set_text<&SinfoOptions::long_format>,  "fields",      "columns by name: NodeList,CPUsState:20"},
    {{"future",       'F', kNone},  nullptr,           set_nothing,                           nullptr,       "accepted: nodes in state FUTURE are not listed"},
    {{"hide",         0,   kNone},  nullptr,           set_hide,                              nullptr,       "no hidden partitions (default)"},
    {{"iterate",      'i', kValue}, nullptr,           set_repeat,                            "seconds",     "print the list again after this many seconds, until interrupted"},
    {{"json",         0,   kMaybe}, nullptr,           set_json<false>,                          "[list|name]", "print JSON; list: the names of its versions, v0.0.42 to v0.0.45"},
    {{"list-reasons", 'R', kNone},  nullptr,           set_flag<&SinfoOptions::reasons>,      nullptr,       "why nodes are down or drained, since when, and by whom"},
    {{"local",        0,   kNone},  nullptr,           set_nothing,                           nullptr,       "accepted: there is one cluster"},
    {{"long",         'l', kNone},  nullptr,           set_flag<&SinfoOptions::long_list>,    nullptr,       "more columns"},
    {{"noconvert",    0,   kNone},  nullptr,           set_nothing,                           nullptr,       "accepted"},
    {{"Node",         'N', kNone},  nullptr,           set_flag<&SinfoOptions::by_node>,      nullptr,       "one line for each node"},
    {{"nodes",        'n', kValue}, nullptr,           set_nodes,                             "nodes",       "only these nodes"},
    {{"noheader",     'h', kNone},  nullptr,           set_flag<&SinfoOptions::no_header>,    nullptr,       "no header line"},
    {{"partition",    'p', kValue}, "SINFO_PARTITION", set_partitions,                        "names",       "only these partitions"},
    {{"reservation",  'T', kNone},  nullptr,           set_flag<&SinfoOptions::reservations>, nullptr,       "reservations instead of nodes"},
    {{"responding",   'r', kNone},  nullptr,           set_flag<&SinfoOptions::responding>,   nullptr,       "only nodes that respond"},
    {{"sort",         'S', kValue}, "SINFO_SORT",      set_text<&SinfoOptions::sort>,         "letters",     "order by these letters of -o; a minus before a letter reverses it"},
    {{"states",       't', kValue}, nullptr,           set_states,                            "states",      "only nodes in these states"},
    {{"summarize",    's', kNone},  nullptr,           set_flag<&SinfoOptions::summarize>,    nullptr,       "one line for each partition, with counts of nodes"},
    {{"verbose",      'v', kNone},  nullptr,           set_nothing,                           nullptr,       "accepted"},
    {{"yaml",         0,   kMaybe}, nullptr,           set_json<true>,                        "[list|name]", "the same as --json, printed as YAML"},
};
// clang-format on

bool is_json(const Row& row) {
    return row.set == set_json<false> || row.set == set_json<true>;
}

void print_ending(std::size_t id, Streams& streams) {
    std::string text;
    for (const NodeField& field : node_fields()) {
        if (id == kHelpFormat && field.letter) {
            fmt::format_to(std::back_inserter(text), "%{} {}\n", field.letter, field.header);
        } else if (id == kHelpLongFormat) {
            fmt::format_to(std::back_inserter(text), "{}\n", field.name);
        }
    }
    switch (id) {
        case kHelp:
            return print_listing_help(streams, "sinfo", sinfo_option_help());
        case kUsage:
            return streams.out(usage_lines("sinfo", sinfo_option_help(), ""));
        case kHelpState:
            return streams.out(node_state_list() + "\n");
        case kVersion:
            return print_version(streams);
        default:
            return streams.out(text);
    }
}

}  // namespace

std::vector<OptionHelp> sinfo_option_help() {
    return help_of(kOptions);
}

std::optional<SinfoOptions> parse_sinfo_options(const Invocation& invocation, Streams& streams,
                                                int& exit_code) {
    exit_code = 1;
    SinfoOptions options;
    for (const Row& row : kOptions) {
        if (!row.environment) continue;
        if (auto value = invocation.environment.find(row.environment)) {
            row.set(options, std::string(*value));
        }
    }
    Result<Arguments> given =
        parse_arguments(invocation.args, spellings_of(kOptions), OptionsEnd::Nowhere);
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
        if (is_json(kOptions[option.id]) && option.value == "list") {
            print_data_parsers(streams);
            exit_code = 0;
            return {};
        }
        if (Complaint wrong = kOptions[option.id].set(options, option.value.value_or(""))) {
            print_error(streams, invocation, *wrong);
            return {};
        }
    }
    if (options.format && options.long_format) {
        print_error(streams, invocation, "-O (--Format) is incompatible with -o (--format)");
        return {};
    }
    return options;
}

}  // namespace sluice
