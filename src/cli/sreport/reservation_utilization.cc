// cli/sreport/reservation_utilization.cc
//
// How much of the reservations was used by jobs. Reservations that were there in the time of the
// report are shown as a whole.
#include <algorithm>

#include "base/text.h"
#include "cli/common/ask_accounting.h"
#include "cli/sreport/reports.h"
#include "cli/sreport/sheet.h"
#include "model/hostlist.h"
#include "model/reservation.h"
#include "model/times.h"

namespace sluice {

namespace {

// clang-format off
constexpr SreportField kReservationFields[] = {
    {"Cluster",       "Cluster",       9},
    {"Name",          "Name",          9},
    {"Start",         "Start",        19},
    {"End",           "End",          19},
    {"Associations",  "Associations", 15, false},
    {"Flags",         "Flags",        20, false},
    {"Nodes",         "Nodes",        15, false},
    {"ReservationId", "Id",            8, false},
    {"TotalTime",     "TotalTime",     9, false},
    {"TresCount",     "TRES count",   10, false},
    {"TresName",      "TRES Name",    14},
    {"TresTime",      "TRES Time",     9, false},
    {"Allocated",     "Allocated",    20},
    {"Idle",          "Idle",         20},
};
// clang-format on

struct ReservationUse {
    const std::string& cluster;
    const AccountedReservation& reservation;
    const std::vector<AccountedRun>& runs;
};

bool is_wanted(const ReportRequest& request, const AccountedReservation& reservation) {
    const ReportConditions& conditions = request.conditions;
    if (!is_selected(conditions.names, reservation.name)) return false;
    if (conditions.nodes.empty()) return true;
    const Result<Hostlist> wanted = Hostlist::parse(conditions.nodes);
    const Result<Hostlist> held = Hostlist::parse(reservation.node_names);
    if (!wanted || !held) return false;
    return std::any_of(wanted->names().begin(), wanted->names().end(),
                       [&](const std::string& name) { return held->contains(name); });
}

std::uint64_t seconds_between(Time start, Time end) {
    return end > start ? static_cast<std::uint64_t>((end - start).count()) : 0;
}

// Of the jobs that ran in it.
std::uint64_t allocated_in(const ReservationUse& use, const std::string& tres, Time end) {
    std::uint64_t sum = 0;
    for (const AccountedRun& run : use.runs) {
        const AccountedJob& job = run.job;
        auto amount = job.tres_allocated.find(tres);
        if (job.reservation != use.reservation.name || !job.start ||
            amount == job.tres_allocated.end()) {
            continue;
        }
        sum += amount->second * seconds_between(std::max(*job.start, use.reservation.start),
                                                std::min(job.end.value_or(end), end));
    }
    return sum;
}

std::string flags_text(std::uint32_t flags) {
    Reservation reservation;
    reservation.flags = flags;
    return print_reservation_flags(reservation);
}

void add_lines(const ReportRequest& request, const ReservationUse& use, ReportSheet& sheet) {
    const AccountedReservation& reservation = use.reservation;
    const Time end = std::min(reservation.end, std::max(request.now, reservation.start));
    const std::uint64_t length = seconds_between(reservation.start, end);
    for (const auto& [tres, count] : reservation.tres) {
        if (request.shows_tres() && !contains(request.tres, tres)) continue;
        const std::uint64_t total = count * length;
        const std::uint64_t used = std::min(allocated_in(use, tres, end), total);
        const TimeFormat format = request.settings.time;
        const auto all = static_cast<double>(total);
        sheet.begin_line();
        sheet.set("Cluster", use.cluster);
        sheet.set("Name", reservation.name);
        sheet.set("Start", print_moment(reservation.start));
        sheet.set("End", print_moment(reservation.end));
        std::vector<std::string> associations;
        for (std::uint32_t id : reservation.associations) {
            associations.push_back(std::to_string(id));
        }
        sheet.set("Associations", join(associations, ","));
        sheet.set("Flags", flags_text(reservation.flags));
        sheet.set("Nodes", reservation.node_names);
        sheet.set("ReservationId", std::to_string(reservation.id));
        sheet.set("TotalTime", amount_text({length, static_cast<double>(length)}, format));
        sheet.set("TresCount", std::to_string(count));
        sheet.set("TresName", tres);
        sheet.set("TresTime", amount_text({total, all}, format));
        sheet.set("Allocated", amount_text({used, all}, format));
        sheet.set("Idle", amount_text({total - used, all}, format));
    }
}

Result<std::vector<AccountedRun>> fetch_runs(const ReportRequest& request,
                                             const std::string& cluster,
                                             const std::vector<AccountedReservation>& all) {
    if (all.empty()) return std::vector<AccountedRun>{};
    AccountingQuestion question;
    question.kind = AccountingQuestion::Kind::Jobs;
    question.jobs.clusters = {cluster};
    question.jobs.no_steps = question.jobs.all_runs = true;
    question.jobs.start = all.front().start;
    for (const AccountedReservation& each : all) {
        question.jobs.start = std::min(*question.jobs.start, each.start);
    }
    question.jobs.end = request.now;
    return ask_rows<AccountedRun>(request.client, question);
}

}  // namespace

Result<std::string> reservation_utilization(const ReportRequest& request) {
    ReportSheet sheet(kReservationFields, request.settings);
    for (const std::string& cluster : request.clusters) {
        AccountingQuestion question;
        question.kind = AccountingQuestion::Kind::Reservations;
        question.cluster = cluster;
        question.start = request.conditions.start;
        question.end = request.conditions.end;
        std::vector<AccountedReservation> all =
            TRY(ask_rows<AccountedReservation>(request.client, question));
        std::erase_if(all, [&](const auto& each) { return !is_wanted(request, each); });
        const std::vector<AccountedRun> runs = TRY(fetch_runs(request, cluster, all));
        for (const AccountedReservation& each : all) {
            add_lines(request, {cluster, each, runs}, sheet);
        }
    }
    const std::string title =
        title_text(request, {"Reservation Utilization", false, usage_units(request, true)});
    const std::string table = TRY(sheet.text(request));
    return title + table;
}

}  // namespace sluice
