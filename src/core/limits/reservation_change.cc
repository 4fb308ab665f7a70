// core/limits/reservation_change.cc
//
// scontrol create, update and delete reservation. All changes are made to a copy: a refusal changes
// nothing.
#include <fmt/format.h>

#include <algorithm>

#include "core/limits/licenses.h"
#include "core/limits/reservation_nodes.h"
#include "core/limits/reservations.h"
#include "core/permission.h"
#include "model/errors.h"
#include "model/validate.h"

namespace sluice {

namespace {

constexpr Seconds kClockSlack{60};  // Compat: a start that has only just passed is accepted

// ---- users, accounts, QOS, groups

template <typename Item>
Result<void> change_list(const std::optional<ListChange<Item>>& change, std::vector<Item>& list,
                         bool& denied, ErrorCode unknown) {
    if (!change) return {};
    using Verb = typename ListChange<Item>::Verb;
    auto add = [&](const Item& item) {
        if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    };
    if (change->verb == Verb::Replace) {
        list = change->items;
        denied = change->denied;
        return {};
    }
    // Adding to a list of denied items removes them from it; removing from it adds them.
    bool lets_in = change->verb == Verb::Add;
    if (list.empty()) denied = !lets_in;
    for (const Item& item : change->items) {
        if (lets_in != denied) {
            add(item);
        } else if (std::erase(list, item) == 0) {
            return Error{unknown, {}};
        }
    }
    return {};
}

// Groups+=staff stores the current members, also if the group was in the list before.
Result<void> change_groups(const ListChange<GroupMembers>& change,
                           std::vector<GroupMembers>& groups) {
    using Verb = ListChange<GroupMembers>::Verb;
    if (change.verb == Verb::Replace) groups.clear();
    for (const GroupMembers& group : change.items) {
        bool known = std::erase_if(groups, [&](const GroupMembers& each) {
                         return each.name == group.name;
                     }) > 0;
        if (change.verb != Verb::Remove)
            groups.push_back(group);
        else if (!known)
            return Error{ErrorCode::GroupUnknown, {}};
    }
    return {};
}

Result<void> change_who(const ReservationChange& change, Reservation& draft) {
    TRY(change_list(change.users, draft.users, draft.users_denied, ErrorCode::UserUnknown));
    TRY(change_list(change.accounts, draft.accounts, draft.accounts_denied,
                    ErrorCode::InvalidAccount));
    TRY(change_list(change.qos, draft.qos, draft.qos_denied, ErrorCode::InvalidQos));
    TRY(change_list(change.allowed_partitions, draft.allowed_partitions, draft.partitions_denied,
                    ErrorCode::InvalidPartition));
    if (change.groups) TRY(change_groups(*change.groups, draft.groups));
    if (!draft.users.empty() && !draft.groups.empty())
        return Error{ErrorCode::ReservationUsersAndGroups, {}};
    bool for_somebody = !draft.users.empty() || !draft.groups.empty() || !draft.accounts.empty() ||
                        !draft.qos.empty() || !draft.allowed_partitions.empty();
    if (!for_somebody) {
        return Error{ErrorCode::InvalidAccount,
                     "a reservation needs Users, Groups, Accounts, QOS or AllowedPartitions"};
    }
    return {};
}

// ---- times

Result<void> change_flags(const ReservationChange& change, Reservation& draft) {
    if (change.flags_replaced)
        draft.flags &= kResvSpecNodes | kResvAllNodes | kResvTimeFloat | kResvFirstCores;
    if (change.flags_replaced || change.purge_cleared) draft.purge_after.reset();
    draft.flags = (draft.flags | change.flags_set) & ~change.flags_cleared;
    if (change.purge_after) draft.purge_after = change.purge_after;
    std::uint32_t repeats = draft.flags & kResvRepeats;
    if ((repeats & (repeats - 1)) != 0) {
        return Error{ErrorCode::InvalidReservation, "it can repeat in one way only"};
    }
    if (repeats != 0 && draft.has(kResvTimeFloat)) {
        return Error{ErrorCode::NotSupported, "a floating start of a reservation that repeats"};
    }
    return {};
}

Result<void> skip_one(Reservation& draft) {
    if (!draft.has(kResvRepeats)) return Error{ErrorCode::ReservationNotSkippable, {}};
    Seconds length = draft.end - draft.start;
    draft.start = next_occurrence(draft.start, draft.flags);
    draft.end = draft.start + length;
    return {};
}

Result<void> change_times(const ReservationChange& change, Time now, const Reservation* before,
                          Reservation& draft) {
    if (!before && !change.start) return Error{ErrorCode::InvalidTime, "StartTime is missing"};
    if (change.start) {
        if (before && before->is_active(now)) return Error{ErrorCode::ReservationStarted, {}};
        if (*change.start < now - kClockSlack && !draft.has(kResvForceStart))
            return Error{ErrorCode::InvalidTime, {}};
        draft.start = *change.start;
        draft.ahead = std::max(draft.start - now, Seconds{0});
    }
    if (change.end) draft.end = *change.end;
    if (change.duration) {
        const int sign =
            before ? change.duration_sign : 0;  // Compat: without meaning for a new one
        Time from = sign == 0 ? draft.start : draft.end;
        draft.end = sign < 0 ? from - *change.duration : from + *change.duration;
    }
    if (draft.end <= draft.start) return Error{ErrorCode::InvalidTime, {}};
    bool goes_on = draft.has(kResvForceStart) && draft.has(kResvRepeats);
    while (goes_on && draft.end <= now) TRY(skip_one(draft));  // past occurrences are skipped
    if (draft.end <= now) return Error{ErrorCode::InvalidTime, {}};
    if (draft.has(kResvRepeats) && draft.end > next_occurrence(draft.start, draft.flags)) {
        return Error{ErrorCode::InvalidTime, "it would not be over when it repeats"};
    }
    return {};
}

// ---- the whole change

std::uint32_t next_number(const Cluster& cluster) {
    std::uint32_t number = 1;
    for (const Reservation& each : cluster.reservations())
        number = std::max(number, each.number + 1);
    return number;
}

Result<std::string> name_for(const Cluster& cluster, const ReservationChange& change) {
    if (!change.name.empty()) {
        if (change.name.find_first_of(", \t\n'\"") != std::string::npos) {
            return Error{ErrorCode::InvalidReservation,
                         fmt::format("ReservationName={}", change.name)};
        }
        if (find_reservation(cluster, change.name)) return Error{ErrorCode::ReservationName, {}};
        return change.name;
    }
    std::uint32_t number = next_number(cluster);
    std::string base = change.name_base.empty() ? "resv" : change.name_base;
    while (find_reservation(cluster, fmt::format("{}_{}", base, number))) ++number;
    return fmt::format("{}_{}", base, number);
}

Result<Reservation> changed(const Cluster& cluster, Time now, const ReservationChange& change,
                            const Reservation* before) {
    Reservation draft = before ? *before : Reservation{};
    if (!before) {
        draft.name = TRY(name_for(cluster, change));
        draft.number = next_number(cluster);
    }
    TRY(change_flags(change, draft));
    TRY(change_times(change, now, before, draft));
    if (change.skip) TRY(skip_one(draft));
    TRY(change_who(change, draft));
    for (const std::string& name : draft.allowed_partitions) {
        if (!cluster.find_partition(name)) return Error{ErrorCode::InvalidPartition, name};
    }
    if (change.max_start_delay) draft.max_start_delay = change.max_start_delay;
    if (change.start_delay_cleared) draft.max_start_delay.reset();
    if (change.comment) draft.comment = *change.comment;
    if (change.licenses) draft.licenses = *change.licenses;
    TRY(change_nodes(cluster, now, change, before, draft));
    TRY(check_reserved_licenses(cluster, draft));
    TRY(validate(draft));
    return draft;
}

Result<void> delete_reservation(Cluster& cluster, const Reservation& reservation) {
    bool in_use = false;
    cluster.jobs().for_each([&](const Job& job) {
        in_use = in_use || (!is_finished(job.state) && uses(job, reservation));
    });
    if (in_use) return Error{ErrorCode::ReservationInUse, {}};
    cluster.drop_reservation(reservation.name);
    return {};
}

// USER_DELETE. The caller's account and QOS are not known here: a reservation that lists accounts
// or QOS cannot be deleted this way.
bool may_delete(const Reservation* reservation, const ChangeReservation& event) {
    if (!reservation || event.change.verb != ReservationChange::Verb::Delete) return false;
    return reservation->has(kResvUserDelete) && reservation->accounts.empty() &&
           reservation->qos.empty() && may_use(*reservation, event.caller.user, {});
}

Result<std::string> perform(Cluster& cluster, Time now, const ChangeReservation& event) {
    const ReservationChange& change = event.change;
    const Reservation* known = find_reservation(cluster, change.name);
    const bool is_open_delete = may_delete(known, event);
    TRY(permit(role_in(cluster, event.caller),
               is_open_delete ? Action::DeleteOpenReservation : Action::ChangeReservation));
    const Reservation* before = nullptr;
    if (change.verb != ReservationChange::Verb::Create) {
        before = known;
        if (!before) return Error{ErrorCode::InvalidReservation, {}};
    }
    if (change.verb == ReservationChange::Verb::Delete) {
        TRY(delete_reservation(cluster, *before));
        return change.name;
    }
    Reservation draft = TRY(changed(cluster, now, change, before));
    std::string name = draft.name;
    cluster.put_reservation(std::move(draft));
    return name;
}

}  // namespace

void on_change_reservation(Cluster& cluster, Time now, const ChangeReservation& event,
                           Effects& effects) {
    cluster.refresh_layout();
    Result<std::string> name = perform(cluster, now, event);
    if (!name) {
        effects.push_back(Reply{event.request, std::move(name).error()});
        return;
    }
    reservations_have_changed(cluster, now);
    effects.push_back(Reply{event.request, ReservationNamed{*std::move(name)}});
}

}  // namespace sluice
