// core/query/reservation_columns.cc: the columns of reservations.
#include <fmt/format.h>

#include <numeric>

#include "base/text.h"
#include "core/limits/reservation_nodes.h"
#include "core/query/columns_of.h"

namespace sluice {

namespace {

using View = const Snapshot&;
using Scratch = std::string&;

std::int64_t cores_of(const Reservation& reservation, View view) {
    std::int64_t cores = 0;
    for (NodeIndex node : reservation.nodes) {
        const NodeConfig& config = view.nodes.find(node.value)->config;
        cores += reservation.cores_of(config.name, cores_in(config));
    }
    return cores;
}

std::string_view tres_of(const Reservation& reservation, View view, Scratch scratch) {
    std::int64_t cpus = 0;
    for (NodeIndex node : reservation.nodes) {
        const NodeConfig& config = view.nodes.find(node.value)->config;
        std::uint32_t all = cores_in(config);
        cpus += reservation.cores_of(config.name, all) * (config.cpus / std::max(1u, all));
    }
    std::vector<std::string> words;
    if (cpus > 0) words.push_back(fmt::format("cpu={}", cpus));
    for (const GresCount& gres : reservation.gres) {
        words.push_back(fmt::format("gres/{}{}{}={}", gres.name, gres.type.empty() ? "" : ":",
                                    gres.type, gres.count));
    }
    return scratch = join(words, ",");
}

// Only reservations with FIRST_CORES have fixed cores; others have a number of any cores.
std::string_view core_ids(const Reservation& reservation, View view, Scratch scratch) {
    scratch.clear();
    if (!reservation.has(kResvFirstCores) || reservation.cores.empty()) return scratch;
    for (NodeIndex node : reservation.nodes) {
        const NodeConfig& config = view.nodes.find(node.value)->config;
        std::vector<std::uint32_t> first(reservation.cores_of(config.name, cores_in(config)));
        std::iota(first.begin(), first.end(), 0);
        if (!scratch.empty()) scratch += '\n';
        scratch += fmt::format("NodeName={} CoreIDs={}", config.name, print_indexes(first));
    }
    return scratch;
}

std::string_view groups_of(const Reservation& reservation, View, Scratch scratch) {
    std::vector<std::string> names;
    for (const GroupMembers& group : reservation.groups) names.push_back(group.name);
    return scratch = join(names, ",");
}

std::string_view users_of(const Reservation& reservation, View, Scratch scratch) {
    std::vector<std::string> words;
    for (UserId user : reservation.users) words.push_back(fmt::format("{}", user.value));
    return scratch = join(words, ",");
}

// clang-format off
const std::vector<ColumnSource<Reservation>> kReservationColumns = {
    {ReservationColumn::Name,           [](const Reservation& r, View, Scratch) -> std::string_view { return r.name; }},
    {ReservationColumn::StartTime,      [](const Reservation& r, View) { return to_unix(r.start); }},
    {ReservationColumn::EndTime,        [](const Reservation& r, View) { return to_unix(r.end); }},
    {ReservationColumn::IsActive,       [](const Reservation& r, View v) -> std::int64_t { return r.is_active(v.time); }},
    {ReservationColumn::Nodes,          [](const Reservation& r, View, Scratch) -> std::string_view { return r.node_names; }},
    {ReservationColumn::NodeCount,      [](const Reservation& r, View) { return static_cast<std::int64_t>(r.nodes.size()); }},
    {ReservationColumn::CoreCount,      cores_of},
    {ReservationColumn::Tres,           tres_of},
    {ReservationColumn::Features,       [](const Reservation& r, View, Scratch) -> std::string_view { return r.features; }},
    {ReservationColumn::Partition,      [](const Reservation& r, View, Scratch) -> std::string_view { return r.partition; }},
    {ReservationColumn::Flags,          [](const Reservation& r, View, Scratch s) -> std::string_view { return s = print_reservation_flags(r); }},
    {ReservationColumn::Users,          users_of},
    {ReservationColumn::UsersDenied,    [](const Reservation& r, View) -> std::int64_t { return r.users_denied; }},
    {ReservationColumn::Accounts,       [](const Reservation& r, View, Scratch s) -> std::string_view { return s = join(r.accounts, ","); }},
    {ReservationColumn::AccountsDenied, [](const Reservation& r, View) -> std::int64_t { return r.accounts_denied; }},
    {ReservationColumn::PurgeAfter,     [](const Reservation& r, View) -> std::int64_t { return r.purge_after ? r.purge_after->count() : kAbsent; }},
    {ReservationColumn::Groups,         groups_of},
    {ReservationColumn::Licenses,       [](const Reservation& r, View, Scratch) -> std::string_view { return r.licenses; }},
    {ReservationColumn::MaxStartDelay,  [](const Reservation& r, View) -> std::int64_t { return r.max_start_delay ? r.max_start_delay->count() : kAbsent; }},
    {ReservationColumn::Comment,        [](const Reservation& r, View, Scratch) -> std::string_view { return r.comment; }},
    {ReservationColumn::Qos,            [](const Reservation& r, View, Scratch s) -> std::string_view { return s = join(r.qos, ","); }},
    {ReservationColumn::QosDenied,      [](const Reservation& r, View) -> std::int64_t { return r.qos_denied; }},
    {ReservationColumn::AllowedPartitions, [](const Reservation& r, View, Scratch s) -> std::string_view { return s = join(r.allowed_partitions, ","); }},
    {ReservationColumn::PartitionsDenied, [](const Reservation& r, View) -> std::int64_t { return r.partitions_denied; }},
    {ReservationColumn::CoreIds,        core_ids},
};
// clang-format on

}  // namespace

const std::vector<ColumnSource<Reservation>>& reservation_columns() {
    return kReservationColumns;
}

}  // namespace sluice
