#include "core/limits/licenses.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/limits/reservations.h"
#include "core/schedule/planner.h"
#include "model/errors.h"

namespace sluice {

namespace {

std::optional<std::uint32_t> total_of(const Cluster& cluster, const std::string& name) {
    for (const auto& [known, total] : cluster.settings().licenses) {
        if (known == name) return total;
    }
    return {};
}

std::uint32_t count_in(const std::vector<LicenseCount>& licenses, const std::string& name) {
    for (const LicenseCount& each : licenses) {
        if (each.name == name) return each.count;
    }
    return 0;
}

// Checked when the reservation was made.
std::uint32_t reserved_in(const Reservation& reservation, const std::string& name) {
    if (reservation.licenses.empty()) return 0;
    return count_in(parse_licenses(reservation.licenses).value().wanted, name);
}

std::uint32_t used_in(const Cluster& cluster, const Reservation& reservation,
                      const std::string& name) {
    std::uint32_t used = 0;
    cluster.jobs().for_each([&](const Job& job) {
        bool holds =
            job.run.reservation == reservation.name && (is_live(job) || is_completing(job));
        if (holds && !job.run.licenses_held.empty()) used += count_in(licenses_held_by(job), name);
    });
    return used;
}

// How many of its licences the reservation keeps from the job.
std::uint32_t kept_by(const Cluster& cluster, const Reservation& reservation, const Job& job,
                      const std::string& name) {
    std::uint32_t reserved = reserved_in(reservation, name);
    if (reserved == 0 || names_reservation(*job.request, reservation.name) ||
        job.run.reservation == reservation.name)
        return 0;
    return reserved - std::min(reserved, used_in(cluster, reservation, name));
}

// A licence that was valid at submission may have left slurm.conf since: then there are none.
bool is_free(const Cluster& cluster, const Job& job, Time now, const LicenseCount& wanted) {
    std::uint64_t taken = cluster.licenses().of(wanted.name);
    for (const LicensesKept& kept : licenses_kept_from(cluster, job, now, wanted.name))
        taken += kept.count;
    return taken + wanted.count <= total_of(cluster, wanted.name).value_or(0);
}

// The licences to take, in the order of the request; none if they are not free.
std::optional<std::vector<LicenseCount>> pick(const Cluster& cluster, const Job& job, Time now,
                                              const LicenseDemand& demand) {
    auto free = [&](const LicenseCount& wanted) { return is_free(cluster, job, now, wanted); };
    if (demand.any && !demand.wanted.empty()) {
        auto first = std::find_if(demand.wanted.begin(), demand.wanted.end(), free);
        if (first == demand.wanted.end()) return {};
        return std::vector{*first};
    }
    if (!std::all_of(demand.wanted.begin(), demand.wanted.end(), free)) return {};
    return demand.wanted;
}

}  // namespace

std::vector<LicensesKept> licenses_kept_from(const Cluster& cluster, const Job& job, Time now,
                                             const std::string& name) {
    std::vector<LicensesKept> found;
    for (const Reservation& each : cluster.reservations()) {
        std::vector<Interval> times = intervals_of(each);
        bool meets = std::any_of(times.begin(), times.end(), [&](const Interval& time) {
            return time.start < now + longest_run(job) && now < time.end;
        });
        std::uint32_t count = meets ? kept_by(cluster, each, job, name) : 0;
        if (count > 0) found.push_back({&each, count});
    }
    return found;
}

Result<void> check_licenses(const Cluster& cluster, std::string_view text) {
    LicenseDemand demand = TRY(parse_licenses(text));
    bool possible = demand.wanted.empty();
    for (const LicenseCount& wanted : demand.wanted) {
        auto total = total_of(cluster, wanted.name);
        bool enough = total && wanted.count <= *total;
        if (!total || (!demand.any && !enough)) {
            return Error{ErrorCode::InvalidLicense, fmt::format("--licenses={}", text)};
        }
        possible = possible || enough;
    }
    if (!possible) return Error{ErrorCode::InvalidLicense, fmt::format("--licenses={}", text)};
    return {};
}

Result<void> check_reserved_licenses(const Cluster& cluster, const Reservation& draft) {
    Result<LicenseDemand> demand = parse_licenses(draft.licenses);
    if (!demand || demand->any) return Error{ErrorCode::InvalidLicense, {}};
    for (const LicenseCount& wanted : demand->wanted) {
        std::uint64_t sum = wanted.count;
        for (const Reservation& other : cluster.reservations()) {
            if (other.name != draft.name && meet_in_time(draft, other))
                sum += reserved_in(other, wanted.name);
        }
        if (sum > total_of(cluster, wanted.name).value_or(0))
            return Error{ErrorCode::InvalidLicense, {}};
    }
    return {};
}

std::optional<Reason> licenses_missing(const Cluster& cluster, const Job& job, Time now) {
    if (job.request->licenses.empty()) return {};
    Result<LicenseDemand> demand = parse_licenses(job.request->licenses);
    if (demand && pick(cluster, job, now, *demand)) return {};
    return Reason::Licenses;
}

std::string choose_licenses(const Cluster& cluster, const Job& job, Time now) {
    if (job.request->licenses.empty()) return {};
    return print_licenses(
        pick(cluster, job, now, parse_licenses(job.request->licenses).value()).value());
}

// The text was written by this program, so it parses.
std::vector<LicenseCount> licenses_held_by(const Job& job) {
    return parse_licenses(job.run.licenses_held).value().wanted;
}

void hold_licenses(Cluster& cluster, const Job& job) {
    if (!job.run.licenses_held.empty()) cluster.licenses().take(licenses_held_by(job));
}

void give_licenses(Cluster& cluster, const Job& job) {
    if (!job.run.licenses_held.empty()) cluster.licenses().give_back(licenses_held_by(job));
}

std::vector<JobId> license_holders(const Cluster& cluster) {
    std::vector<JobId> holders;
    for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
        for (JobId id : cluster.node(NodeIndex{i}).jobs) {
            if (!cluster.job(id).run.licenses_held.empty()) holders.push_back(id);
        }
    }
    std::sort(holders.begin(), holders.end());
    holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
    return holders;
}

