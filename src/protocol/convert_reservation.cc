// protocol/convert_reservation.cc
//
// Reservations, and what is to become of them. See convert.h.
#include <algorithm>

#include "protocol/checks.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

using Verb = ReservationChange::Verb;

template <typename List, typename Wire, typename Value>
void write_list(const std::optional<ListChange<List>>& change,
                Wire* (wire::ChangeReservation::*edit)(), wire::ChangeReservation& out,
                Value value) {
    if (!change) return;
    Wire& list = *(out.*edit)();
    list.set_verb(static_cast<std::uint32_t>(change->verb));
    list.set_denied(change->denied);
    for (const List& item : change->items) list.add_items(value(item));
}

Result<ListChange<std::string>> read_texts(std::string_view field,
                                           const wire::ChangeReservation::TextList& list,
                                           std::size_t count_most = sizes::kNameCount) {
    ListChange<std::string> change;
    change.verb = TRY(checks::one_of(field, list.verb(), ListChange<std::string>::Verb::Remove));
    change.items = TRY(checks::texts(field, list.items(), sizes::kWord, count_most));
    change.denied = list.denied();
    return change;
}

Result<ListChange<UserId>> read_users(const wire::ChangeReservation::UserList& list) {
    ListChange<UserId> change;
    change.verb = TRY(checks::one_of("users", list.verb(), ListChange<UserId>::Verb::Remove));
    TRY(checks::list_size("users", static_cast<std::size_t>(list.items().size()),
                          sizes::kNameCount));
    for (std::uint32_t user : list.items()) change.items.push_back(UserId{user});
    change.denied = list.denied();
    return change;
}

void write_group(const GroupMembers& group, wire::GroupMembers& out) {
    out.set_name(group.name);
    for (UserId user : group.users) out.add_users(user.value);
}

Result<GroupMembers> read_group(const wire::GroupMembers& wire) {
    GroupMembers group{.name = TRY(checks::text("group", wire.name(), sizes::kWord)), .users = {}};
    TRY(checks::list_size("group members", static_cast<std::size_t>(wire.users().size())));
    for (std::uint32_t user : wire.users()) group.users.push_back(UserId{user});
    return group;
}

Result<ListChange<GroupMembers>> read_groups(const wire::ChangeReservation::GroupList& list) {
    ListChange<GroupMembers> change;
    change.verb =
        TRY(checks::one_of("groups", list.verb(), ListChange<GroupMembers>::Verb::Remove));
    TRY(checks::list_size("groups", static_cast<std::size_t>(list.items().size()),
                          sizes::kGroupCount));
    for (const wire::GroupMembers& group : list.items()) {
        change.items.push_back(TRY(read_group(group)));
    }
    return change;
}

void write_resources(const ReservationChange& change, wire::ChangeReservation& out) {
    if (change.groups) {
        out.mutable_groups()->set_verb(static_cast<std::uint32_t>(change.groups->verb));
        for (const GroupMembers& group : change.groups->items) {
            write_group(group, *out.mutable_groups()->add_items());
        }
    }
    if (change.licenses) out.set_licenses(*change.licenses);
    for (std::uint32_t cores : change.core_counts) out.add_core_counts(cores);
    to_wire(change.gres, *out.mutable_gres());
    out.set_duration_sign(change.duration_sign);
}

// Conditions other than users, groups and accounts; and the comment.
void write_terms(const ReservationChange& change, wire::ChangeReservation& out) {
    const auto text = [](const std::string& item) { return item; };
    write_list(change.qos, &wire::ChangeReservation::mutable_qos, out, text);
    write_list(change.allowed_partitions, &wire::ChangeReservation::mutable_allowed_partitions, out,
               text);
    if (change.max_start_delay) out.set_max_start_delay(change.max_start_delay->count());
    out.set_start_delay_cleared(change.start_delay_cleared);
    if (change.comment) out.set_comment(*change.comment);
}

