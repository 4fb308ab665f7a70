// core/schedule/shortage.cc: what is short, and who has it.
#include <algorithm>
#include <map>

#include "core/schedule/explain.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

constexpr std::size_t kHoldersMost = 5;
constexpr std::size_t kUnusableMost = 5;

// A resource of one kind of node that the job asks for.
struct Wanted {
    std::string what;       // "cpu", "gres/gpu:a40"
    std::size_t place;      // in Amounts
};

std::vector<Wanted> wanted_on(const Need& need, const NodeKind& kind) {
    std::vector<Wanted> wanted;
    for (const auto* wishes : std::initializer_list<const std::vector<GresCount>*>{
             &need.gres_per_node, &need.gpus, &need.shape->gpus_per_task}) {
        for (const GresCount& wish : *wishes) {
            const NodeKind::Gres* entry = kind.find_gres(wish.name, wish.type);
            if (entry && kind.is_planned(*entry)) wanted.push_back({tres_name(wish), kind.place_of(*entry)});
        }
    }
    wanted.push_back({"cpu", Amounts::kCpus});
    if (need.memory_counts) wanted.push_back({"mem", Amounts::kMemory});
    return wanted;
}

// The nodes that would do, as they are now.
struct Room {
    struct Place {
        NodeIndex node;
        Amounts free, asked;         // by the whole job on one node, or by its smallest part
        bool fits = false;
        std::uint32_t tasks = 0;
    };
    std::vector<Place> places;
    std::vector<NodeIndex> unusable;
};

bool would_do(const Need& need, const Layout& layout, NodeIndex node) {
    std::uint32_t kind = layout.kind_of[node.value];
    if (!need.possible[kind] || need.excludes(node)) return false;
    bool named = need.required.size() >= need.nodes_min;  // then no others are taken
    if (named && std::find(need.required.begin(), need.required.end(), node) == need.required.end()) return false;
    return std::any_of(need.ways.begin(), need.ways.end(), [&](const FeatureWay& way) { return way.kinds[kind]; });
}

Room look_around(const Question& question, const Need& need) {
    const Scheduler& scheduler = question.cluster.scheduler();
    const Planner& planner = scheduler.planner;
    PlanTime now = planner.tick(question.now);
    std::uint32_t tasks = need.is_uniform() ? need.tasks_on_each() : 1;
    std::vector<std::uint32_t> gpus(need.gpus.size(), 1);
    std::vector<Amounts> asked;
    for (const NodeKind& kind : scheduler.layout.kinds) asked.push_back(amounts_for(need, kind, tasks, gpus));
    Room room;
    for (NodeIndex node : need.partition->nodes) {
        if (!would_do(need, scheduler.layout, node)) continue;
        if (planner.plan().is_closed(node)) {
            room.unusable.push_back(node);
            continue;
        }
        Room::Place place{.node = node, .free = planner.plan().window(node, now, 1).free,
                          .asked = asked[scheduler.layout.kind_of[node.value]]};
        const Planner::Owner& owner = planner.owner(node);
        if (owner.user && *owner.user != question.job.user && owner.until > now) place.free = {};
        place.fits = place.free.holds(place.asked);
        if (place.fits) place.tasks = need.is_uniform() ? tasks : tasks_that_fit(need, scheduler.layout.kind(node), place.free);
        room.places.push_back(place);
    }
    return room;
}

std::uint64_t positive(std::int32_t number) { return static_cast<std::uint64_t>(std::max(0, number)); }

