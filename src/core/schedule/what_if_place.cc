// core/schedule/what_if_place.cc: whether and where a draft would start now; the largest amount
// with which it does.
#include "core/limits/allowance.h"
#include "core/limits/licenses.h"
#include "core/limits/reservations.h"
#include "core/place/place.h"
#include "core/schedule/what_if.h"

namespace sluice {

constexpr std::uint64_t kStepsMost = 150'000;  // nodes looked at: about 5 ms

// The nodes that any draft could start on: some of each requested resource is free there. Other
// nodes are not searched again. Nodes of reservations may be free for jobs that may use them.
std::vector<bool> WhatIf::nodes_with_room(const Question& question) {
    const Cluster& cluster = question.cluster;
    const Layout& layout = cluster.scheduler().layout;
    const Planner& planner = question.planner;
    const Shape& shape = question.job.request->shape;
    PlanTime now = planner.tick(question.now);
    std::vector<bool> nodes(cluster.node_count());
    auto has_some = [&](const NodeKind& kind, const Amounts& free, const std::string& name) {
        return std::any_of(kind.gres.begin(), kind.gres.end(), [&](const NodeKind::Gres& entry) {
            return entry.name == name &&
                   (!kind.is_planned(entry) || free[kind.place_of(entry)] > 0);
        });
    };
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        NodeIndex node{i};
        if (planner.plan().is_closed(node)) continue;
        Amounts free = planner.plan().window(node, now, 1).free;
        bool any = free[Amounts::kCpus] > 0;
        for (const auto* demands : {&shape.gres_per_node, &shape.gpus_per_task}) {
            for (const GresCount& demand : *demands)
                any = any && has_some(layout.kind(node), free, demand.name);
        }
        nodes[i] = any;
    }
    for (const Reservation& each : cluster.reservations()) {
        for (NodeIndex node : each.nodes) nodes[node.value] = true;
    }
    return nodes;
}

std::vector<Planner::Number> WhatIf::bookings_behind(const Question& question,
                                                     const std::vector<bool>& nodes) {
    const Planner& planner = question.planner;
    std::set<Planner::Number> found;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i]) continue;
        for (Planner::Number number : planner.bookings_on(NodeIndex{i})) {
            if (!planner.booking(number).hidden && gives_way(question, planner.booking(number)))
                found.insert(number);
        }
    }
    return {found.begin(), found.end()};
}

const std::vector<NodeIndex>& WhatIf::nodes_of(const Spot& spot) {
    if (spot.reservation) return spot.nodes();
    auto [entry, is_new] = roomy_in_.try_emplace(spot.partition);
    if (is_new) {
        for (NodeIndex node : spot.partition->nodes) {
            if (roomy_[node.value]) entry->second.push_back(node);
        }
    }
    return entry->second;
}

WhatIf::Draft WhatIf::draft() const {
    return {std::make_shared<JobTerms>(*question_.job.request), question_.job.time_limit,
            partitions_of(question_.job)};
}

bool WhatIf::has_room() {
    Draft unlicensed = draft();
    unlicensed.request->licenses.clear();
    return try_now(unlicensed).has_value();
}

// Where the draft would start, if it can at once.
std::optional<Explanation::Change> WhatIf::try_now(const Draft& draft) {
    const Cluster& cluster = question_.cluster;
    Job job{.id = question_.job.id, .request = draft.request, .user = question_.job.user};
    job.eligible_time = question_.job.eligible_time;
    job.time_limit = draft.time_limit;
    if (licenses_missing(cluster, job, question_.now)) return {};
    JobClass probe{.sample = draft.request,
                   .partition = {},
                   .time_limit = draft.time_limit,
                   .reservations = {},
                   .user = job.user,
                   .waiting = {}};
    std::string reservations = usable_reservations(cluster, job);
    for (const std::string& name : draft.partitions) {
        const Partition* partition = cluster.find_partition(name);
        if (!partition) continue;
        Result<Need> need = need_of(cluster, job, *partition);
        if (!need || partition_forbids(cluster, probe, *need) ||
            !unavailable_nodes(cluster, *need).empty())
            continue;
        if (allowance(cluster, job, *partition, question_.now).jobs == 0) continue;
        bool outside = draft.request->reservation.empty();
        for (const Spot& spot :
             spots_in(cluster, question_.now, *partition, reservations, outside)) {
            Choice choice = choose(spot, *need, job, draft.time_limit);
            if (choice.empty()) continue;
            return Explanation::Change{
                .option = {}, .partition = name, .nodes = names_of(cluster, choice)};
        }
    }
    return {};
}

Choice WhatIf::choose(const Spot& spot, const Need& need, const Job& job, TimeLimit limit) {
    const Cluster& cluster = question_.cluster;
    Planner& planner = question_.planner;
    planner.open_reservation(cluster, spot.reservation, question_.now);
    PlanTime from = planner.tick(question_.now);
    if (finder_.steps > kStepsMost) return {};
    Detail detail{cluster, from};
    Choice choice =
        finder_.at_once({.need = need,
                         .nodes = nodes_of(spot),
                         .from = from,
                         .length = length_in(spot.reservation, planner, from, length_of(limit)),
                         .options = select_options(cluster, question_.now, need, job),
                         .detail = depends_on_detail(need) ? &detail : nullptr});
    planner.open_reservation(cluster, nullptr, question_.now);
    return !choice.empty() && allocate(cluster, need, choice) ? choice : Choice{};
}

bool WhatIf::add(Draft draft, std::string option, double given_up) {
    auto change = try_now(draft);
    if (!change) return false;
    change->option = std::move(option);
    found_.push_back({given_up, *std::move(change)});
    return true;
}

void WhatIf::add_most(std::uint64_t wanted, std::uint64_t unit, const Edit& edit,
                      const Print& print) {
    auto with = [&](std::uint64_t units) {
        Draft changed = draft();
        edit(changed, units * unit);
        return changed;
    };
    if (wanted <= unit || !try_now(with(1))) return;
    std::uint64_t works = 1, too_much = (wanted + unit - 1) / unit;
    while (too_much - works > 1) {
        std::uint64_t middle = works + (too_much - works) / 2;
        (try_now(with(middle)) ? works : too_much) = middle;
    }
    Draft most = with(works);
    double part = static_cast<double>(works * unit) / static_cast<double>(wanted);
    std::string option = print(most);
    add(std::move(most), std::move(option), 1 - part);
}

}  // namespace sluice
