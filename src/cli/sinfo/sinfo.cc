#include "cli/sinfo/sinfo.h"

#include <algorithm>
#include <iterator>
#include <thread>

#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/sinfo/options.h"
#include "model/columns.h"
#include "model/errors.h"
#include "surface/nodes.h"
#include "surface/reservations.h"
#include "surface/sort.h"

namespace sluice {

namespace {

constexpr std::string_view kAllLetters =
    "%a|%b|%c|%d|%e|%f|%g|%h|%l|%m|%n|%o|%p|%r|%s|%t|%u|%v|%w|%z|%A |%B |%C |%D |%E |%F |%G |%H |"
    "%I |%L |%M |%N |%O |%P |%R |%S |%T |%U |%V |%X |%Y |%Z ";

// '#' is as wide as the longest value, but no narrower than these.
constexpr std::uint32_t kNameWidthMin = 9;

// Compat: the layouts of the manual page; "#" in a width is filled in by widths_of().
std::string_view default_format(const SinfoOptions& options) {
    if (options.reasons) {
        return options.long_list ? "%20E %12U %19H %6t %N" : "%20E %9u %19H %N";
    }
    if (options.by_node) {
        return options.long_list ? "%#N %.6D %.#P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E"
                                 : "%#N %.6D %.#P %6t";
    }
    if (options.summarize) return "%#P %.5a %.10l %.16F %N";
    if (options.long_list) return "%#P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %.11i %N";
    return "%#P %.5a %.10l %.6D %.6t %N";
}

struct Tables {
    Table nodes;
    Table partitions;
};

std::uint32_t longest_name(const Table& table, ColumnId name, ColumnId* is_default) {
    std::size_t longest = kNameWidthMin;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const bool starred = is_default && table.number(i, *is_default) == 1;
        longest = std::max(longest, table.text(i, name).size() + starred);
    }
    return static_cast<std::uint32_t>(longest);
}

std::string with_widths(std::string_view format, const Tables& tables) {
    ColumnId is_default = static_cast<ColumnId>(PartitionColumn::IsDefault);
    std::string text;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '#') {
            text += format[i];
        } else if (format[i + 1] == 'N') {
            text += fmt::to_string(
                longest_name(tables.nodes, static_cast<ColumnId>(NodeColumn::Name), nullptr));
        } else {
            text += fmt::to_string(longest_name(
                tables.partitions, static_cast<ColumnId>(PartitionColumn::Name), &is_default));
        }
    }
    return text;
}

// -O's names; "All" among them stands for all letters.
Format<NodeGroup> named_format(std::string_view names) {
    Format<NodeGroup> format;
    for (std::string_view name : split(names, ',')) {
        const bool all = equals_ignoring_case(name.substr(0, name.find(':')), "all");
        Format<NodeGroup> part = all ? parse_short_format(kAllLetters, node_fields())
                                     : parse_long_format(name, node_fields());
        (format.cells.empty() ? format.prefix : format.cells.back().suffix) += part.prefix;
        std::ranges::move(part.cells, std::back_inserter(format.cells));
        std::ranges::move(part.unknown, std::back_inserter(format.unknown));
    }
    return format;
}

Format<NodeGroup> chosen_format(const Invocation& invocation, const SinfoOptions& options,
                                const Tables& tables) {
    if (options.long_format) return named_format(*options.long_format);
    std::optional<std::string_view> text;
    if (options.format) text = *options.format;
    if (!text) text = invocation.environment.find("SINFO_FORMAT");
    if (text) return parse_short_format(*text == "%all" ? kAllLetters : *text, node_fields());
    return parse_short_format(with_widths(default_format(options), tables), node_fields());
}

bool is_chosen(const Sheet& nodes, std::uint32_t node, const SinfoOptions& options) {
    const NodeBase base = node_base(nodes, node);
    const std::uint32_t flags = node_flags(nodes, node);
    if (options.dead && !(flags & kNodeNoRespond)) return false;
    if (options.responding && (flags & kNodeNoRespond)) return false;
    if (base == NodeBase::Future && options.states.empty()) return false;
    if (!options.states.matches(base, flags)) return false;
    if (options.reasons) {
        if (nodes.text(node, NodeColumn::Reason).empty()) return false;
        const bool lacks_gpus = !nodes.text(node, NodeColumn::GresDrained).empty();
        if (base != NodeBase::Down && !(flags & (kNodeDrain | kNodeFail)) && !lacks_gpus)
            return false;
    }
    if (!options.nodes) return true;
    auto is_named = [&](std::string_view name) {
        return std::find(options.nodes->begin(), options.nodes->end(), name) !=
               options.nodes->end();
    };
    return is_named(nodes.text(node, NodeColumn::Name)) ||
           is_named(nodes.text(node, NodeColumn::Hostname));
}

