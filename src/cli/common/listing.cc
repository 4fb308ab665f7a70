#include "cli/common/listing.h"

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "model/columns.h"
#include "model/errors.h"
#include "protocol/convert.h"
#include "surface/json.h"

namespace sluice {

namespace {

// The last column of each kind, in the order of TableKind.
constexpr ColumnId kLastColumns[] = {static_cast<ColumnId>(JobColumn::KillOnInvalidDep),
                                     static_cast<ColumnId>(NodeColumn::NextState),
                                     static_cast<ColumnId>(PartitionColumn::TresBillingWeights),
                                     static_cast<ColumnId>(StepColumn::ExitCode),
                                     static_cast<ColumnId>(LicenseColumn::Reserved),
                                     static_cast<ColumnId>(ReservationColumn::CoreIds),
                                     static_cast<ColumnId>(QosColumn::MinTres)};

}  // namespace

std::vector<ColumnId> all_columns(TableKind kind) {
    std::vector<ColumnId> columns;
    for (ColumnId id = 0; id <= kLastColumns[static_cast<int>(kind)]; ++id) columns.push_back(id);
    if (kind == TableKind::Jobs) {
        for (JobColumn each :
             {JobColumn::TresBind, JobColumn::ThreadSpec, JobColumn::NodeSizes, JobColumn::TresFreq,
              JobColumn::SchedNodes, JobColumn::LastCheckpoint, JobColumn::AllocLayout}) {
            columns.push_back(static_cast<ColumnId>(each));
        }
    }
    if (kind == TableKind::Steps) columns.push_back(static_cast<ColumnId>(StepColumn::TresBind));
    return columns;
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
    streams.out(fmt::format("{}\n", kDataParser));
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
