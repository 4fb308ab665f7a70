// core/schedule/shortage.cc: which resources are short, and which jobs hold them.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/limits/reservations.h"
#include "core/schedule/explain.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

constexpr std::size_t kHoldersMost = 5;
constexpr std::size_t kHoldersOfEach = 2;
constexpr std::size_t kUnusableMost = 5;

// A resource of one kind of node that the job asks for.
struct WantedAmount {
    std::string what;   // "cpu", "gres/gpu:a40"
    std::size_t place;  // in Amounts
};

std::vector<WantedAmount> wanted_on(const Need& need, const NodeKind& kind) {
    std::vector<WantedAmount> wanted;
    for (const auto* demands : std::initializer_list<const std::vector<GresCount>*>{
             &need.gres_per_node, &need.gpus, &need.shape->gpus_per_task}) {
        for (const GresCount& demand : *demands) {
            const NodeKind::Gres* entry = kind.find_gres(demand.name, demand.type);
            if (entry && kind.is_planned(*entry))
                wanted.push_back({tres_name(demand), kind.place_of(*entry)});
        }
    }
    wanted.push_back({"cpu", Amounts::kCpus});
    if (need.memory_counts) wanted.push_back({"mem", Amounts::kMemory});
    return wanted;
}

// The nodes that the job could use, as they are now.
struct Room {
    struct Place {
        NodeIndex node;
        Amounts free, asked;  // by the whole job on one node, or by its smallest part
        bool fits = false;
        std::uint32_t tasks = 0;
    };
    std::vector<Place> places;
    std::vector<NodeIndex> unusable;
    std::vector<NodeIndex> reserved;  // for others, before the job would be over
};

bool would_do(const Need& need, const Layout& layout, NodeIndex node) {
    std::uint32_t kind = layout.kind_of[node.value];
    if (!need.possible[kind] || need.excludes(node)) return false;
    bool named = need.required.size() >= need.nodes_min;  // then no others are taken
    if (named && std::find(need.required.begin(), need.required.end(), node) == need.required.end())
        return false;
    return std::any_of(need.ways.begin(), need.ways.end(),
                       [&](const FeatureWay& way) { return way.kinds[kind]; });
}

Room look_around(const Question& question, const Spot& spot, const Need& need) {
    const Scheduler& scheduler = question.cluster.scheduler();
    const Planner& planner = question.planner;
    PlanTime now = planner.tick(question.now);
    PlanTime end =
        end_of(now, length_in(spot.reservation, planner, now, length_of(question.job.time_limit)));
    std::uint32_t tasks = need.is_uniform() ? need.tasks_on_each() : 1;
    std::vector<std::uint32_t> gpus(need.gpus.size(), 1);
    std::vector<Amounts> asked;
    for (const NodeKind& kind : scheduler.layout.kinds)
        asked.push_back(amounts_for(need, kind, tasks, gpus));
    Room room;
    for (NodeIndex node : spot.nodes()) {
        if (!would_do(need, scheduler.layout, node)) continue;
        if (planner.plan().is_closed(node)) {
            room.unusable.push_back(node);
            continue;
        }
        if (planner.kept(node, now, end) != Planner::Kept::No) {
            room.reserved.push_back(node);
            continue;
        }
        Room::Place place{.node = node,
                          .free = planner.plan().window(node, now, 1).free,
                          .asked = asked[scheduler.layout.kind_of[node.value]]};
        const Planner::Owner& owner = planner.owner(node);
        if (owner.user && *owner.user != question.job.user && owner.until > now) place.free = {};
        place.fits = place.free.holds(place.asked);
        if (place.fits)
            place.tasks = need.is_uniform()
                              ? tasks
                              : tasks_that_fit(need, scheduler.layout.kind(node), place.free);
        room.places.push_back(place);
    }
    return room;
}

std::uint64_t positive(std::int32_t number) {
    return static_cast<std::uint64_t>(std::max(0, number));
}

