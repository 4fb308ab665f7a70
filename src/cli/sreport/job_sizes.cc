// cli/sreport/job_sizes.cc
//
// The time used by jobs of different sizes, by account or wckey.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/common/ask_accounting.h"
#include "cli/sreport/ids.h"
#include "cli/sreport/reports.h"
#include "cli/sreport/sheet.h"

namespace sluice {

namespace {

// What is counted of a run: its size, and the time in the period of the report.
struct CountedRun {
    std::uint64_t size = 0;
    std::uint64_t seconds = 0;  // size * time
};

// One line of the report: an account (with the ones below it) or a wckey.
struct SizeLine {
    std::string cluster, name;
    std::vector<CountedRun> runs;
};

std::uint64_t amount_of(const AccountedJob& job, const std::string& tres) {
    auto found = job.tres_allocated.find(tres);
    return found == job.tres_allocated.end() ? 0 : found->second;
}

std::optional<CountedRun> counted(const ReportRequest& request, const AccountedJob& job) {
    if (!job.start) return {};
    const Time start = std::max(*job.start, request.conditions.start);
    const Time end = std::min(job.end.value_or(request.now), request.conditions.end);
    if (end < start) return {};
    CountedRun run;
    run.size = amount_of(job, request.tres.front());
    run.seconds = run.size * static_cast<std::uint64_t>((end - start).count());
    return run;
}

Result<std::vector<AccountedRun>> fetch_jobs(const ReportRequest& request) {
    const ReportConditions& conditions = request.conditions;
    AccountingQuestion question;
    question.kind = AccountingQuestion::Kind::Jobs;
    JobSelection& selection = question.jobs;
    selection.clusters = request.clusters;
    selection.jobs = conditions.jobs;
    selection.users = TRY(user_ids(conditions.users));
    selection.groups = TRY(group_ids(conditions.groups));
    selection.partitions = conditions.partitions;
    selection.wckeys = conditions.wckeys;
    selection.nodes = conditions.nodes;
    selection.start = conditions.start;
    selection.end = conditions.end;
    selection.all_runs = true;
    selection.no_steps = true;
    return ask_rows<AccountedRun>(request.client, question);
}

// ---- by which names

// The account and all above it, up to root.
std::vector<std::string> path_of(const ReportRequest& request, const std::string& cluster,
                                 const std::string& account) {
    std::vector<std::string> path = {account};
    const auto& all = request.policy.associations;
    auto at = std::find_if(all.begin(), all.end(), [&](const Association& each) {
        return each.cluster == cluster && each.user.empty() && each.account == account;
    });
    while (at != all.end() && at->parent) {
        const std::uint32_t parent = at->parent;
        at = std::find_if(all.begin(), all.end(),
                          [&](const Association& each) { return each.id == parent; });
        if (at != all.end()) path.push_back(at->account);
    }
    return path;
}

// The accounts whose lines count a job of `account`.
std::vector<std::string> accounts_for(const ReportRequest& request, const std::string& cluster,
                                      const std::string& account) {
    const ReportConditions& conditions = request.conditions;
    if (conditions.flat_view) {
        return is_selected(conditions.accounts, account) ? std::vector<std::string>{account}
                                                         : std::vector<std::string>{};
    }
    const std::vector<std::string> path = path_of(request, cluster, account);
    std::vector<std::string> tops = conditions.accounts;
    if (tops.empty()) tops = {"root"};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (!contains(tops, path[i])) continue;
        if (!conditions.account_as_parent) {
            names.push_back(path[i]);
        } else if (i > 0) {
            names.push_back(path[i - 1]);
        }
    }
    return names;
}

enum class SizeNames : unsigned char { Account, AccountAndWckey, Wckey };

std::vector<std::string> names_for(const ReportRequest& request, SizeNames by,
                                   const AccountedRun& run) {
    if (by == SizeNames::Wckey) return {run.job.wckey};
    std::vector<std::string> names = accounts_for(request, run.cluster, run.job.account);
    if (by == SizeNames::AccountAndWckey) {
        for (std::string& name : names) name += ":" + run.job.wckey;
    }
    return names;
}

std::vector<SizeLine> lines_of(const ReportRequest& request, SizeNames by,
                               const std::vector<AccountedRun>& runs) {
    std::map<std::pair<std::string, std::string>, std::vector<CountedRun>> lines;
    for (const AccountedRun& run : runs) {
        const std::optional<CountedRun> part = counted(request, run.job);
        if (!part) continue;
        for (const std::string& name : names_for(request, by, run)) {
            lines[{run.cluster, name}].push_back(*part);
        }
    }
    std::vector<SizeLine> result;
    for (auto& [key, parts] : lines) result.push_back({key.first, key.second, std::move(parts)});
    return result;
}

// ---- groups of sizes

struct SizeGroup {
    std::uint64_t least = 0;
    std::uint64_t most = 0;  // 0: no limit
    std::string name;        // of the column
};

std::vector<SizeGroup> groups_of(const ReportRequest& request, const std::vector<SizeLine>& lines) {
    const std::string unit = request.shows_tres() ? "TRES" : "CPUs";
    std::vector<SizeGroup> groups;
    if (request.conditions.individual) {
        std::set<std::uint64_t> sizes;
        for (const SizeLine& line : lines) {
            for (const CountedRun& run : line.runs) sizes.insert(run.size);
        }
        for (std::uint64_t size : sizes) {
            groups.push_back({size, size, fmt::format("{} {}", size, unit)});
        }
        return groups;
    }
    std::uint64_t least = 0;
    for (std::uint64_t next : request.conditions.grouping) {
        groups.push_back({least, next - 1, fmt::format("{}-{} {}", least, next - 1, unit)});
        least = next;
    }
    groups.push_back({least, 0, fmt::format(">= {} {}", least, unit)});
    return groups;
}

bool is_in(const CountedRun& run, const SizeGroup& group) {
    const bool has_most = group.most != 0 || group.name.front() != '>';
    return run.size >= group.least && (!has_most || run.size <= group.most);
}

double used_by(const std::vector<CountedRun>& runs) {
    double seconds = 0;
    for (const CountedRun& run : runs) seconds += static_cast<double>(run.seconds);
    return seconds;
}

// What the part of the cluster is counted in: jobs, or their time.
double share_of(const ReportRequest& request, const std::vector<CountedRun>& runs) {
    return request.conditions.print_job_count ? static_cast<double>(runs.size()) : used_by(runs);
}

void set_group(const ReportRequest& request, const SizeLine& line, const SizeGroup& group,
               ReportSheet& sheet) {
    std::uint64_t seconds = 0, count = 0;
    for (const CountedRun& run : line.runs) {
        if (!is_in(run, group)) continue;
        seconds += run.seconds;
        ++count;
    }
    if (request.conditions.print_job_count) {
        sheet.set(group.name, fmt::to_string(count));
    } else {
        sheet.set(group.name, Amount{seconds, used_by(line.runs)});
    }
}

struct SizeReport {
    SizeNames by;
    SreportField name;
    std::string title;
};

Result<std::string> job_sizes(const ReportRequest& request, const SizeReport& wanted) {
    if (request.tres.size() > 1) {
        return Error{ErrorCode::BadArgument,
                     " Job report only supports a single --tres type.\n Generate a separate report "
                     "for each TRES type."};
    }
    const std::vector<AccountedRun> runs = TRY(fetch_jobs(request));
    const std::vector<SizeLine> lines = lines_of(request, wanted.by, runs);
    const std::vector<SizeGroup> groups = groups_of(request, lines);
    std::vector<SreportField> fields = {{"Cluster", "Cluster", 9}, wanted.name};
    const std::uint32_t width = has_percent(request.settings.time) ? 11 : 13;
    for (const SizeGroup& group : groups) {
        fields.push_back(
            {group.name, group.name, width, true, !request.conditions.print_job_count});
    }
    fields.push_back({"% of cluster", "% of cluster", 12});
    std::map<std::string, double> totals;
    for (const AccountedRun& run : runs) {
        if (auto part = counted(request, run.job)) {
            totals[run.cluster] += share_of(request, {*part});
        }
    }
    ReportSheet sheet(fields, request.settings);
    for (const SizeLine& line : lines) {
        sheet.begin_line();
        sheet.set("Cluster", line.cluster);
        sheet.set(wanted.name.name, line.name);
        for (const SizeGroup& group : groups) set_group(request, line, group, sheet);
        sheet.set("% of cluster", percent_text(share_of(request, line.runs), totals[line.cluster]));
    }
    std::string units =
        request.conditions.print_job_count
            ? "Units are in number of jobs ran"
            : fmt::format("Time reported in {}", time_format_words(request.settings.time));
    if (request.shows_tres()) units = fmt::format("TRES type is {}\n{}", request.tres[0], units);
    const std::string table = TRY(sheet.text(request));
    return title_text(request, {wanted.title, true, units}) + table;
}

}  // namespace

Result<std::string> sizes_by_account(const ReportRequest& request) {
    return job_sizes(request, {SizeNames::Account, {"Account", "Account", 9}, "Job Sizes"});
}

Result<std::string> sizes_by_account_and_wckey(const ReportRequest& request) {
    const SreportField name{"Account", "Account", 20, true, false, true};
    return job_sizes(request, {SizeNames::AccountAndWckey, name, "Job Sizes"});
}

Result<std::string> sizes_by_wckey(const ReportRequest& request) {
    return job_sizes(request, {SizeNames::Wckey, {"Wckey", "Wckey", 9}, "Job Sizes by Wckey"});
}

}  // namespace sluice
