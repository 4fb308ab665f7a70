// surface/statistics.h
//
// What slurmctld counts of its own work, as sdiag words it.
#pragma once

#include <string>
#include <string_view>

#include "model/statistics.h"
#include "surface/json.h"

namespace sluice {

enum class RequestOrder : std::uint8_t { Count, Id, TotalTime, AverageTime };

// Requests by type and by user: the largest values first, ids from the smallest on.
void sort_requests(Statistics& statistics, RequestOrder order);
std::string statistics_text(const Statistics& statistics);
// sacctmgr show stats: roll-ups and requests.
std::string accounting_statistics_text(const Statistics& statistics);
std::string statistics_json(const Statistics& statistics, const JsonMeta& meta);

}  // namespace sluice
