// cli/sluice/history_columns.h
//
// The columns of `sacct -P` that sluice import history reads, and one line of such a file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/accounted.h"
#include "model/text_table.h"

namespace sluice {

// The cells of one line, of a job or of a step.
struct HistoryLine {
    JobRef id;                     // JobID
    std::optional<JobRef> raw_id;  // JobIDRaw
    std::string name, user, group, account, cluster;
    std::optional<std::uint32_t> uid, gid, restarts;
    std::optional<ShownState> state;
    std::optional<UserId> killed_by;
    std::optional<Time> submit, eligible, start, end;
    std::optional<Seconds> elapsed, suspended;
    std::optional<std::uint32_t> cpus, nodes, cpus_requested, nodes_requested;
    std::optional<Tres> tres_allocated, tres_requested;
    std::string node_names;
    ExitStatus exit;
    TimeLimit time_limit;
    AccountedJob job;    // what only jobs have
    AccountedStep step;  // what only steps have
    std::optional<Microseconds> total_cpu;
    TaskUsage usage;          // of amounts, the total is the average yet
    bool is_sampled = false;  // a cell of `usage` is filled
};

struct HistoryColumn {
    std::string_view name;
    // False: the cell is not as `expected`.
    bool (*set)(HistoryLine& line, std::string_view cell) = nullptr;
    std::string_view expected = {};
};
const HistoryColumn* find_history_column(std::string_view name);
// A column that follows from others, or whose numbers mean nothing in another database.
bool is_derived_column(std::string_view name);

}  // namespace sluice
