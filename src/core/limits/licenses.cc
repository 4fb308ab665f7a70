#include "core/limits/licenses.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/schedule/queue.h"
#include "model/errors.h"

namespace sluice {

namespace {

std::optional<std::uint32_t> total_of(const Cluster& cluster, const std::string& name) {
    for (const auto& [known, total] : cluster.settings().licenses) {
        if (known == name) return total;
    }
    return {};
}

// What was accepted once may be gone from slurm.conf since: then there are none.
bool is_free(const Cluster& cluster, const LicenseCount& wanted) {
    auto used = cluster.licenses_used.find(wanted.name);
    std::uint64_t taken = used == cluster.licenses_used.end() ? 0 : used->second;
    return taken + wanted.count <= total_of(cluster, wanted.name).value_or(0);
}

// The licences to take, in the order of the wish; nothing if they are not free.
std::optional<std::vector<LicenseCount>> pick(const Cluster& cluster, const LicenseWish& wish) {
    auto free = [&](const LicenseCount& wanted) { return is_free(cluster, wanted); };
    if (wish.any && !wish.wanted.empty()) {
        auto first = std::find_if(wish.wanted.begin(), wish.wanted.end(), free);
        if (first == wish.wanted.end()) return {};
        return std::vector{*first};
    }
    if (!std::all_of(wish.wanted.begin(), wish.wanted.end(), free)) return {};
    return wish.wanted;
}

}  // namespace

Result<void> check_licenses(const Cluster& cluster, std::string_view text) {
    LicenseWish wish = TRY(parse_licenses(text));
    bool possible = wish.wanted.empty();
    for (const LicenseCount& wanted : wish.wanted) {
        auto total = total_of(cluster, wanted.name);
        bool enough = total && wanted.count <= *total;
        if (!total || (!wish.any && !enough)) {
            return Error{ErrorCode::InvalidLicense, fmt::format("--licenses={}", text)};
        }
        possible = possible || enough;
    }
    if (!possible) return Error{ErrorCode::InvalidLicense, fmt::format("--licenses={}", text)};
    return {};
}

std::optional<Reason> licenses_missing(const Cluster& cluster, const Job& job) {
    if (job.request->licenses.empty()) return {};
    Result<LicenseWish> wish = parse_licenses(job.request->licenses);
    if (wish && pick(cluster, *wish)) return {};
    return Reason::Licenses;
}

std::string choose_licenses(const Cluster& cluster, const Job& job) {
    if (job.request->licenses.empty()) return {};
    return print_licenses(pick(cluster, parse_licenses(job.request->licenses).value()).value());
}

// The text is our own.
std::vector<LicenseCount> licenses_held_by(const Job& job) {
    return parse_licenses(job.licenses_held).value().wanted;
}

void hold_licenses(Cluster& cluster, const Job& job) {
    if (job.licenses_held.empty()) return;
    for (const LicenseCount& held : licenses_held_by(job)) cluster.licenses_used[held.name] += held.count;
}

void give_licenses(Cluster& cluster, Time now, const Job& job) {
    if (job.licenses_held.empty()) return;
    for (const LicenseCount& held : licenses_held_by(job)) {
        auto used = cluster.licenses_used.find(held.name);
        CHECK(used != cluster.licenses_used.end() && used->second >= held.count);
        used->second -= held.count;
        if (used->second == 0) cluster.licenses_used.erase(used);
    }
    std::set<JobId> waiting = std::move(cluster.license_waiting);
    cluster.license_waiting.clear();
    for (JobId id : waiting) {
        if (cluster.parked.erase(id) > 0) enqueue(cluster, cluster.job(id), now);
    }
}

}  // namespace sluice
