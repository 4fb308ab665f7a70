// cli/sreport/user_reports.cc
//
// What users, accounts and wckeys have used.
#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "cli/common/ask_policy.h"
#include "cli/sreport/reports.h"
#include "cli/sreport/sheet.h"
#include "cli/sreport/usage.h"
#include "surface/names.h"

namespace sluice {

namespace {

using TresSums = std::map<std::string, std::uint64_t>;

// A line for each TRES.
struct UsedBy {
    std::string cluster, account, user, wckey;
    TresSums used;
};

// The fields of these reports; each shows some of them, in its own order.
constexpr SreportField kCluster{"Cluster", "Cluster", 9};
constexpr SreportField kLogin{"Login", "Login", 9};
constexpr SreportField kProper{"Proper", "Proper Name", 15};
constexpr SreportField kAccount{"Accounts", "Account", 15};
constexpr SreportField kTreeAccount{"Accounts", "Account", 20, true, false, true};
constexpr SreportField kWckey{"Wckey", "WCKey", 15};
constexpr SreportField kTresName{"TresName", "TRES Name", 14};
constexpr SreportField kTresCount{"TresCount", "TRES Count", 10, false};
constexpr SreportField kUsed{"Used", "Used", 8, true, true};
constexpr SreportField kEnergy{"Energy", "Energy", 8, true, true};

// The totals of the clusters are 100 %.
using Totals = std::map<std::string, ClusterSums>;

class UsageReport {
public:
    UsageReport(const ReportRequest& request, std::vector<SreportField> fields, bool has_energy)
        : request_(request),
          sheet_(complete(request, std::move(fields), has_energy), request.settings) {}

    Result<void> load_totals() {
        for (const std::string& cluster : request_.clusters) {
            totals_[cluster] = TRY(fetch_cluster_usage(
                request_.client, {cluster, request_.conditions.start, request_.conditions.end}));
            for (const std::string& tres : request_.tres) {
                sheet_.make_room("Used", reported_of(totals_[cluster][tres]));
            }
        }
        return {};
    }

    void add(const UsedBy& line) {
        for (const std::string& tres : request_.tres) {
            sheet_.begin_line();
            sheet_.set("Cluster", line.cluster);
            sheet_.set("Accounts", line.account);
            sheet_.set("Login", line.user);
            sheet_.set("Proper", line.user.empty() ? "" : names_.full_name(line.user));
            sheet_.set("Wckey", line.wckey);
            sheet_.set("TresName", tres);
            sheet_.set("TresCount", fmt::to_string(totals_[line.cluster][tres].count));
            sheet_.set("Used", amount(line, tres));
            sheet_.set("Energy", amount(line, "energy"));
        }
    }

    Result<std::string> text(const std::string& title) const {
        const std::string head = title_text(request_, {title, true, usage_units(request_, false)});
        const std::string table = TRY(sheet_.text(request_));
        return head + table;
    }

private:
    static std::vector<SreportField> complete(const ReportRequest& request,
                                              std::vector<SreportField> fields, bool has_energy) {
        SreportField tres = kTresName;
        tres.is_shown = request.shows_tres();
        fields.push_back(tres);
        fields.push_back(kTresCount);
        fields.push_back(kUsed);
        SreportField energy = kEnergy;
        energy.is_shown = !request.shows_tres();
        if (has_energy) fields.push_back(energy);
        return fields;
    }
    Amount amount(const UsedBy& line, const std::string& tres) {
        auto used = line.used.find(tres);
        return {used == line.used.end() ? 0 : used->second,
                static_cast<double>(reported_of(totals_[line.cluster][tres]))};
    }

