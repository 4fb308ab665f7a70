// core/query/reservation_columns.cc: the facts of reservations, by column.
#include <numeric>

#include <fmt/format.h>

#include "base/text.h"
#include "core/limits/reservation_nodes.h"
#include "core/query/columns_of.h"

namespace sluice {

namespace {

using C = ReservationColumn;
using R = Reservation;
using View = const Snapshot&;
using Scratch = std::string&;

std::int64_t cores_of(const R& reservation, View view) {
    std::int64_t cores = 0;
    for (NodeIndex node : reservation.nodes) {
        const NodeConfig& config = view.nodes.find(node.value)->config;
        cores += reservation.cores_of(config.name, cores_in(config));
    }
    return cores;
}

std::string_view tres_of(const R& reservation, View view, Scratch scratch) {
    std::int64_t cpus = 0;
    for (NodeIndex node : reservation.nodes) {
        const NodeConfig& config = view.nodes.find(node.value)->config;
        std::uint32_t all = cores_in(config);
        cpus += reservation.cores_of(config.name, all) * (config.cpus / std::max(1u, all));
    }
    std::vector<std::string> words;
    if (cpus > 0) words.push_back(fmt::format("cpu={}", cpus));
    for (const GresCount& gres : reservation.gres) {
        words.push_back(fmt::format("gres/{}{}{}={}", gres.name, gres.type.empty() ? "" : ":", gres.type, gres.count));
    }
    return scratch = join(words, ",");
}

// Only those with FIRST_CORES have certain cores: others have so many, wherever they are.
std::string_view core_ids(const R& reservation, View view, Scratch scratch) {
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

std::string_view groups_of(const R& reservation, View, Scratch scratch) {
    std::vector<std::string> names;
    for (const GroupMembers& group : reservation.groups) names.push_back(group.name);
    return scratch = join(names, ",");
}

std::string_view users_of(const R& reservation, View, Scratch scratch) {
    std::vector<std::string> words;
    for (UserId user : reservation.users) words.push_back(fmt::format("{}", user.value));
    return scratch = join(words, ",");
}

// clang-format off
const std::vector<ColumnSource<R>> kColumns = {
    {C::Name,           [](const R& r, View, Scratch) -> std::string_view { return r.name; }},
    {C::StartTime,      [](const R& r, View) { return to_unix(r.start); }},
    {C::EndTime,        [](const R& r, View) { return to_unix(r.end); }},
    {C::IsActive,       [](const R& r, View v) -> std::int64_t { return r.is_active(v.time); }},
    {C::Nodes,          [](const R& r, View, Scratch) -> std::string_view { return r.node_names; }},
    {C::NodeCount,      [](const R& r, View) { return static_cast<std::int64_t>(r.nodes.size()); }},
    {C::CoreCount,      cores_of},
    {C::Tres,           tres_of},
    {C::Features,       [](const R& r, View, Scratch) -> std::string_view { return r.features; }},
    {C::Partition,      [](const R& r, View, Scratch) -> std::string_view { return r.partition; }},
    {C::Flags,          [](const R& r, View, Scratch s) -> std::string_view { return s = print_reservation_flags(r); }},
    {C::Users,          users_of},
    {C::UsersDenied,    [](const R& r, View) -> std::int64_t { return r.users_denied; }},
    {C::Accounts,       [](const R& r, View, Scratch s) -> std::string_view { return s = join(r.accounts, ","); }},
    {C::AccountsDenied, [](const R& r, View) -> std::int64_t { return r.accounts_denied; }},
    {C::PurgeAfter,     [](const R& r, View) -> std::int64_t { return r.purge_after ? r.purge_after->count() : kAbsent; }},
    {C::Groups,         groups_of},
    {C::Licenses,       [](const R& r, View, Scratch) -> std::string_view { return r.licenses; }},
    {C::MaxStartDelay,  [](const R& r, View) -> std::int64_t { return r.max_start_delay ? r.max_start_delay->count() : kAbsent; }},
    {C::Comment,        [](const R& r, View, Scratch) -> std::string_view { return r.comment; }},
    {C::Qos,            [](const R& r, View, Scratch s) -> std::string_view { return s = join(r.qos, ","); }},
    {C::QosDenied,      [](const R& r, View) -> std::int64_t { return r.qos_denied; }},
    {C::AllowedPartitions, [](const R& r, View, Scratch s) -> std::string_view { return s = join(r.allowed_partitions, ","); }},
    {C::PartitionsDenied, [](const R& r, View) -> std::int64_t { return r.partitions_denied; }},
    {C::CoreIds,        core_ids},
};
// clang-format on

}  // namespace

const std::vector<ColumnSource<R>>& reservation_columns() { return kColumns; }

}  // namespace sluice