Result<Tables> fetch(const SinfoOptions& options, Client& client) {
    Filter partitions{.partitions = options.partitions,
                      .include_hidden = options.all || !options.partitions.empty()};
    // Nodes are chosen here: naming one that does not exist is no error for sinfo.
    Filter nodes{.include_hidden = true};
    Tables tables;
    tables.nodes = TRY(fetch_table(client, TableKind::Nodes, all_columns(TableKind::Nodes), nodes));
    tables.partitions = TRY(
        fetch_table(client, TableKind::Partitions, all_columns(TableKind::Partitions), partitions));
    return tables;
}

std::string lines_of(const NodeListing& listing, const SinfoOptions& options,
                     const Format<NodeGroup>& format, const std::vector<SortKey<NodeGroup>>& sort) {
    std::vector<bool> chosen;
    for (std::uint32_t i = 0; i < listing.nodes.rows(); ++i) {
        chosen.push_back(is_chosen(listing.nodes, i, options));
    }
    std::vector<NodeGroup> groups =
        group_nodes(listing, format, chosen, {.by_node = options.by_node, .exact = options.exact});
    sort_rows(groups, sort);
    std::string out;
    if (!options.no_header) {
        if (options.long_list || options.repeat_seconds)
            out += date_line(listing.nodes.looks().now);
        append_header(format, out);
    }
    for (const NodeGroup& group : groups) append_row(format, group, out);
    if (options.repeat_seconds) out += '\n';
    return out;
}

Result<void> print_once(Time now, const Invocation& invocation, const SinfoOptions& options,
                        Client& client, Streams& streams) {
    const Tables tables = TRY(fetch(options, client));
    const Looks looks = looks_for(invocation, client, now);
    const NodeListing listing(tables.nodes, tables.partitions, looks);
    if (options.json) {
        std::vector<bool> chosen;
        for (std::uint32_t i = 0; i < listing.nodes.rows(); ++i) {
            chosen.push_back(is_chosen(listing.nodes, i, options));
        }
        streams.out(sinfo_json(listing, chosen, json_meta(invocation, looks, *options.json)));
        return {};
    }
    const Format<NodeGroup> format = chosen_format(invocation, options, tables);
    for (const std::string& word : format.unknown) {
        if (options.long_format) {
            print_error(streams, invocation,
                        fmt::format("Invalid job format specification: {}", word));
        } else {
            streams.err(fmt::format("Invalid node format specification: {}\n", word));
        }
    }
    std::string unknown;  // Compat: letters that mean nothing are passed over
    std::vector<SortKey<NodeGroup>> sort = parse_sort(options.sort      ? *options.sort
                                                      : options.by_node ? "N"
                                                                        : "#P,-t",
                                                      node_fields(), unknown);
    streams.out(lines_of(listing, options, format, sort));
    return {};
}

}  // namespace

int run_sinfo_at(Time now, const Invocation& invocation, Client& client, Streams& streams) {
    int exit_code = 0;
    std::optional<SinfoOptions> options = parse_sinfo_options(invocation, streams, exit_code);
    if (!options) return exit_code;
    if (!has_configuration(invocation, client, streams)) return 1;
    if (options->reservations) {
        Result<Table> table =
            fetch_table(client, TableKind::Reservations, all_columns(TableKind::Reservations), {});
        if (!table) {
            streams.err(fmt::format("slurm_load_reservations: {}\n", to_string(table.error())));
            return 1;
        }
        const Looks looks = looks_for(invocation, client, now);
        const Sheet sheet(*table, looks);
        streams.out(sheet.rows() > 0 ? reservation_lines(sheet, !options->no_header)
                                     : std::string("No reservations in the system\n"));
        return 0;
    }
    for (;;) {
        Result<void> printed = print_once(now, invocation, *options, client, streams);
        if (!printed) {
            // Compat: sinfo's own wording has no "error" in it.
            streams.err(fmt::format("slurm_load_partitions: {}\n", to_string(printed.error())));
            return 1;
        }
        if (options->repeat_seconds == 0) return 0;
        streams.flush();
        std::this_thread::sleep_for(Seconds{options->repeat_seconds});
        now = current_time();
    }
}

int run_sinfo(const Invocation& invocation, Client& client, Streams& streams) {
    return run_sinfo_at(current_time(), invocation, client, streams);
}

}  // namespace sluice