    const ReportRequest& request_;
    ReportSheet sheet_;
    Totals totals_;
    Names names_;
};

std::uint64_t first_of(const ReportRequest& request, const UsedBy& line) {
    auto used = line.used.find(request.tres.front());
    return used == line.used.end() ? 0 : used->second;
}

void sort_by_usage(const ReportRequest& request, std::vector<UsedBy>& lines) {
    std::stable_sort(lines.begin(), lines.end(), [&](const UsedBy& a, const UsedBy& b) {
        return first_of(request, a) > first_of(request, b);
    });
}

bool has_usage(const TresSums& used) {
    return std::any_of(used.begin(), used.end(), [](const auto& each) { return each.second > 0; });
}

UsageScope scope_of(const ReportRequest& request, const std::string& cluster) {
    return {cluster, request.conditions.start, request.conditions.end};
}

std::map<std::uint32_t, TresSums> by_id(const UsageSums& sums) {
    std::map<std::uint32_t, TresSums> result;
    for (const auto& [key, seconds] : sums) result[key.first][key.second] += seconds;
    return result;
}

// Of users in accounts; their associations with single partitions are added.
Result<std::vector<UsedBy>> used_by_users(const ReportRequest& request) {
    std::vector<UsedBy> lines;
    for (const std::string& cluster : request.clusters) {
        const UsageSums sums = TRY(fetch_usage(request.client, scope_of(request, cluster),
                                               AccountingQuestion::Kind::Usage));
        std::map<std::pair<std::string, std::string>, TresSums> users;
        for (const auto& [id, used] : by_id(sums)) {
            const Association* association = find_association(request.policy, id);
            if (!association || association->user.empty()) continue;
            TresSums& sum = users[{association->user, association->account}];
            for (const auto& [tres, seconds] : used) sum[tres] += seconds;
        }
        for (const auto& [who, used] : users) {
            if (has_usage(used) && is_selected(request.conditions.users, who.first) &&
                is_selected(request.conditions.accounts, who.second)) {
                lines.push_back({cluster, who.second, who.first, "", used});
            }
        }
    }
    return lines;
}

// ---- the tree of accounts

class AccountTree {
public:
    AccountTree(const ReportRequest& request, const std::string& cluster, const UsageSums& sums)
        : request_(request), cluster_(cluster) {
        for (const auto& [id, used] : by_id(sums)) add(id, used);
    }

    // An account, its users, then the accounts below it.
    void lines_below(std::uint32_t parent, std::size_t depth, bool is_selected_above,
                     std::vector<UsedBy>& lines) const {
        for (const Association& each : request_.policy.associations) {
            if (each.cluster != cluster_ || !each.user.empty() || each.parent != parent) continue;
            const bool selected =
                is_selected_above || is_selected(request_.conditions.accounts, each.account);
            if (selected) add_account(each, depth, lines);
            lines_below(each.id, depth + 1, selected && !request_.conditions.accounts.empty(),
                        lines);
        }
    }

private:
    // To the association and all above it.
    void add(std::uint32_t id, const TresSums& used) {
        for (const Association* each = find_association(request_.policy, id); each;
             each = each->parent ? find_association(request_.policy, each->parent) : nullptr) {
            for (const auto& [tres, seconds] : used) totals_[each->id][tres] += seconds;
        }
    }

    void add_account(const Association& account, std::size_t depth,
                     std::vector<UsedBy>& lines) const {
        auto total = totals_.find(account.id);
        if (total == totals_.end() || !has_usage(total->second)) return;
        const std::string name =
            (request_.conditions.tree ? std::string(depth, ' ') : "") + account.account;
        const std::string user_name =
            (request_.conditions.tree ? std::string(depth + 1, ' ') : "") + account.account;
        if (request_.conditions.users.empty()) {
            lines.push_back({cluster_, name, "", "", total->second});
        }
        std::map<std::string, TresSums> users;
        for (const Association& each : request_.policy.associations) {
            auto used = totals_.find(each.id);
            if (each.parent != account.id || each.user.empty() || used == totals_.end()) continue;
            if (!is_selected(request_.conditions.users, each.user)) continue;
            for (const auto& [tres, seconds] : used->second) users[each.user][tres] += seconds;
        }
        for (const auto& [user, used] : users) {
            if (has_usage(used)) lines.push_back({cluster_, user_name, user, "", used});
        }
    }

