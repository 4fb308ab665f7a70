// See barred_users.h.
#include "controller/barred_users.h"

#include <algorithm>
#include <set>

namespace sluice {

namespace {

bool bars_users(const Partition& partition) {
    return !partition.barred_users.empty();
}

}  // namespace

std::vector<Caller> job_owners(Services& services) {
    std::set<std::pair<UserId, GroupId>> known;
    services.published.snapshot.get()->jobs.for_each([&](const Job& job) {
        known.insert({job.user, job.group});
    });
    std::vector<Caller> owners;
    for (const auto& [user, group] : known) {
        Caller& owner = owners.emplace_back(Caller{user, group});
        owner.groups = services.groups.of(user, group, Seconds{0}, wall_clock());
    }
    return owners;
}

bool has_barred_users(const Snapshot& snapshot) {
    return std::any_of(snapshot.partitions->begin(), snapshot.partitions->end(), bars_users);
}

void refresh_barred_users(Services& services) {
    const auto snapshot = services.published.snapshot.get();
    if (!has_barred_users(*snapshot)) return;
    const std::vector<Caller> owners = job_owners(services);
    for (const Partition& partition : *snapshot->partitions) {
        if (!bars_users(partition)) continue;
        Incoming incoming;
        incoming.event = UpdatePartition{.request = RequestId{},
                                         .caller = kRoot,
                                         .partition = partition.config.name,
                                         .change = {},
                                         .job_owners = owners};
        services.inbox.push(std::move(incoming));
    }
}

}  // namespace sluice