// The node that lacks least, and what it lacks.
void nearest_node(const Question& question, const Need& need, const Room& room, Explanation& out) {
    const Layout& layout = question.cluster.scheduler().layout;
    const Room::Place* best = nullptr;
    double best_lack = 0;
    for (const Room::Place& place : room.places) {
        double lack = 0;
        for (std::size_t i = 0; i < Amounts::kSize; ++i) {
            double missing = place.asked[i] - place.free[i];
            if (missing > 0) lack += missing / place.asked[i];
        }
        if (best && lack >= best_lack) continue;
        best = &place;
        best_lack = lack;
    }
    if (!best) return;
    for (const Wanted& wanted : wanted_on(need, layout.kind(best->node))) {
        if (best->free[wanted.place] >= best->asked[wanted.place]) continue;
        out.short_of.push_back({wanted.what, positive(best->asked[wanted.place]), positive(best->free[wanted.place]),
                                question.cluster.node(best->node).config.name});
    }
}

void counted_over_all(const Question& question, const Need& need, const Room& room, Explanation& out) {
    const Layout& layout = question.cluster.scheduler().layout;
    std::uint64_t nodes = 0, tasks = 0;
    for (const Room::Place& place : room.places) {
        nodes += place.tasks > 0;
        tasks += place.tasks;
    }
    if (nodes < need.nodes_min) out.short_of.push_back({"node", need.nodes_min, nodes, {}});
    else if (need.tasks_given && tasks < need.tasks) out.short_of.push_back({"task", need.tasks, tasks, {}});
    for (const GresCount& wish : need.gpus) {
        std::uint64_t free = 0;
        for (const Room::Place& place : room.places) {
            const NodeKind& kind = layout.kind(place.node);
            const NodeKind::Gres* entry = kind.find_gres(wish.name, wish.type);
            if (entry && kind.is_planned(*entry)) free += positive(place.free[kind.place_of(*entry)]);
        }
        if (free < wish.count) out.short_of.push_back({tres_name(wish), wish.count, free, {}});
    }
}

// Which amounts of others matter: what is short by name, else devices, else CPUs.
bool matters(const Explanation& out, const Wanted& wanted) {
    bool named = false, is_short = false;
    for (const Explanation::Shortage& shortage : out.short_of) {
        named = named || !shortage.node.empty() || shortage.what.starts_with("gres/");
        is_short = is_short || shortage.what == wanted.what;
    }
    if (named) return is_short;
    bool has_devices = std::any_of(out.needs.begin(), out.needs.end(),
                                   [](const auto& need) { return need.first.starts_with("gres/"); });
    return has_devices ? wanted.what.starts_with("gres/") : wanted.what == "cpu";
}

struct Found {
    Explanation::Holder holder;
    std::vector<std::string> nodes;
    bool is_near = false;            // on a node where the job is expected to start
};

void keep_first(std::vector<Found> found, Explanation& out) {
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
        if (a.is_near != b.is_near) return a.is_near;
        return a.holder.waits ? a.holder.start < b.holder.start : a.holder.end < b.holder.end;
    });
    for (Found& each : found) {
        if (out.holders.size() == kHoldersMost) break;
        each.holder.nodes = Hostlist(std::move(each.nodes)).sorted().to_string();
        out.holders.push_back(std::move(each.holder));
    }
    out.holders_more = static_cast<std::uint32_t>(found.size() - out.holders.size());
}

std::vector<std::string> names_in(const std::string& list) {
    Result<Hostlist> parsed = Hostlist::parse(list);
    return parsed ? std::move(*parsed).names() : std::vector<std::string>{};
}

