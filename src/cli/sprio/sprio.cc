#include "cli/sprio/sprio.h"

#include <algorithm>

#include "cli/common/listing.h"
#include "cli/sprio/options.h"
#include "model/errors.h"
#include "surface/format.h"
#include "surface/priorities.h"
#include "surface/sort.h"

namespace sluice {

namespace {

PriorityWeights weights_of(const Config& config) {
    PriorityWeights weights{.age = config.priority_weight_age,
                            .assoc = config.priority_weight_assoc,
                            .fair_share = config.priority_weight_fairshare,
                            .job_size = config.priority_weight_job_size,
                            .partition = config.priority_weight_partition,
                            .qos = config.priority_weight_qos};
    for (const auto& [name, weight] : config.priority_tres_weights) {
        weights.tres += fmt::format("{}{}={}", weights.tres.empty() ? "" : ",", name, weight);
    }
    return weights;
}

// A column of the default formats: with -l always there, else where its factor has a weight.
struct DefaultColumn {
    std::string_view weighted, normal;  // empty: not part of that format
    bool (*shown)(const PriorityWeights& weights);
};

// clang-format off
constexpr DefaultColumn kDefaultColumns[] = {
    {" %.10Y", " %10y", [](const PriorityWeights&) { return true; }},
    {" %.10S", "",      [](const PriorityWeights&) { return true; }},
    {" %.10A", " %10a", [](const PriorityWeights& w) { return w.age != 0; }},
    {" %.10B", " %10b", [](const PriorityWeights& w) { return w.assoc != 0; }},
    {" %.10F", " %10f", [](const PriorityWeights& w) { return w.fair_share != 0; }},
    {" %.10J", " %10j", [](const PriorityWeights& w) { return w.job_size != 0; }},
    {" %.10P", " %10p", [](const PriorityWeights& w) { return w.partition != 0; }},
    {" %.10n", " %10n", nullptr},  // -l only
    {" %.10Q", " %10q", [](const PriorityWeights& w) { return w.qos != 0; }},
    {" %.11N", "",      nullptr},  // -l only
    {" %.20T", " %20t", [](const PriorityWeights& w) { return !w.tres.empty(); }},
};
// clang-format on

std::string default_format(const SprioOptions& options, const PriorityWeights& weights) {
    std::string format = "%.15i %9r";
    if (options.long_list || options.users_given) format += " %.8u";
    if (options.long_list) format += " %.8o";
    for (const DefaultColumn& column : kDefaultColumns) {
        if (!options.long_list && !(column.shown && column.shown(weights))) continue;
        format += options.normalized ? column.normal : column.weighted;
    }
    return format;
}

struct Layout {
    Format<PriorityRow> format;
    std::vector<SortKey<PriorityRow>> sort;
};

// Nothing: the sort letters were wrong, and an error has been printed.
std::optional<Layout> chosen_layout(const Invocation& invocation, const SprioOptions& options,
                                    const PriorityWeights& weights, Streams& streams) {
    Layout layout;
    layout.format = parse_short_format(options.format.value_or(default_format(options, weights)),
                                       priority_fields());
    for (const std::string& word : layout.format.unknown) {
        print_error(streams, invocation, fmt::format("Invalid job format specification: {}", word));
    }
    std::string unknown;
    layout.sort = parse_sort(options.sort.value_or("i"), priority_fields(), unknown);
    if (unknown.empty()) return layout;
    print_error(streams, invocation, fmt::format("Invalid sort specification: {}", unknown));
    return {};
}

Result<Table> fetch_jobs(const SprioOptions& options, const Layout& layout, Client& client) {
    if (options.weights || options.matches_nothing) return Table{};
    Filter filter = options.filter;
    filter.states = {ShownState::Pending};
    filter.include_hidden = true;
    std::vector<ColumnId> columns = {static_cast<ColumnId>(JobColumn::PriorityFactors)};
    append_needs(layout.format, columns);
    for (const SortKey<PriorityRow>& key : layout.sort) {
        for (ColumnId id : key.field->needs.all()) columns.push_back(id);
    }
    Result<Table> table = fetch_table(client, TableKind::Jobs, columns, filter);
    if (!table && table.error().code == ErrorCode::InvalidJobId) return Table{};  // none is left
    return table;
}

bool is_wanted(const PriorityLine& line, const SprioOptions& options) {
    const auto& named = options.partitions;
    return named.empty() || std::find(named.begin(), named.end(), line.partition) != named.end();
}

// What the jobs' own text says, line by line; the rows point into it.
Result<std::vector<std::vector<PriorityLine>>> lines_of(const Sheet& sheet) {
    std::vector<std::vector<PriorityLine>> lines(sheet.rows());
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
        lines[i] = TRY(parse_priority_lines(sheet.text(i, JobColumn::PriorityFactors)));
    }
    return lines;
}

Result<std::string> print(const Invocation& invocation, const SprioOptions& options,
                          const Layout& layout, const PriorityWeights& weights, Client& client) {
    const Table table = TRY(fetch_jobs(options, layout, client));
    const Looks looks = looks_for(invocation, client, current_time());
    const Sheet sheet(table, looks);
    const auto lines = TRY(lines_of(sheet));
    std::vector<PriorityRow> rows;
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
        for (const PriorityLine& line : lines[i]) {
            if (is_wanted(line, options)) rows.push_back({{&sheet, i}, &line, &weights});
        }
    }
    sort_rows(rows, layout.sort);
    if (options.weights) rows = {{{&sheet, 0}, nullptr, &weights}};
    std::string out;
    if (!options.no_header) append_header(layout.format, out);
    for (const PriorityRow& row : rows) append_row(layout.format, row, out);
    return out;
}

}  // namespace

int run_sprio(const Invocation& invocation, Client& client, Streams& streams) {
    int exit_code = 0;
    std::optional<SprioOptions> options = parse_sprio_options(invocation, streams, exit_code);
    if (!options) return exit_code;
    if (!has_configuration(invocation, client, streams)) return 1;
    const Config& config = **client.config();
    if (config.priority_type != "priority/multifactor") {
        streams.err(
            fmt::format("You are not running a supported priority plugin\n({}).\n"
                        "Only 'priority/multifactor' is supported.\n",
                        config.priority_type));
        return 1;
    }
    const PriorityWeights weights = weights_of(config);
    std::optional<Layout> layout = chosen_layout(invocation, *options, weights, streams);
    if (!layout) return 1;
    Result<std::string> printed = print(invocation, *options, *layout, weights, client);
    if (!printed) {
        streams.err(fmt::format("Couldn't get priority factors from controller: {}\n",
                                to_string(printed.error())));
        return 1;
    }
    streams.out(*printed);
    return 0;
}

}  // namespace sluice
