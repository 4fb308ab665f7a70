// cli/sreport/usage.h
//
// Usage over a time, added up from the largest periods that fit into it: months, days and, at the
// ends, hours. Days and months begin at midnight, local time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/client.h"
#include "model/accounting_question.h"

namespace sluice {

struct PeriodSpan {
    RollupPeriod period = RollupPeriod::Hour;
    Time start{}, end{};
    bool operator==(const PeriodSpan&) const = default;
};
// Covers the time without gaps. Start and end are whole hours.
std::vector<PeriodSpan> spans_of(Time start, Time end);

struct UsageScope {
    std::string cluster;
    Time start{}, end{};
};

// By association (or wckey) and TRES, in amount * seconds.
using UsageSums = std::map<std::pair<std::uint32_t, std::string>, std::uint64_t>;
Result<UsageSums> fetch_usage(Client& client, const UsageScope& scope,
                              AccountingQuestion::Kind kind);

// By TRES. The count is that of the end of the time.
using ClusterSums = std::map<std::string, ClusterUsageRow>;
Result<ClusterSums> fetch_cluster_usage(Client& client, const UsageScope& scope);
std::uint64_t reported_of(const ClusterUsageRow& usage);  // all parts together

}  // namespace sluice