// The node that lacks least, and what it lacks.
void nearest_node(const Question& question, const Need& need, const Room& room,
                  Explanation::Place& out) {
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
    for (const WantedAmount& wanted : wanted_on(need, layout.kind(best->node))) {
        if (best->free[wanted.place] >= best->asked[wanted.place]) continue;
        out.short_of.push_back({wanted.what, positive(best->asked[wanted.place]),
                                positive(best->free[wanted.place]),
                                question.cluster.node(best->node).config.name});
    }
}

void counted_over_all(const Question& question, const Need& need, const Room& room,
                      Explanation::Place& out) {
    const Layout& layout = question.cluster.scheduler().layout;
    std::uint64_t nodes = 0, tasks = 0;
    for (const Room::Place& place : room.places) {
        nodes += place.tasks > 0;
        tasks += place.tasks;
    }
    if (nodes < need.nodes_min)
        out.short_of.push_back({"node", need.nodes_min, nodes, {}});
    else if (need.tasks_given && tasks < need.tasks)
        out.short_of.push_back({"task", need.tasks, tasks, {}});
    for (const GresCount& demand : need.gpus) {
        std::uint64_t free = 0;
        for (const Room::Place& place : room.places) {
            const NodeKind& kind = layout.kind(place.node);
            const NodeKind::Gres* entry = kind.find_gres(demand.name, demand.type);
            if (entry && kind.is_planned(*entry))
                free += positive(place.free[kind.place_of(*entry)]);
        }
        if (free < demand.count)
            out.short_of.push_back({tres_name(demand), demand.count, free, {}});
    }
}

// Whether jobs that hold this resource are listed: what is short by name, else devices, else CPUs.
bool matters(const Explanation::Place& out, const WantedAmount& wanted, const Need& need) {
    bool named = false, is_short = false;
    for (const Explanation::Shortage& shortage : out.short_of) {
        named = named || !shortage.node.empty() || shortage.what.starts_with("gres/");
        is_short = is_short || shortage.what == wanted.what;
    }
    if (named) return is_short;
    bool has_devices =
        !need.gres_per_node.empty() || !need.gpus.empty() || !need.shape->gpus_per_task.empty();
    return has_devices ? wanted.what.starts_with("gres/") : wanted.what == "cpu";
}

// A job that holds or has booked some of it.
struct Found {
    JobId job;
    bool is_near = false;  // on a node where the job is expected to start
    Time when;             // it ends, or starts
    std::optional<Planner::Number> booking = {};
};

// The first few by time: the rest is neither shown nor computed.
std::vector<Found> first_of(std::vector<Found> found, std::size_t most) {
    auto sooner = [](const Found& a, const Found& b) {
        return std::tuple(!a.is_near, a.when, a.job) < std::tuple(!b.is_near, b.when, b.job);
    };
    std::size_t count = std::min(most, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count),
                      found.end(), sooner);
    found.resize(count);
    return found;
}

// By node index: nodes that the job could use and where it does not fit (or does).
std::vector<bool> nodes_where(const Cluster& cluster, const Room& room, bool fits) {
    std::vector<bool> nodes(cluster.node_count());
    for (const Room::Place& place : room.places) nodes[place.node.value] = place.fits == fits;
    return nodes;
}

std::vector<bool> names_in(const Cluster& cluster, const std::string& list) {
    std::vector<bool> nodes(cluster.node_count());
    Result<Hostlist> parsed = Hostlist::parse(list);
    if (!parsed) return nodes;
    for (const std::string& name : parsed->names()) {
        if (auto node = cluster.find_node(name)) nodes[node->value] = true;
    }
    return nodes;
}

// Running jobs on nodes where it does not fit.
class Running {
public:
    Running(const Question& question, const Need& need, const Room& room,
            const Explanation::Place& out)
        : question_(question),
          cluster_(question.cluster),
          layout_(question.cluster.scheduler().layout) {
        there_ = nodes_where(cluster_, room, false);
        if (!need.is_uniform()) {
            for (const Room::Place& place : room.places) there_[place.node.value] = true;
        }
        for (const NodeKind& kind : layout_.kinds) {
            wanted_.push_back(wanted_on(need, kind));
            std::erase_if(wanted_.back(),
                          [&](const WantedAmount& each) { return !matters(out, each, need); });
        }
    }

