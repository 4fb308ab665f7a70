// core/schedule/what_if.cc
//
// What if it asked for less? Each candidate is a whole request that is placed on the live plan like
// any other, so what is suggested would really start now.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "core/job/verbs.h"
#include "core/limits/access.h"
#include "core/limits/reservations.h"
#include "core/place/place.h"
#include "core/schedule/explain.h"
#include "model/times.h"

namespace sluice {

namespace {

constexpr std::size_t kChangesMost = 6;
constexpr Megabytes kGigabyte = 1024;
constexpr std::uint64_t kStepsMost = 150'000;  // nodes looked at: about 5 ms
constexpr std::uint64_t kYearInMinutes = 366 * 24 * 60;

// How much is given up, for what cannot be said as a part of what was asked: tried in this order.
constexpr double kOtherPartition = 0.2, kOtherType = 0.3, kDroppedWish = 0.4;

struct Draft {
    std::shared_ptr<JobTerms> request;
    TimeLimit time_limit;
    std::vector<std::string> partitions;
    Shape& shape() { return request->shape; }
};

struct Way {
    double given_up;             // between 0 and 1
    Explanation::Change change;
};

class WhatIf {
public:
    explicit WhatIf(const Question& question)
        : question_(question), roomy_(nodes_with_room(question)),
          behind_(question.cluster.scheduler().planner, bookings_behind(question, roomy_)),
          finder_(question.cluster.scheduler().planner, question.cluster.scheduler().layout) {}

    std::vector<Explanation::Change> answer();
    bool has_room() { return try_now(draft()).has_value(); }

private:
    using Edit = std::function<void(Draft&, std::uint64_t)>;
    using Print = std::function<std::string(Draft&)>;

    Draft draft() const;
    std::optional<Explanation::Change> try_now(const Draft& draft);
    Choice choose(const Spot& spot, const Need& need, const Job& job, TimeLimit limit);
    bool add(Draft draft, std::string option, double given_up);
    // The most of something, below what was asked for, with which it starts now.
    void add_most(std::uint64_t wanted, std::uint64_t unit, const Edit& edit, const Print& print);
    void add_shorter();
    void add_devices();
    void add_fewer_of(std::vector<GresCount> Shape::*wishes, std::size_t index, std::string_view option);
    void add_other_types(std::vector<GresCount> Shape::*wishes, std::size_t index, std::string_view option);
    void add_less_memory();
    void add_fewer_tasks();
    void add_dropped();
    void add_partitions();
    void add_reservations();
    void add_halved();

    static std::vector<bool> nodes_with_room(const Question& question);
    static std::vector<Planner::Number> bookings_behind(const Question& question, const std::vector<bool>& nodes);
    const std::vector<NodeIndex>& nodes_of(const Spot& spot);