Result<void> read_terms(const wire::ChangeReservation& wire, ReservationChange& change) {
    if (wire.has_qos()) change.qos = TRY(read_texts("qos", wire.qos()));
    if (wire.has_allowed_partitions()) {
        change.allowed_partitions =
            TRY(read_texts("allowed partitions", wire.allowed_partitions()));
    }
    if (wire.has_max_start_delay()) {
        change.max_start_delay = TRY(checks::length("start delay", wire.max_start_delay()));
    }
    change.start_delay_cleared = wire.start_delay_cleared();
    if (wire.has_comment())
        change.comment = TRY(checks::text("comment", wire.comment(), sizes::kWord));
    return {};
}

Result<void> read_resources(const wire::ChangeReservation& wire, ReservationChange& change) {
    if (wire.has_groups()) change.groups = TRY(read_groups(wire.groups()));
    if (wire.has_licenses())
        change.licenses = TRY(checks::text("licenses", wire.licenses(), sizes::kWord));
    TRY(checks::list_size("core counts", static_cast<std::size_t>(wire.core_counts().size()),
                          sizes::kListedNodeCount));
    for (std::uint32_t cores : wire.core_counts()) {
        change.core_counts.push_back(TRY(checks::count("cores", cores)));
    }
    change.gres = TRY(from_wire(wire.gres()));
    change.duration_sign = std::clamp(wire.duration_sign(), -1, 1);
    return {};
}

Result<void> read_times(const wire::ChangeReservation& wire, ReservationChange& change) {
    if (wire.has_start()) change.start = TRY(checks::moment("start", wire.start()));
    if (wire.has_end()) change.end = TRY(checks::moment("end", wire.end()));
    if (wire.has_duration()) change.duration = TRY(checks::length("duration", wire.duration()));
    if (wire.has_purge_after())
        change.purge_after = TRY(checks::length("purge time", wire.purge_after()));
    return {};
}

}  // namespace

wire::ChangeReservation to_wire(const ReservationChange& change) {
    wire::ChangeReservation out;
    out.set_verb(static_cast<std::uint32_t>(change.verb));
    out.set_name(change.name);
    out.set_name_base(change.name_base);
    if (change.start) out.set_start(to_unix(*change.start));
    if (change.end) out.set_end(to_unix(*change.end));
    if (change.duration) out.set_duration(change.duration->count());
    const auto text = [](const std::string& item) { return item; };
    write_list(change.nodes, &wire::ChangeReservation::mutable_nodes, out, text);
    if (change.node_count) out.set_node_count(*change.node_count);
    if (change.partition) out.set_partition(*change.partition);
    if (change.features) out.set_features(*change.features);
    write_list(change.users, &wire::ChangeReservation::mutable_users, out,
               [](UserId user) { return user.value; });
    write_list(change.accounts, &wire::ChangeReservation::mutable_accounts, out, text);
    out.set_flags_replaced(change.flags_replaced);
    out.set_flags_set(change.flags_set);
    out.set_flags_cleared(change.flags_cleared);
    if (change.purge_after) out.set_purge_after(change.purge_after->count());
    out.set_purge_cleared(change.purge_cleared);
    out.set_skip(change.skip);
    write_resources(change, out);
    write_terms(change, out);
    return out;
}

Result<ReservationChange> from_wire(const wire::ChangeReservation& wire) {
    ReservationChange change;
    change.verb = TRY(checks::one_of("verb", wire.verb(), Verb::Delete));
    change.name = TRY(checks::text("name", wire.name(), sizes::kWord));
    change.name_base = TRY(checks::text("name", wire.name_base(), sizes::kWord));
    TRY(read_times(wire, change));
    if (wire.has_nodes())
        change.nodes = TRY(read_texts("nodes", wire.nodes(), sizes::kListedNodeCount));
    if (wire.has_node_count())
        change.node_count = TRY(checks::count("node count", wire.node_count()));
    if (wire.has_partition())
        change.partition = TRY(checks::text("partition", wire.partition(), sizes::kWord));
    if (wire.has_features())
        change.features = TRY(checks::text("features", wire.features(), sizes::kFeatures));
    if (wire.has_users()) change.users = TRY(read_users(wire.users()));
    if (wire.has_accounts()) change.accounts = TRY(read_texts("accounts", wire.accounts()));
    change.flags_replaced = wire.flags_replaced();
    change.flags_set = TRY(checks::number("flags", wire.flags_set(), kResvFlagsAll));
    change.flags_cleared = TRY(checks::number("flags", wire.flags_cleared(), kResvFlagsAll));
    change.purge_cleared = wire.purge_cleared();
    change.skip = wire.skip();
    TRY(read_resources(wire, change));
    TRY(read_terms(wire, change));
    return change;
}