// Running jobs on nodes where it does not fit.
void add_running(const Question& question, const Need& need, const Room& room, Explanation& out) {
    const Cluster& cluster = question.cluster;
    const Layout& layout = cluster.scheduler().layout;
    std::vector<std::string> near = names_in(out.start_nodes);
    std::map<JobId, Found> found;
    for (const Room::Place& place : room.places) {
        if (place.fits && need.is_uniform()) continue;
        const Node& node = cluster.node(place.node);
        const NodeKind& kind = layout.kind(place.node);
        std::vector<Wanted> wanted = wanted_on(need, kind);
        std::erase_if(wanted, [&](const Wanted& each) { return !matters(out, each); });
        for (JobId id : node.jobs) {
            const Job& job = cluster.job(id);
            for (const NodeShare& share : job.allocation->nodes) {
                if (share.node != place.node) continue;
                Amounts held = kind.amounts_of(share, job.partition);
                if (node.exclusive) held[Amounts::kCpus] = kind.total[Amounts::kCpus];
                bool any = false;
                for (const Wanted& each : wanted) any = any || held[each.place] > 0;
                if (!any) continue;
                Found& entry = found[id];
                if (entry.nodes.empty()) entry.holder = holder_of(question, job);
                for (const Wanted& each : wanted) {
                    if (held[each.place] > 0) entry.holder.amounts[each.what] += positive(held[each.place]);
                }
                entry.nodes.push_back(node.config.name);
                entry.is_near = entry.is_near || std::find(near.begin(), near.end(), node.config.name) != near.end();
            }
        }
    }
    std::vector<Found> all;
    for (auto& [id, each] : found) all.push_back(std::move(each));
    keep_first(std::move(all), out);
}

// Room there is, but it is promised to others before this job would be over.
void add_promised(const Question& question, const Need& need, const Room& room,
                  const std::vector<Planner::Number>& promised, Explanation& out) {
    const Cluster& cluster = question.cluster;
    const Planner& planner = cluster.scheduler().planner;
    std::set<NodeIndex> fitting;
    for (const Room::Place& place : room.places) {
        if (place.fits) fitting.insert(place.node);
    }
    PlanTime end = end_of(planner.tick(question.now), length_of(question.job.time_limit));
    std::vector<Found> found;
    for (Planner::Number number : promised) {
        const Booking& booking = planner.booking(number);
        if (booking.start >= end) continue;
        const Job& job = cluster.job(booking.job);
        Found each{.holder = {.job = print_job_id(job), .user = job.user,
                              .partition = cluster.partitions()[booking.partition].config.name}};
        each.holder.waits = true;
        each.holder.start = std::max(question.now, planner.time(booking.start));
        if (booking.end != kForever) each.holder.end = planner.time(booking.end);
        for (const Chosen& chosen : booking.nodes) {
            if (!fitting.contains(chosen.node)) continue;
            for (const Wanted& wanted : wanted_on(need, cluster.scheduler().layout.kind(chosen.node))) {
                if (!matters(out, wanted) || chosen.take[wanted.place] <= 0) continue;
                each.holder.amounts[wanted.what] += positive(chosen.take[wanted.place]);
            }
            each.nodes.push_back(cluster.node(chosen.node).config.name);
        }
        if (!each.nodes.empty()) found.push_back(std::move(each));
    }
    keep_first(std::move(found), out);
}

void add_unusable(const Question& question, const Room& room, Explanation& out) {
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
    for (NodeIndex index : room.unusable) {
        const Node& node = question.cluster.node(index);
        groups[{print_node_state_complete(node_base(node), node_flags(node)), node.reason}].push_back(node.config.name);
    }
    for (auto& [why, nodes] : groups) {
        if (out.unusable.size() == kUnusableMost) break;
        auto count = static_cast<std::uint32_t>(nodes.size());
        out.unusable.push_back({Hostlist(std::move(nodes)).sorted().to_string(), count, why.first, why.second});
    }
}

}  // namespace

void explain_shortage(const Question& question, const Need& need,
                      const std::vector<Planner::Number>& promised, Explanation& out) {
    Room room = look_around(question, need);
    add_unusable(question, room, out);
    bool one_node = need.is_uniform() && need.nodes_min == 1;
    bool fits_somewhere = std::any_of(room.places.begin(), room.places.end(), [](const auto& place) { return place.fits; });
    if (!one_node) counted_over_all(question, need, room, out);
    else if (!fits_somewhere) nearest_node(question, need, room, out);
    if (out.short_of.empty() && fits_somewhere) add_promised(question, need, room, promised, out);
    else add_running(question, need, room, out);
}

}  // namespace sluice
