// core/query/share_columns.cc: the columns of associations with their shares and usage (sshare).
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/query/columns_of.h"
#include "core/schedule/priority.h"

namespace sluice {

namespace {

using TresSeconds = std::map<std::string, double>;
using View = const Snapshot&;
using Text = std::string_view;

// Compat: these are always listed, in this order, before the others that accounting knows.
constexpr std::string_view kFirstTres[] = {"cpu",     "mem",     "energy", "node",
                                           "billing", "fs/disk", "vmem",   "pages"};

std::vector<std::string> tres_names(const Policy& policy) {
    std::vector<std::string> names(std::begin(kFirstTres), std::end(kFirstTres));
    for (const TresKind& kind : policy.tres) {
        if (std::find(names.begin(), names.end(), kind.name) == names.end())
            names.push_back(kind.name);
    }
    return names;
}

// "cpu=600,mem=0,...". What accounting has no name for comes last.
std::string print_amounts(const Policy& policy, const TresSeconds& amounts) {
    std::string text;
    const std::vector<std::string> names = tres_names(policy);
    const auto append = [&](const std::string& name, double amount) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, amount);
    };
    for (const std::string& name : names) {
        auto found = amounts.find(name);
        append(name, found == amounts.end() ? 0 : found->second);
    }
    for (const auto& [name, amount] : amounts) {
        if (std::find(names.begin(), names.end(), name) == names.end()) append(name, amount);
    }
    return text;
}

std::string print_limits(const Policy& policy, const Tres& limits) {
    std::string text;
    for (const std::string& name : tres_names(policy)) {
        auto found = limits.find(name);
        if (found != limits.end())
            text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, found->second);
    }
    for (const auto& [name, limit] : limits) {
        const std::vector<std::string> known = tres_names(policy);
        if (std::find(known.begin(), known.end(), name) == known.end())
            text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, limit);
    }
    return text;
}

template <double ShareLine::*Member>
Text fraction(const ShareRow& row, View, std::string& scratch) {
    return scratch = fmt::format("{}", row.line->*Member);
}

template <std::string Association::*Member>
Text own_text(const ShareRow& row, View, std::string&) {
    return row.line->association->*Member;
}

// Compat: the root has neither shares nor a normalized usage.
std::int64_t raw_shares(const ShareRow& row, View) {
    if (!row.line->parent) return kAbsent;
    return row.line->has_own_shares() ? std::int64_t{row.line->association->shares} : kUnlimited;
}

Text norm_usage(const ShareRow& row, View view, std::string& scratch) {
    return row.line->parent ? fraction<&ShareLine::norm_usage>(row, view, scratch) : Text();
}

Text factor(const ShareRow& row, View view, std::string& scratch) {
    const bool has_one = row.line->is_user() || !row.shares->is_fair_tree;
    return has_one ? fraction<&ShareLine::factor>(row, view, scratch) : Text();
}

Text level(const ShareRow& row, View view, std::string& scratch) {
    const bool has_one = row.shares->is_fair_tree && row.line->parent && row.line->has_own_shares();
    return has_one ? fraction<&ShareLine::level>(row, view, scratch) : Text();
}

Text parent_account(const ShareRow& row, View, std::string&) {
    return row.line->parent ? Text(row.shares->lines[*row.line->parent].association->account)
                            : Text();
}

// clang-format off
const std::vector<ColumnSource<ShareRow>> kShareColumns = {
    {ShareColumn::Id,             [](const ShareRow& r, View) -> std::int64_t { return r.line->association->id; }},
    {ShareColumn::ParentId,       [](const ShareRow& r, View) -> std::int64_t { return r.line->parent ? std::int64_t{r.line->association->parent} : kAbsent; }},
    {ShareColumn::Cluster,        [](const ShareRow&, View v, std::string&) -> Text { return v.settings->cluster_name; }},
    {ShareColumn::Account,        own_text<&Association::account>},
    {ShareColumn::User,           own_text<&Association::user>},
    {ShareColumn::Partition,      own_text<&Association::partition>},
    {ShareColumn::ParentAccount,  parent_account},
    {ShareColumn::RawShares,      raw_shares},
    {ShareColumn::NormShares,     fraction<&ShareLine::norm_shares>},
    {ShareColumn::RawUsage,       fraction<&ShareLine::raw_usage>},
    {ShareColumn::NormUsage,      norm_usage},
    {ShareColumn::EffectiveUsage, fraction<&ShareLine::effective_usage>},
    {ShareColumn::FairShare,      factor},
    {ShareColumn::LevelFs,        level},
    {ShareColumn::GrpTresMins,    [](const ShareRow& r, View, std::string& s) -> Text { return s = print_limits(*r.shares->policy, r.line->association->of_all.minutes); }},
    {ShareColumn::TresRunSeconds, [](const ShareRow& r, View, std::string& s) -> Text { return s = print_amounts(*r.shares->policy, *r.run_seconds); }},
    {ShareColumn::TresSeconds,    [](const ShareRow& r, View, std::string& s) -> Text { return s = print_amounts(*r.shares->policy, r.line->used.tres_seconds); }},
    {ShareColumn::IsFairTree,     [](const ShareRow& r, View) -> std::int64_t { return r.shares->is_fair_tree; }},
    {ShareColumn::Depth,          [](const ShareRow& r, View) -> std::int64_t { return r.depth; }},
};
// clang-format on

bool is_named(const std::vector<std::string>& names, const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const std::vector<ColumnSource<ShareRow>>& share_columns() {
    return kShareColumns;
}

std::vector<ShareRow> select_shares(const FairShare& shares, const Filter& filter) {
    std::vector<ShareRow> rows;
    std::vector<std::optional<std::uint32_t>> depths(shares.lines.size());  // of the listed ones
    for (std::size_t i = 0; i < shares.lines.size(); ++i) {
        const ShareLine& line = shares.lines[i];
        const bool is_wanted = is_named(filter.accounts, line.association->account) &&
                               (!line.is_user() || is_named(filter.names, line.association->user));
        if (!is_wanted) continue;
        const bool is_below = line.parent && depths[*line.parent];
        depths[i] = is_below ? *depths[*line.parent] + 1 : 0;
        rows.push_back({.shares = &shares, .line = &line, .depth = *depths[i]});
    }
    return rows;
}

// As far as usage was counted: what a job has used since then is still part of it.
std::vector<TresSeconds> run_seconds_by_line(const Snapshot& snapshot) {
    const FairShare& shares = *snapshot.priority_scale->shares;
    std::vector<TresSeconds> sums(shares.lines.size());
    constexpr unsigned kLive = 1u << static_cast<unsigned>(JobState::Running) |
                               1u << static_cast<unsigned>(JobState::Suspended);
    snapshot.jobs.for_each(
        [&](const ChunkSummary<Job>& summary) { return (summary.shown_states & kLive) != 0; },
        [&](const Job& job) {
            if (!is_live(job) || job.time_limit.unlimited()) return;
            const ShareLine* line = shares.find(job.request->account, job.user, job.partition);
            const Seconds left = job.time_limit.length() - job.run.accounted;
            if (!line || left <= Seconds{0}) return;
            const Tres held = tres_of(job, snapshot);
            while (true) {
                TresSeconds& sum = sums[line - shares.lines.data()];
                for (const auto& [name, amount] : held)
                    sum[name] += static_cast<double>(amount) * static_cast<double>(left.count());
                if (!line->parent) break;
                line = &shares.lines[*line->parent];
            }
        });
    return sums;
}

}  // namespace sluice
