// cli/common/listing.h
//
// What squeue, sinfo and scontrol do alike: ask for a listing, and find out from the environment
// how values should look.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/job_setup.h"
#include "model/filter.h"
#include "model/table.h"
#include "surface/json.h"
#include "surface/sheet.h"

namespace sluice {

Result<Table> fetch_table(Client& client, TableKind kind, std::vector<ColumnId> columns,
                          const Filter& filter);

// Every column that an output of a kind shows, for records and JSON.
std::vector<ColumnId> all_columns(TableKind kind);

// SLURM_TIME_FORMAT, SLURM_BITSTR_LEN; the cluster's name only where the configuration can be read.
Looks looks_for(const Invocation& invocation, Client& client, Time now);

// --json=list: the names on standard output, a heading beside it.
void print_data_parsers(Streams& streams);
// The value of --json or --yaml; empty: the newest version.
Result<JsonStyle> parse_json_style(std::string_view value, bool yaml);
// What a document says of the tool that printed it; SLURM_JSON=compact applies here.
JsonMeta json_meta(const Invocation& invocation, const Looks& looks, JsonStyle style);

// False: slurm.conf cannot be read, and an error has been printed.
bool has_configuration(const Invocation& invocation, Client& client, Streams& streams);

std::string date_line(Time now);  // "Sun Nov 15 20:44:45 2026\n"

// "slurm_load_jobs error: Invalid job id specified": what clients look for, without the tool's
// name.
void print_api_error(Streams& streams, std::string_view function, const Error& error);

std::vector<std::string> split_list(std::string_view text);  // at commas, none empty

}  // namespace sluice