wire::ReservationRecord to_wire(const Reservation& reservation) {
    wire::ReservationRecord out;
    out.set_number(reservation.number);
    out.set_name(reservation.name);
    out.set_start(to_unix(reservation.start));
    out.set_end(to_unix(reservation.end));
    out.set_flags(reservation.flags);
    if (reservation.purge_after) out.set_purge_after(reservation.purge_after->count());
    out.set_node_names(reservation.node_names);
    out.set_partition(reservation.partition);
    out.set_features(reservation.features);
    for (UserId user : reservation.users) out.add_users(user.value);
    out.set_users_denied(reservation.users_denied);
    for (const std::string& account : reservation.accounts) out.add_accounts(account);
    out.set_accounts_denied(reservation.accounts_denied);
    out.set_last_used(to_unix(reservation.last_used));
    for (const GroupMembers& group : reservation.groups) write_group(group, *out.add_groups());
    out.set_licenses(reservation.licenses);
    for (const NodeCores& each : reservation.cores) {
        wire::NodeCores& cores = *out.add_cores();
        cores.set_node(each.node);
        cores.set_cores(each.cores);
    }
    to_wire(reservation.gres, *out.mutable_gres());
    out.set_ahead(reservation.ahead.count());
    if (reservation.max_start_delay) out.set_max_start_delay(reservation.max_start_delay->count());
    out.set_comment(reservation.comment);
    for (const std::string& qos : reservation.qos) out.add_qos(qos);
    out.set_qos_denied(reservation.qos_denied);
    for (const std::string& name : reservation.allowed_partitions) out.add_allowed_partitions(name);
    out.set_partitions_denied(reservation.partitions_denied);
    return out;
}

Result<Reservation> from_wire(const wire::ReservationRecord& wire) {
    Reservation reservation;
    reservation.number = wire.number();
    reservation.name = wire.name();
    reservation.start = TRY(checks::moment("start", wire.start()));
    reservation.end = TRY(checks::moment("end", wire.end()));
    reservation.flags = TRY(checks::number("flags", wire.flags(), kResvFlagsAll));
    if (wire.has_purge_after())
        reservation.purge_after = TRY(checks::length("purge time", wire.purge_after()));
    reservation.node_names = wire.node_names();
    reservation.partition = wire.partition();
    reservation.features = wire.features();
    for (std::uint32_t user : wire.users()) reservation.users.push_back(UserId{user});
    reservation.users_denied = wire.users_denied();
    reservation.accounts = {wire.accounts().begin(), wire.accounts().end()};
    reservation.accounts_denied = wire.accounts_denied();
    reservation.last_used = TRY(checks::moment("last use", wire.last_used()));
    for (const wire::GroupMembers& group : wire.groups()) {
        reservation.groups.push_back(TRY(read_group(group)));
    }
    reservation.licenses = wire.licenses();
    for (const wire::NodeCores& each : wire.cores())
        reservation.cores.push_back({each.node(), each.cores()});
    reservation.gres = TRY(from_wire(wire.gres()));
    reservation.ahead = TRY(checks::length("time ahead", wire.ahead()));
    if (wire.has_max_start_delay()) {
        reservation.max_start_delay = TRY(checks::length("start delay", wire.max_start_delay()));
    }
    reservation.comment = wire.comment();
    reservation.qos = {wire.qos().begin(), wire.qos().end()};
    reservation.qos_denied = wire.qos_denied();
    reservation.allowed_partitions = {wire.allowed_partitions().begin(),
                                      wire.allowed_partitions().end()};
    reservation.partitions_denied = wire.partitions_denied();
    TRY(validate(reservation));
    return reservation;
}

}  // namespace sluice