    std::vector<Found> all(const std::string& start_nodes) const {
        std::vector<bool> near = names_in(cluster_, start_nodes);
        std::vector<JobId> jobs;
        for (std::uint32_t i = 0; i < there_.size(); ++i) {
            const auto& here = cluster_.node(NodeIndex{i}).jobs;
            if (there_[i]) jobs.insert(jobs.end(), here.begin(), here.end());
        }
        std::sort(jobs.begin(), jobs.end());
        jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
        std::vector<Found> found;
        for (JobId id : jobs) {
            const Job& job = cluster_.job(id);
            bool any = false, is_near = false;
            for (const NodeShare& share : job.run.allocation->nodes) {
                if (!there_[share.node.value] || !holds_any(job, share)) continue;
                any = true;
                is_near = is_near || near[share.node.value];
            }
            if (any) found.push_back({id, is_near, expected_end(cluster_, job, question_.now)});
        }
        return found;
    }

    Explanation::Holder describe(const Found& found) const {
        const Job& job = cluster_.job(found.job);
        Explanation::Holder holder = holder_of(question_, job);
        std::vector<std::string> names;
        for (const NodeShare& share : job.run.allocation->nodes) {
            if (!there_[share.node.value] || !holds_any(job, share)) continue;
            Amounts held = held_by(job, share);
            for (const WantedAmount& each : wanted_[layout_.kind_of[share.node.value]]) {
                if (held[each.place] > 0) holder.amounts[each.what] += positive(held[each.place]);
            }
            names.push_back(cluster_.node(share.node).config.name);
        }
        holder.nodes = Hostlist(std::move(names)).sorted().to_string();
        return holder;
    }

private:
    Amounts held_by(const Job& job, const NodeShare& share) const {
        const NodeKind& kind = layout_.kind(share.node);
        Amounts held = kind.amounts_of(share, job.partition);
        if (cluster_.node(share.node).exclusive) held[Amounts::kCpus] = kind.total[Amounts::kCpus];
        return held;
    }
    bool holds_any(const Job& job, const NodeShare& share) const {
        Amounts held = held_by(job, share);
        const std::vector<WantedAmount>& wanted = wanted_[layout_.kind_of[share.node.value]];
        return std::any_of(wanted.begin(), wanted.end(),
                           [&](const WantedAmount& each) { return held[each.place] > 0; });
    }

    const Question& question_;
    const Cluster& cluster_;
    const Layout& layout_;
    std::vector<bool> there_;
    std::vector<std::vector<WantedAmount>> wanted_;  // by kind
};

// There is room, but it is booked before this job would end.
std::vector<Found> promised_there(const Question& question, const Room& room) {
    const Planner& planner = question.planner;
    PlanTime end = end_of(planner.tick(question.now), length_of(question.job.time_limit));
    std::set<Planner::Number> numbers;
    for (const Room::Place& place : room.places) {
        if (!place.fits) continue;
        for (Planner::Number number : planner.bookings_on(place.node)) {
            const Booking& booking = planner.booking(number);
            if (booking.start < end && !gives_way(question, booking)) numbers.insert(number);
        }
    }
    std::vector<Found> found;
    for (Planner::Number number : numbers) {
        const Booking& booking = planner.booking(number);
        found.push_back({booking.job, false, planner.time(booking.start), number});
    }
    return found;
}

Explanation::Holder describe_promised(const Question& question, const Need& need, const Room& room,
                                      const Found& found, const Explanation::Place& out) {
    const Cluster& cluster = question.cluster;
    const Planner& planner = question.planner;
    const Booking& booking = planner.booking(*found.booking);
    const Job& job = cluster.job(booking.job);
    Explanation::Holder holder{.job = print_job_id(job),
                               .user = job.user,
                               .partition = cluster.partitions()[booking.partition].config.name};
    holder.waits = true;
    holder.start = std::max(question.now, planner.time(booking.start));
    if (booking.end != kForever) holder.end = planner.time(booking.end);
    std::vector<bool> fitting = nodes_where(cluster, room, true);
    std::vector<std::string> names;
    for (const Chosen& chosen : booking.nodes) {
        if (!fitting[chosen.node.value]) continue;
        for (const WantedAmount& wanted :
             wanted_on(need, cluster.scheduler().layout.kind(chosen.node))) {
            if (!matters(out, wanted, need) || chosen.take[wanted.place] <= 0) continue;
            holder.amounts[wanted.what] += positive(chosen.take[wanted.place]);
        }
        names.push_back(cluster.node(chosen.node).config.name);
    }
    holder.nodes = Hostlist(std::move(names)).sorted().to_string();
    return holder;
}

