// core/query/columns_of.h
//
// How the columns of a table are filled: a row per column, with a number or a text. A text may be
// built in `scratch` or point into the record.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster.h"
#include "core/limits/tres.h"
#include "model/columns.h"
#include "model/filter.h"
#include "model/table.h"

namespace sluice {

template <typename Record>
struct ColumnSource {
    using Number = std::int64_t (*)(const Record&, const Snapshot&);
    using Text = std::string_view (*)(const Record&, const Snapshot&, std::string& scratch);

    ColumnId id = 0;
    Number number = nullptr;
    Text text = nullptr;

    template <typename Enum>
    constexpr ColumnSource(Enum column, Number fill)
        : id(static_cast<ColumnId>(column)), number(fill) {}
    template <typename Enum>
    constexpr ColumnSource(Enum column, Text fill)
        : id(static_cast<ColumnId>(column)), text(fill) {}
};

struct StepRow {
    const Job* job = nullptr;
    const Step* step = nullptr;  // null: the batch script
};

// An association in listings of shares.
struct ShareRow {
    const FairShare* shares = nullptr;
    const ShareLine* line = nullptr;
    std::uint32_t depth = 0;
    const std::map<std::string, double>* run_seconds = nullptr;  // TRES that running jobs may use
};
// Those that the filter names: users by `names`, accounts by `accounts`. Accounts are listed
// whichever users are named.
std::vector<ShareRow> select_shares(const FairShare& shares, const Filter& filter);
// TRES-seconds by line, up to the limits of the jobs.
std::vector<std::map<std::string, double>> run_seconds_by_line(const Snapshot& snapshot);

const std::vector<ColumnSource<ShareRow>>& share_columns();
const std::vector<ColumnSource<Job>>& job_columns();
const std::vector<ColumnSource<Node>>& node_columns();
const std::vector<ColumnSource<Partition>>& partition_columns();
const std::vector<ColumnSource<StepRow>>& step_columns();
const std::vector<ColumnSource<Reservation>>& reservation_columns();

inline std::int64_t unix_or_absent(const std::optional<Time>& time) {
    return time ? to_unix(*time) : kAbsent;
}
inline std::int64_t seconds_of(const TimeLimit& limit) {
    return limit.unlimited() ? kUnlimited : limit.length().count();
}
template <typename T>
std::int64_t or_absent(const std::optional<T>& value) {
    return value ? static_cast<std::int64_t>(*value) : kAbsent;
}
template <typename T>
std::int64_t or_unlimited(const std::optional<T>& value) {
    return value ? static_cast<std::int64_t>(*value) : kUnlimited;
}

}  // namespace sluice
