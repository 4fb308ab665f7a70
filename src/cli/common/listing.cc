#include "cli/common/listing.h"

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "model/columns.h"
#include "model/errors.h"
#include "protocol/convert.h"
#include "surface/jobs.h"
#include "surface/nodes.h"
#include "surface/reservations.h"
#include "surface/steps.h"

namespace sluice {

namespace {

// For kinds without a table of properties: all columns, of which this is the last.
template <typename Column>
std::vector<ColumnId> columns_to(Column last) {
    std::vector<ColumnId> columns;
    for (ColumnId id = 0; id <= static_cast<ColumnId>(last); ++id) columns.push_back(id);
    return columns;
}

}  // namespace

std::vector<ColumnId> all_columns(TableKind kind) {
    switch (kind) {
        case TableKind::Jobs:
            return columns_of(job_properties());
        case TableKind::Nodes:
            return columns_of(node_properties());
        case TableKind::Partitions:
            return columns_of(partition_properties());
        case TableKind::Steps:
            return columns_of(step_properties());
        case TableKind::Licenses:
            return columns_to(LicenseColumn::Reserved);
        case TableKind::Reservations:
            return columns_of(reservation_properties());
        case TableKind::Shares:
            return columns_to(ShareColumn::Depth);
    }
    return {};
}

Result<Table> fetch_table(Client& client, TableKind kind, std::vector<ColumnId> columns,
                          const Filter& filter) {
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    // A listing without columns would not say how many rows there are.
    if (columns.empty()) columns.push_back(0);
    wire::Request request;
    wire::ListTable& list = *request.mutable_list();
    list.set_kind(static_cast<std::uint32_t>(kind));
    for (ColumnId id : columns) list.add_columns(id);
    *list.mutable_filter() = to_wire(filter);
    wire::Reply reply = TRY(client.call(request));
    if (!reply.has_listing()) return Error{ErrorCode::ProtocolError, "no listing in the answer"};
    return from_wire(reply.listing());
}

void print_data_parsers(Streams& streams) {
    streams.err("Possible data_parser plugins:\n");
    for (int version = kJsonOldest; version <= kJsonNewest; ++version) {
        streams.out(data_parser_name(version) + "\n");
    }
}

Result<JsonStyle> parse_json_style(std::string_view value, bool yaml) {
    JsonStyle style{.yaml = yaml};
    if (value.empty()) return style;
    const std::optional<int> version = find_data_parser(value);
    if (!version) {
        const std::string_view name = value.substr(value.rfind('/') + 1);
        return Error{ErrorCode::BadArgument,
                     fmt::format("Unable to find plugin: data_parser/{}; there are {}", name,
                                 data_parser_list())};
    }
    style.version = *version;
    return style;
}

JsonMeta json_meta(const Invocation& invocation, const Looks& looks, JsonStyle style) {
    style.compact = wants_compact_json(invocation.environment.find("SLURM_JSON").value_or(""));
    return {invocation.tool, invocation.args, looks.cluster, style};
}

Looks looks_for(const Invocation& invocation, Client& client, Time now) {
    Looks looks{.now = now};
    looks.time_format = invocation.environment.find("SLURM_TIME_FORMAT").value_or("");
    if (auto length = invocation.environment.find("SLURM_BITSTR_LEN")) {
        if (auto number = to_number(*length)) looks.array_text_max = *number;
    }
    if (Result<const Config*> config = client.config()) looks.cluster = (*config)->cluster_name;
    return looks;
}

bool has_configuration(const Invocation& invocation, Client& client, Streams& streams) {
    Result<const Config*> config = client.config();
    if (!config) print_fatal(streams, invocation, config.error().detail);
    return config.has_value();
}

std::string date_line(Time now) {
    std::time_t seconds = to_unix(now);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    char text[64];
    return std::string(text, std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y\n", &parts));
}

void print_api_error(Streams& streams, std::string_view function, const Error& error) {
    streams.err(fmt::format("{} error: {}\n", function, to_string(error)));
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> list;
    for (std::string_view piece : split(text, ',')) {
        if (!trim(piece).empty()) list.emplace_back(trim(piece));
    }
    return list;
}

}  // namespace sluice