void add_holders(const Question& question, const Need& need, const Room& room,
                 const std::string& start_nodes, Explanation::Place& out) {
    // If it waits in several partitions, each gets a short list.
    std::size_t most = partitions_of(question.job).size() == 1 ? kHoldersMost : kHoldersOfEach;
    bool fits_somewhere = std::any_of(room.places.begin(), room.places.end(),
                                      [](const auto& place) { return place.fits; });
    std::size_t all = 0;
    if (out.short_of.empty() && fits_somewhere) {
        std::vector<Found> found = promised_there(question, room);
        all = found.size();
        for (const Found& each : first_of(std::move(found), most)) {
            out.holders.push_back(describe_promised(question, need, room, each, out));
        }
    } else {
        Running running(question, need, room, out);
        std::vector<Found> found = running.all(start_nodes);
        all = found.size();
        for (const Found& each : first_of(std::move(found), most))
            out.holders.push_back(running.describe(each));
    }
    out.holders_more = static_cast<std::uint32_t>(all - out.holders.size());
}

void add_unusable(const Question& question, const Room& room, Explanation::Place& out) {
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
    for (NodeIndex index : room.unusable) {
        const Node& node = question.cluster.node(index);
        groups[{print_node_state_complete(node_base(node), node_flags(node)), node.reason}]
            .push_back(node.config.name);
    }
    for (auto& [why, nodes] : groups) {
        if (out.unusable.size() == kUnusableMost) break;
        auto count = static_cast<std::uint32_t>(nodes.size());
        out.unusable.push_back(
            {Hostlist(std::move(nodes)).sorted().to_string(), count, why.first, why.second});
    }
}

// Which reservations keep the nodes, and from when to when.
void add_reserved(const Question& question, const Spot& spot, const Room& room,
                  Explanation::Place& out) {
    const Cluster& cluster = question.cluster;
    const Planner& planner = question.planner;
    PlanTime now = planner.tick(question.now),
             end = end_of(now, length_of(question.job.time_limit));
    for (const Reservation& reservation : cluster.reservations()) {
        if (&reservation == spot.reservation || room.reserved.empty()) continue;
        std::vector<std::string> nodes;
        for (NodeIndex node : room.reserved) {
            if (reservation.has_node(node)) nodes.push_back(cluster.node(node).config.name);
        }
        for (const Interval& time : intervals_of(reservation)) {
            if (nodes.empty() || planner.tick(time.start) >= end || planner.tick(time.end) <= now)
                continue;
            auto count = static_cast<std::uint32_t>(nodes.size());
            out.reserved.push_back({Hostlist(std::move(nodes)).sorted().to_string(), count,
                                    reservation.name, reservation.has(kResvMaint), time.start,
                                    time.end});
            break;
        }
        if (out.reserved.size() == kUnusableMost) break;
    }
}

}  // namespace

Explanation::Place explain_shortage(const Question& question, const Spot& spot, const Need& need,
                                    const Explanation& so_far) {
    Explanation::Place out{
        .partition = spot.partition->config.name, .reservation = {}, .unusable = {}};
    if (spot.reservation) out.reservation = spot.reservation->name;
    Room room = look_around(question, spot, need);
    add_unusable(question, room, out);
    add_reserved(question, spot, room, out);
    bool one_node = need.is_uniform() && need.nodes_min == 1;
    if (!one_node)
        counted_over_all(question, need, room, out);
    else if (std::none_of(room.places.begin(), room.places.end(),
                          [](const auto& place) { return place.fits; })) {
        nearest_node(question, need, room, out);
    }
    add_holders(question, need, room, so_far.start_nodes, out);
    return out;
}

}  // namespace sluice
