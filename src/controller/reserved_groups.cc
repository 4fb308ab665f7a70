#include "controller/reserved_groups.h"

#include "base/log.h"
#include "os/user.h"

namespace sluice {

namespace {

// The members as they are now; a group that is gone keeps those it had.
std::vector<GroupMembers> members_now(const Reservation& reservation) {
    std::vector<GroupMembers> groups = reservation.groups;
    for (GroupMembers& group : groups) {
        std::optional<std::vector<uid_t>> members = group_members(group.name);
        if (!members) {
            log_error("reservation {}: group {} is not known any more", reservation.name,
                      group.name);
            continue;
        }
        group.users.clear();
        for (uid_t user : *members) group.users.push_back(UserId{user});
    }
    return groups;
}

}  // namespace

void refresh_reserved_groups(Services& services) {
    const auto snapshot = services.published.snapshot.get();
    for (const Reservation& reservation : *snapshot->reservations) {
        std::vector<GroupMembers> groups = members_now(reservation);
        if (groups == reservation.groups) continue;
        ReservationChange change{.verb = ReservationChange::Verb::Update, .name = reservation.name};
        change.groups.emplace().items = std::move(groups);
        Incoming incoming;
        incoming.event = ChangeReservation{RequestId{}, Caller{UserId{0}, GroupId{0}}, change};
        services.inbox.push(std::move(incoming));
    }
}

}  // namespace sluice
