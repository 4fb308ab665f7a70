// cli/sreport/cluster_utilization.cc
//
// How much of a cluster was allocated, down, idle or planned.
#include "cli/sreport/reports.h"
#include "cli/sreport/sheet.h"
#include "cli/sreport/usage.h"

namespace sluice {

namespace {

// clang-format off
constexpr SreportField kUtilizationFields[] = {
    {"Cluster",       "Cluster",     9},
    {"TresName",      "TRES Name",  14, false},
    {"Allocated",     "Allocated",   8, true,  true},
    {"Down",          "Down",        8, true,  true},
    {"PlannedDown",   "PLND Down",   8, true,  true},
    {"Idle",          "Idle",        8, true,  true},
    {"Planned",       "Planned",     8, true,  true},
    {"OverCommitted", "Over Comm",   8, false, true},
    {"Reported",      "Reported",    8, true,  true},
    {"TresCount",     "TRES Count", 10, false},
};
// clang-format on

void add_line(const ReportRequest& request, const std::string& cluster,
              const ClusterUsageRow& usage, ReportSheet& sheet) {
    const std::uint64_t reported = reported_of(usage);
    const auto total = static_cast<double>(reported);
    sheet.begin_line();
    sheet.set("Cluster", cluster);
    sheet.set("TresName", usage.tres);
    sheet.set("TresCount", fmt::to_string(usage.count));
    sheet.set("Allocated", Amount{usage.allocated, total});
    sheet.set("Down", Amount{usage.down, total});
    sheet.set("PlannedDown", Amount{usage.planned_down, total});
    sheet.set("Idle", Amount{usage.idle, total});
    sheet.set("Planned", Amount{usage.planned, total});
    sheet.set("OverCommitted", Amount{usage.over, total});
    const double possible =
        static_cast<double>(usage.count) * static_cast<double>(request.length().count());
    sheet.set("Reported", Amount{reported, possible});
}

}  // namespace

Result<std::string> cluster_utilization(const ReportRequest& request) {
    std::vector<SreportField> fields(std::begin(kUtilizationFields), std::end(kUtilizationFields));
    fields[1].is_shown = request.shows_tres();
    ReportSheet sheet(fields, request.settings);
    for (const std::string& cluster : request.clusters) {
        ClusterSums sums = TRY(fetch_cluster_usage(
            request.client, {cluster, request.conditions.start, request.conditions.end}));
        if (sums.empty()) continue;
        for (const std::string& tres : request.tres) {
            if (tres == "node") continue;  // jobs share nodes: CPUs say how much was used
            ClusterUsageRow& usage = sums[tres];
            usage.tres = tres;
            add_line(request, cluster, usage, sheet);
        }
    }
    const std::string title =
        title_text(request, {"Cluster Utilization", false, usage_units(request, false)});
    const std::string table = TRY(sheet.text(request));
    return title + table;
}

}  // namespace sluice
