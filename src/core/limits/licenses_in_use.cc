#include "core/limits/licenses_in_use.h"

#include <fmt/format.h>

#include "core/limits/licenses.h"

namespace sluice {

std::uint32_t LicensesInUse::of(const std::string& name) const {
    auto found = counts_.find(name);
    return found == counts_.end() ? 0 : found->second;
}

void LicensesInUse::take(const std::vector<LicenseCount>& licenses) {
    for (const LicenseCount& each : licenses) {
        if (each.count > 0) counts_[each.name] += each.count;
    }
}

void LicensesInUse::give_back(const std::vector<LicenseCount>& licenses) {
    for (const LicenseCount& each : licenses) {
        if (each.count == 0) continue;
        auto used = counts_.find(each.name);
        CHECK(used != counts_.end() && used->second >= each.count);
        used->second -= each.count;
        if (used->second == 0) counts_.erase(used);
    }
}

std::optional<std::string> LicensesInUse::broken(const CowTable<Job>& jobs) const {
    LicensesInUse held;
    jobs.for_each([&](const Job& job) {
        const bool holds = job.run.allocation && (is_live(job) || is_completing(job));
        if (holds) held.take(licenses_held_by(job));
    });
    if (held.counts_ == counts_) return {};
    for (const auto& [name, count] : counts_) {
        if (held.of(name) != count)
            return fmt::format("{} licences {} are in use, jobs hold {}", count, name,
                               held.of(name));
    }
    return "jobs hold licences that are not in use";
}

}  // namespace sluice