CountTimeline& LicensePlan::line_of(const std::string& name) {
    auto [entry, is_new] = lines_.try_emplace(name);
    CountTimeline& line = entry->second;
    if (!is_new) return line;
    line.add(now_, total_of(cluster_, name).value_or(0));
    for (JobId id : license_holders(cluster_)) {
        const Job& job = cluster_.job(id);
        std::uint32_t held = count_in(licenses_held_by(job), name);
        line.take(held, now_, expected_end(cluster_, job, now_));
    }
    return line;
}

std::optional<Time> LicensePlan::earliest(const Job& job, const LicenseCount& wanted, Time from) {
    CountTimeline line = line_of(wanted.name);
    for (const Reservation& each : cluster_.reservations()) {
        std::uint32_t kept = kept_by(cluster_, each, job, wanted.name);
        if (kept == 0) continue;
        for (const Interval& time : intervals_of(each))
            line.take(kept, std::max(now_, time.start), std::max(now_, time.end));
    }
    return line.earliest(wanted.count, longest_run(job), from);
}

std::optional<Time> LicensePlan::earliest(const Job& job, Time from) {
    Result<LicenseDemand> demand = parse_licenses(job.request->licenses);
    if (!demand) return {};
    std::optional<Time> first;
    if (demand->any) {
        for (const LicenseCount& wanted : demand->wanted) {
            auto at = earliest(job, wanted, from);
            if (at && (!first || *at < *first)) first = at;
        }
        return first;
    }
    for (bool agree = false; !agree;) {  // all of them at the same moment
        agree = true;
        for (const LicenseCount& wanted : demand->wanted) {
            auto at = earliest(job, wanted, from);
            if (!at) return {};
            agree = agree && *at == from;
            from = *at;
        }
    }
    return from;
}

void LicensePlan::take(const Job& job, Time start) {
    Result<LicenseDemand> demand = parse_licenses(job.request->licenses);
    if (!demand) return;
    for (const LicenseCount& wanted : demand->wanted) {
        if (demand->any && earliest(job, wanted, start) != start) continue;
        line_of(wanted.name).take(wanted.count, start, start + longest_run(job));
        if (demand->any) return;
    }
}

}  // namespace sluice