    const Question& question_;
    std::vector<bool> roomy_;        // by node index
    Lifted behind_;                  // whoever gives way to the job
    StartFinder finder_;
    std::map<const Partition*, std::vector<NodeIndex>> roomy_in_;
    std::vector<Way> found_;
};

// The nodes that any variation could start on: something of all it wants is free. The others need
// not be looked at again and again. Those of reservations may be free for who may use them.
std::vector<bool> WhatIf::nodes_with_room(const Question& question) {
    const Cluster& cluster = question.cluster;
    const Layout& layout = cluster.scheduler().layout;
    const Planner& planner = cluster.scheduler().planner;
    const Shape& shape = question.job.request->shape;
    PlanTime now = planner.tick(question.now);
    std::vector<bool> nodes(cluster.node_count());
    auto has_some = [&](const NodeKind& kind, const Amounts& free, const std::string& name) {
        return std::any_of(kind.gres.begin(), kind.gres.end(), [&](const NodeKind::Gres& entry) {
            return entry.name == name && (!kind.is_planned(entry) || free[kind.place_of(entry)] > 0);
        });
    };
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        NodeIndex node{i};
        if (planner.plan().is_closed(node)) continue;
        Amounts free = planner.plan().window(node, now, 1).free;
        bool any = free[Amounts::kCpus] > 0;
        for (const auto* wishes : {&shape.gres_per_node, &shape.gpus_per_task}) {
            for (const GresCount& wish : *wishes) any = any && has_some(layout.kind(node), free, wish.name);
        }
        nodes[i] = any;
    }
    for (const Reservation& each : cluster.reservations()) {
        for (NodeIndex node : each.nodes) nodes[node.value] = true;
    }
    return nodes;
}

std::vector<Planner::Number> WhatIf::bookings_behind(const Question& question, const std::vector<bool>& nodes) {
    const Planner& planner = question.cluster.scheduler().planner;
    std::set<Planner::Number> found;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i]) continue;
        for (Planner::Number number : planner.bookings_on(NodeIndex{i})) {
            if (!planner.booking(number).lifted && gives_way(question, planner.booking(number))) found.insert(number);
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

std::string devices_text(std::string_view option, const std::vector<GresCount>& wishes) {
    if (option == "--gres") return fmt::format("{}={}", option, print_gres(wishes));
    std::string text;
    for (const GresCount& wish : wishes) {
        text += fmt::format("{}{}{}{}", text.empty() ? "" : ",", wish.type, wish.type.empty() ? "" : ":", wish.count);
    }
    return fmt::format("{}={}", option, text);
}

std::string nodes_text(const Shape& shape) {
    if (!shape.node_sizes.empty()) return "--nodes=" + shape.node_sizes;
    bool range = shape.nodes_max && *shape.nodes_max != shape.nodes_min;
    return range ? fmt::format("--nodes={}-{}", shape.nodes_min, *shape.nodes_max) : fmt::format("--nodes={}", shape.nodes_min);
}

Draft WhatIf::draft() const {
    return {std::make_shared<JobTerms>(*question_.job.request), question_.job.time_limit, partitions_of(question_.job)};
}

// Where the draft would start, if it can at once.
std::optional<Explanation::Change> WhatIf::try_now(const Draft& draft) {
    Cluster& cluster = question_.cluster;
    Job job{.id = question_.job.id, .request = draft.request, .user = question_.job.user};
    job.eligible_time = question_.job.eligible_time;
    JobClass probe{.sample = draft.request, .partition = {}, .time_limit = draft.time_limit};
    std::string reservations = usable_reservations(cluster, job);
    for (const std::string& name : draft.partitions) {
        const Partition* partition = cluster.find_partition(name);
        if (!partition || partition_forbids(probe, *partition)) continue;
        Result<Need> need = need_of(cluster, job, *partition);
        if (!need || !unavailable_nodes(cluster, *need).empty()) continue;
        bool outside = draft.request->reservation.empty();
        for (const Spot& spot : spots_in(cluster, question_.now, *partition, reservations, outside)) {
            Choice choice = choose(spot, *need, job, draft.time_limit);
            if (choice.empty()) continue;
            return Explanation::Change{.option = {}, .partition = name, .nodes = names_of(cluster, choice)};
        }
    }
    return {};
}

Choice WhatIf::choose(const Spot& spot, const Need& need, const Job& job, TimeLimit limit) {
    Cluster& cluster = question_.cluster;
    Planner& planner = cluster.scheduler().planner;
    planner.open_reservation(cluster, spot.reservation, question_.now);
    PlanTime from = planner.tick(question_.now);
    if (finder_.steps > kStepsMost) return {};
    Choice choice = finder_.at_once({.need = need, .nodes = nodes_of(spot), .from = from,
                                     .length = length_in(spot.reservation, planner, from, length_of(limit)),
                                     .options = select_options(cluster, question_.now, need, job)});
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

void WhatIf::add_most(std::uint64_t wanted, std::uint64_t unit, const Edit& edit, const Print& print) {
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

// Whole minutes, as they are written.
void WhatIf::add_shorter() {
    TimeLimit limit = question_.job.time_limit;
    std::uint64_t minutes = limit.unlimited() ? kYearInMinutes : static_cast<std::uint64_t>(limit.length().count() / 60);
    add_most(minutes, 1,
             [](Draft& draft, std::uint64_t most) { draft.time_limit = TimeLimit{Seconds{static_cast<std::int64_t>(most) * 60}}; },
             [](Draft& draft) { return "--time=" + print_time_limit(draft.time_limit); });
}

void WhatIf::add_fewer_of(std::vector<GresCount> Shape::*wishes, std::size_t index, std::string_view option) {
    add_most((question_.job.request->shape.*wishes)[index].count, 1,
             [&](Draft& draft, std::uint64_t count) { (draft.shape().*wishes)[index].count = count; },
             [&](Draft& draft) { return devices_text(option, draft.shape().*wishes); });
}

void WhatIf::add_other_types(std::vector<GresCount> Shape::*wishes, std::size_t index, std::string_view option) {
    const GresCount& wish = (question_.job.request->shape.*wishes)[index];
    if (wish.type.empty()) return;
    std::set<std::string> types;
    for (const NodeKind& kind : question_.cluster.scheduler().layout.kinds) {
        for (const NodeKind::Gres& entry : kind.gres) {
            if (entry.name == wish.name && !entry.type.empty() && entry.type != wish.type) types.insert(entry.type);
        }
    }
    bool any = false;
    types.insert("");  // any type: said only where no single one will do
    std::vector<std::string> order(std::next(types.begin()), types.end());
    order.emplace_back();
    for (const std::string& type : order) {
        if (type.empty() && any) break;
        Draft changed = draft();
        (changed.shape().*wishes)[index].type = type;
        std::string text = devices_text(option, changed.shape().*wishes);
        any = add(std::move(changed), std::move(text), kOtherType) || any;
    }
}

void WhatIf::add_devices() {
    struct Row {
        std::vector<GresCount> Shape::*wishes;
        std::string_view option;
    };
    constexpr Row kRows[] = {{&Shape::gres_per_node, "--gres"}, {&Shape::gpus, "--gpus"}, {&Shape::gpus_per_task, "--gpus-per-task"}};
    for (const Row& row : kRows) {
        for (std::size_t i = 0; i < (question_.job.request->shape.*row.wishes).size(); ++i) {
            add_fewer_of(row.wishes, i, row.option);
            add_other_types(row.wishes, i, row.option);
        }
    }
}

// The memory in force may be a default that nobody asked for, up to all of a node.
void WhatIf::add_less_memory() {
    const Partition* partition = question_.cluster.find_partition(partitions_of(question_.job).front());
    if (!partition) return;
    Result<Need> need = need_of(question_.cluster, question_.job, *partition);
    if (!need || !need->memory_counts) return;
    struct Row {
        std::optional<Megabytes> Need::*in_force;
        std::optional<Megabytes> Shape::*wish;
        std::string_view option;
    };
    constexpr Row kRows[] = {{&Need::mem_per_gpu, &Shape::mem_per_gpu, "--mem-per-gpu"},
                             {&Need::mem_per_node, &Shape::mem_per_node, "--mem"},
                             {&Need::mem_per_cpu, &Shape::mem_per_cpu, "--mem-per-cpu"}};
    for (const Row& row : kRows) {
        std::optional<Megabytes> amount = (*need).*row.in_force;
        if (!amount) continue;
        if (*amount == 0) {
            for (const NodeKind& kind : question_.cluster.scheduler().layout.kinds) {
                amount = std::max(*amount, static_cast<Megabytes>(kind.total[Amounts::kMemory]));
            }
        }
        add_most(*amount, *amount > kGigabyte ? kGigabyte : 1,
                 [&](Draft& draft, std::uint64_t most) { draft.shape().*row.wish = most; },
                 [&](Draft& draft) { return fmt::format("{}={}", row.option, print_memory(*(draft.shape().*row.wish))); });
        return;
    }
}

void WhatIf::add_fewer_tasks() {
    const Shape& shape = question_.job.request->shape;
    add_most(shape.cpus_per_task, 1,
             [](Draft& draft, std::uint64_t count) { draft.shape().cpus_per_task = static_cast<std::uint32_t>(count); },
             [](Draft& draft) { return fmt::format("--cpus-per-task={}", draft.shape().cpus_per_task); });
    add_most(shape.nodes_min, 1,
             [](Draft& draft, std::uint64_t count) {
                 Shape& changed = draft.shape();
                 if (changed.nodes_max == changed.nodes_min) changed.nodes_max = static_cast<std::uint32_t>(count);
                 changed.nodes_min = static_cast<std::uint32_t>(count);
                 changed.node_sizes.clear();
             },
             [](Draft& draft) { return nodes_text(draft.shape()); });
    if (!shape.ntasks || *shape.ntasks <= shape.nodes_min) return;
    std::uint64_t least = shape.nodes_min;
    add_most(*shape.ntasks - least + 1, 1,
             [&](Draft& draft, std::uint64_t count) { draft.shape().ntasks = static_cast<std::uint32_t>(least - 1 + count); },
             [](Draft& draft) { return fmt::format("--ntasks={}", *draft.shape().ntasks); });
}

void WhatIf::add_dropped() {
    const Shape& shape = question_.job.request->shape;
    auto without = [&](bool given, std::string option, auto edit) {
        if (!given) return;
        Draft changed = draft();
        edit(changed.shape());
        add(std::move(changed), "without " + option, kDroppedWish);
    };
    without(shape.exclusive != Exclusive::No, shape.exclusive == Exclusive::User ? "--exclusive=user" : "--exclusive",
            [](Shape& changed) { changed.exclusive = Exclusive::No; });
    without(!shape.constraint.empty(), "--constraint=" + shape.constraint, [](Shape& changed) { changed.constraint.clear(); });
    without(!shape.nodelist.empty(), "--nodelist=" + shape.nodelist, [](Shape& changed) { changed.nodelist.clear(); });
    without(!shape.exclude.empty(), "--exclude=" + shape.exclude, [](Shape& changed) { changed.exclude.clear(); });
    without(shape.contiguous, "--contiguous", [](Shape& changed) { changed.contiguous = false; });
    without(shape.switches_max.has_value(), fmt::format("--switches={}", shape.switches_max.value_or(0)),
            [](Shape& changed) { changed.switches_max.reset(); });
    without(shape.bind_gpus_to_cores, "--gres-flags=enforce-binding", [](Shape& changed) { changed.bind_gpus_to_cores = false; });
}

void WhatIf::add_partitions() {
    std::vector<std::string> own = partitions_of(question_.job);
    Caller caller{question_.job.user, question_.job.group};
    for (const Partition& partition : question_.cluster.partitions()) {
        const std::string& name = partition.config.name;
        if (std::find(own.begin(), own.end(), name) != own.end() || partition.config.hidden) continue;
        if (!may_use(question_.cluster, partition.config, caller, *question_.job.request)) continue;
        Draft changed = draft();
        changed.partitions = {name};
        add(std::move(changed), "-p " + name, kOtherPartition);
    }
}

// Others that are open to it; the one it asks for may not be.
void WhatIf::add_reservations() {
    const JobTerms& wish = *question_.job.request;
    if (!wish.reservation.empty()) {
        Draft changed = draft();
        changed.request->reservation.clear();
        add(std::move(changed), "without --reservation=" + wish.reservation, kDroppedWish);
    }
    for (const Reservation& each : question_.cluster.reservations()) {
        bool tried = each.name == wish.reservation || each.has(kResvMagnetic);
        if (tried || !is_open(each, question_.now) || !may_use(each, question_.job.user, wish)) continue;
        Draft changed = draft();
        changed.request->reservation = each.name;
        add(std::move(changed), "--reservation=" + each.name, kOtherPartition);
    }
}

// No single change will do: less of everything, in proportion.
void WhatIf::add_halved() {
    for (std::uint32_t shift = 1; shift <= 3; ++shift) {
        Draft changed = draft();
        Shape& shape = changed.shape();
        std::string text;
        auto note = [&](std::string option) { text += (text.empty() ? "" : " ") + std::move(option); };
        auto less = [&](auto number) { return std::max<decltype(number)>(1, number >> shift); };
        if (shape.nodes_min > 1) {
            if (shape.nodes_max == shape.nodes_min) shape.nodes_max = less(shape.nodes_min);
            shape.nodes_min = less(shape.nodes_min);
            shape.node_sizes.clear();
            note(nodes_text(shape));
        }
        if (shape.ntasks.value_or(1) > 1) note(fmt::format("--ntasks={}", *(shape.ntasks = less(*shape.ntasks))));
        if (shape.cpus_per_task > 1) note(fmt::format("--cpus-per-task={}", shape.cpus_per_task = less(shape.cpus_per_task)));
        for (GresCount& wish : shape.gres_per_node) wish.count = less(wish.count);
        if (!shape.gres_per_node.empty()) note(devices_text("--gres", shape.gres_per_node));
        for (GresCount& wish : shape.gpus) wish.count = less(wish.count);
        if (!shape.gpus.empty()) note(devices_text("--gpus", shape.gpus));
        if (shape.mem_per_node.value_or(0) > 1) note("--mem=" + print_memory(*(shape.mem_per_node = less(*shape.mem_per_node))));
        if (add(std::move(changed), std::move(text), 1)) return;
    }
}

std::vector<Explanation::Change> WhatIf::answer() {
    add_shorter();
    add_devices();
    add_less_memory();
    add_fewer_tasks();
    add_dropped();
    add_partitions();
    add_reservations();
    if (found_.empty()) add_halved();
    std::stable_sort(found_.begin(), found_.end(), [](const Way& a, const Way& b) { return a.given_up < b.given_up; });
    std::vector<Explanation::Change> changes;
    for (Way& way : found_) {
        if (changes.size() < kChangesMost) changes.push_back(std::move(way.change));
    }
    return changes;
}

}  // namespace

void explain_changes(const Question& question, Explanation& out) {
    WhatIf what_if(question);
    out.room_now = what_if.has_room();
    bool others_keep_it = out.hold != Reason::None || out.begin || !out.licenses.empty() || out.array_limit > 0;
    if (!out.room_now && !others_keep_it) out.now_if = what_if.answer();
}

}  // namespace sluice