    const ReportRequest& request_;
    const std::string& cluster_;
    std::map<std::uint32_t, TresSums> totals_;
};

// ---- wckeys

Result<std::vector<UsedBy>> used_by_wckeys(const ReportRequest& request) {
    std::vector<UsedBy> lines;
    for (const std::string& cluster : request.clusters) {
        const UsageSums sums = TRY(fetch_usage(request.client, scope_of(request, cluster),
                                               AccountingQuestion::Kind::WckeyUsage));
        for (const auto& [id, used] : by_id(sums)) {
            for (const Wckey& wckey : request.policy.wckeys) {
                if (wckey.id != id || !has_usage(used)) continue;
                if (is_selected(request.conditions.users, wckey.user) &&
                    is_selected(request.conditions.wckeys, wckey.name)) {
                    lines.push_back({cluster, "", wckey.user, wckey.name, used});
                }
            }
        }
    }
    return lines;
}

Result<std::string> printed(UsageReport& report, const std::vector<UsedBy>& lines,
                            const std::string& title) {
    TRY(report.load_totals());
    for (const UsedBy& line : lines) report.add(line);
    return report.text(title);
}

// All accounts of a user as one line.
std::vector<UsedBy> grouped_by_user(const std::vector<UsedBy>& lines) {
    std::vector<UsedBy> grouped;
    for (const UsedBy& line : lines) {
        auto same = std::find_if(grouped.begin(), grouped.end(), [&](const UsedBy& each) {
            return each.cluster == line.cluster && each.user == line.user;
        });
        if (same == grouped.end()) {
            grouped.push_back(line);
            continue;
        }
        same->account += "," + line.account;
        for (const auto& [tres, seconds] : line.used) same->used[tres] += seconds;
    }
    return grouped;
}

}  // namespace

Result<std::string> user_utilization_by_account(const ReportRequest& request) {
    std::vector<UsedBy> lines = TRY(used_by_users(request));
    sort_by_usage(request, lines);
    UsageReport report(request, {kCluster, kLogin, kProper, kAccount}, true);
    return printed(report, lines, "Cluster/User/Account Utilization");
}

Result<std::string> account_utilization_by_user(const ReportRequest& request) {
    std::vector<UsedBy> lines;
    for (const std::string& cluster : request.clusters) {
        const UsageSums sums = TRY(fetch_usage(request.client, scope_of(request, cluster),
                                               AccountingQuestion::Kind::Usage));
        AccountTree(request, cluster, sums).lines_below(0, 0, false, lines);
    }
    UsageReport report(
        request, {kCluster, request.conditions.tree ? kTreeAccount : kAccount, kLogin, kProper},
        true);
    return printed(report, lines, "Cluster/Account/User Utilization");
}

Result<std::string> user_utilization_by_wckey(const ReportRequest& request) {
    std::vector<UsedBy> lines = TRY(used_by_wckeys(request));
    sort_by_usage(request, lines);
    UsageReport report(request, {kCluster, kLogin, kProper, kWckey}, false);
    return printed(report, lines, "Cluster/User/WCKey Utilization");
}

Result<std::string> wckey_utilization_by_user(const ReportRequest& request) {
    std::vector<UsedBy> lines = TRY(used_by_wckeys(request));
    std::stable_sort(lines.begin(), lines.end(), [](const UsedBy& a, const UsedBy& b) {
        return std::tie(a.cluster, a.wckey, a.user) < std::tie(b.cluster, b.wckey, b.user);
    });
    UsageReport report(request, {kCluster, kWckey, kLogin, kProper}, false);
    return printed(report, lines, "Cluster/WCKey/User Utilization");
}

Result<std::string> top_users(const ReportRequest& request) {
    std::vector<UsedBy> lines = TRY(used_by_users(request));
    if (request.conditions.group) lines = grouped_by_user(lines);
    sort_by_usage(request, lines);
    // The first users of each cluster.
    std::map<std::string, std::uint32_t> counts;
    std::erase_if(lines, [&](const UsedBy& line) {
        return ++counts[line.cluster] > request.conditions.top_count;
    });
    UsageReport report(request, {kCluster, kLogin, kProper, kAccount}, true);
    return printed(report, lines, fmt::format("Top {} Users", request.conditions.top_count));
}

}  // namespace sluice
