// cli/sluice/history_reader.h
//
// The output of `sacct -P` as runs of jobs with their steps, one after the other.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/sluice/history_columns.h"
#include "model/policy.h"

namespace sluice {

struct HistorySource {
    const Policy& policy;      // for associations
    std::string cluster;       // to import into
    bool any_cluster = false;  // also lines that name another one
    char delimiter = '|';
};

class HistoryReader {
public:
    HistoryReader(const HistorySource& source, std::function<Result<void>(AccountedRun)> each);

    // A run is complete with the line of the next job, or with the end. An error is of `each`, or
    // of the header. Bad lines are collected.
    Result<void> read(const std::string& path, std::string_view text);

    struct BadLine {
        std::size_t number = 0;
        std::string text;  // what is wrong, with the file and the line
    };
    const std::vector<BadLine>& bad_lines() const { return bad_; }
    const std::vector<std::string>& unused_columns() const { return unused_; }
    std::size_t unfinished() const { return unfinished_; }  // jobs
    std::size_t without_association() const { return without_association_; }
    std::size_t steps() const { return steps_; }
    // Called now and then with the number of lines.
    std::function<void(std::size_t)> progress;

private:
    Result<void> read_header(const TableRow& row);
    Result<void> read_line(const TableRow& row);
    Result<HistoryLine> parse(const TableRow& row) const;
    Result<void> begin_run(const TableRow& row, HistoryLine line);
    Result<void> add_step(const TableRow& row, HistoryLine line);
    Result<void> end_run();
    std::optional<UserId> user_of(const HistoryLine& line);
    std::string name_of(UserId user);
    GroupId group_of(const HistoryLine& line, UserId user);
    std::uint32_t association_of(const HistoryLine& line, const AccountedJob& job) const;

    HistorySource source_;
    std::function<Result<void>(AccountedRun)> each_;
    std::vector<const HistoryColumn*> columns_;  // null: not used
    std::optional<AccountedRun> run_;
    std::optional<std::uint32_t> left_out_;           // a job: its steps are left out, too
    std::map<std::uint32_t, std::uint32_t> runs_of_;  // by job: how often it was seen
    std::map<std::string, std::optional<UserId>> users_;
    std::map<UserId, std::string> names_;
    std::map<std::pair<std::string, UserId>, GroupId> groups_;
    // By account and user.
    std::multimap<std::pair<std::string, std::string>, const Association*> associations_;
    std::vector<BadLine> bad_;
    std::vector<std::string> unused_;
    std::size_t unfinished_ = 0, without_association_ = 0, steps_ = 0;
};

}  // namespace sluice
