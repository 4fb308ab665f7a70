// policy/resources.cc
//
// Licences that clusters share. A cluster's part is kept as a number of licences. See work.h.
#include <fmt/format.h>

#include <algorithm>

#include "model/errors.h"
#include "policy/work.h"

namespace sluice {

namespace {

constexpr std::string_view kOwnServer = "slurmdb";

std::string label(const SharedLicense& license) {
    return fmt::format("{}@{}", license.name, license.server);
}

std::vector<SharedLicense*> matching_licenses(const PolicyWork& work) {
    std::vector<SharedLicense*> found;
    for (SharedLicense& each : work.policy.licenses) {
        if (selects(work.step.names, each.name) && selects(work.step.servers, each.server))
            found.push_back(&each);
    }
    return found;
}

std::uint64_t shared(const SharedLicense& license) {
    std::uint64_t sum = 0;
    for (const SharedLicense::Share& each : license.shares) sum += each.allowed;
    return sum;
}

Result<void> check_shares(const SharedLicense& license) {
    if (shared(license) <= license.count) return {};
    std::string lines;
    for (const SharedLicense::Share& each : license.shares)
        lines += fmt::format("\n   Cluster - {}\t {}", each.cluster, each.allowed);
    return Error{ErrorCode::BadArgument,
                 fmt::format(" You can not allocate more than 100% of a resource\n"
                             " If change was accepted it would look like this...\n"
                             "  {}{}\n   total\t\t{} of {}",
                             label(license), lines, shared(license), license.count)};
}

// Gives the step's clusters their part.
Result<void> share_out(PolicyWork& work, SharedLicense& license) {
    const ResourceChange& given = work.step.resource;
    if (work.step.clusters.empty() || !given.allowed) return {};
    TRY(clusters_of(work));
    if (!given.is_absolute && *given.allowed > 100) {
        return Error{
            ErrorCode::BadArgument,
            fmt::format(" Invalid PercentAllowed ({}): 0 to 100 is needed", *given.allowed)};
    }
    const std::uint64_t amount =
        given.is_absolute ? *given.allowed : license.count * *given.allowed / 100;
    for (const std::string& cluster : work.step.clusters) {
        auto share =
            std::find_if(license.shares.begin(), license.shares.end(),
                         [&](const SharedLicense::Share& each) { return each.cluster == cluster; });
        if (share == license.shares.end())
            license.shares.push_back({cluster, amount});
        else
            share->allowed = amount;
    }
    return check_shares(license);
}

void describe(const ResourceChange& given, SharedLicense& license) {
    if (given.count) license.count = *given.count;
    if (given.description) license.description = *given.description;
    if (given.manager) license.manager = *given.manager;
    if (given.server_type) license.server_type = *given.server_type;
}

}  // namespace

Result<void> add_resources(PolicyWork& work) {
    const PolicyStep& step = work.step;
    if (step.names.empty()) return Error{ErrorCode::BadArgument, " Need name of resource to add."};
    TRY(permit(work, PolicyRight::Resources));
    const std::string server = step.servers.empty() ? std::string(kOwnServer) : step.servers[0];
    for (const std::string& name : step.names) {
        TRY(check_name("a resource", name));
        TRY(check_name("a server", server));
        auto known = std::find_if(
            work.policy.licenses.begin(), work.policy.licenses.end(),
            [&](const SharedLicense& each) { return each.name == name && each.server == server; });
        const bool is_new = known == work.policy.licenses.end();
        SharedLicense license = is_new ? SharedLicense{} : *known;
        if (is_new) {
            license.id = work.policy.next_id++;
            license.name = license.description = name;
            license.server = server;
            describe(step.resource, license);
        }
        TRY(share_out(work, license));
        if (!is_new && license == *known) continue;
        work.outcome.names.push_back(label(license));
        work.note("Add Resource", label(license), fmt::format("count={}", license.count));
        if (is_new)
            work.policy.licenses.push_back(std::move(license));
        else
            *known = std::move(license);
    }
    return {};
}

Result<void> modify_resources(PolicyWork& work) {
    for (SharedLicense* license : matching_licenses(work)) {
        TRY(permit(work, PolicyRight::Resources));
        describe(work.step.resource, *license);
        TRY(share_out(work, *license));
        TRY(check_shares(*license));
        work.outcome.names.push_back(label(*license));
        work.note("Modify Resource", label(*license), fmt::format("count={}", license->count));
    }
    return {};
}

Result<void> delete_resources(PolicyWork& work) {
    for (SharedLicense* license : matching_licenses(work)) {
        TRY(permit(work, PolicyRight::Resources));
        if (work.step.clusters.empty()) {
            work.outcome.names.push_back(label(*license));
            work.note("Remove Resource", label(*license), "");
            continue;
        }
        for (const std::string& cluster : work.step.clusters) {
            const auto gone = std::erase_if(license->shares, [&](const SharedLicense::Share& each) {
                return each.cluster == cluster;
            });
            if (gone == 0) continue;
            work.outcome.names.push_back(
                fmt::format("Cluster - {}\t- {}", cluster, label(*license)));
            work.note("Remove Resource", label(*license), "", cluster);
        }
    }
    if (!work.step.clusters.empty()) return {};
    std::erase_if(work.policy.licenses, [&](const SharedLicense& each) {
        return selects(work.step.names, each.name) && selects(work.step.servers, each.server);
    });
    return {};
}

}  // namespace sluice
