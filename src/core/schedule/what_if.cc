// core/schedule/what_if.cc: the changed requests that are tried.
#include "core/schedule/what_if.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/limits/access.h"
#include "core/limits/licenses.h"
#include "core/limits/reservations.h"
#include "model/times.h"

namespace sluice {

namespace {

constexpr std::size_t kChangesMost = 6;
constexpr Megabytes kGigabyte = 1024;
constexpr std::uint64_t kYearInMinutes = 366 * 24 * 60;

// The cost of changes that are not a fraction of the request; smaller ones are tried first.
constexpr double kOtherPartition = 0.2, kOtherType = 0.3, kDroppedDemand = 0.4;

std::string devices_text(std::string_view option, const std::vector<GresCount>& demands) {
    if (option == "--gres") return fmt::format("{}={}", option, print_gres(demands));
    std::string text;
    for (const GresCount& demand : demands) {
        text += fmt::format("{}{}{}{}", text.empty() ? "" : ",", demand.type,
                            demand.type.empty() ? "" : ":", demand.count);
    }
    return fmt::format("{}={}", option, text);
}

std::string nodes_text(const Shape& shape) {
    if (!shape.node_sizes.empty()) return "--nodes=" + shape.node_sizes;
    bool range = shape.nodes_max && *shape.nodes_max != shape.nodes_min;
    return range ? fmt::format("--nodes={}-{}", shape.nodes_min, *shape.nodes_max)
                 : fmt::format("--nodes={}", shape.nodes_min);
}

}  // namespace

// Whole minutes, as they are written.
void WhatIf::add_shorter() {
    TimeLimit limit = question_.job.time_limit;
    std::uint64_t minutes = limit.unlimited()
                                ? kYearInMinutes
                                : static_cast<std::uint64_t>(limit.length().count() / 60);
    add_most(
        minutes, 1,
        [](Draft& draft, std::uint64_t most) {
            draft.time_limit = TimeLimit{Seconds{static_cast<std::int64_t>(most) * 60}};
        },
        [](Draft& draft) { return "--time=" + print_time_limit(draft.time_limit); });
}

void WhatIf::add_fewer_of(std::vector<GresCount> Shape::*demands, std::size_t index,
                          std::string_view option) {
    add_most(
        (question_.job.request->shape.*demands)[index].count, 1,
        [&](Draft& draft, std::uint64_t count) { (draft.shape().*demands)[index].count = count; },
        [&](Draft& draft) { return devices_text(option, draft.shape().*demands); });
}

void WhatIf::add_other_types(std::vector<GresCount> Shape::*demands, std::size_t index,
                             std::string_view option) {
    const GresCount& demand = (question_.job.request->shape.*demands)[index];
    if (demand.type.empty()) return;
    std::set<std::string> types;
    for (const NodeKind& kind : question_.cluster.scheduler().layout.kinds) {
        for (const NodeKind::Gres& entry : kind.gres) {
            if (entry.name == demand.name && !entry.type.empty() && entry.type != demand.type)
                types.insert(entry.type);
        }
    }
    bool any = false;
    types.insert("");  // any type: suggested only if no single type fits
    std::vector<std::string> order(std::next(types.begin()), types.end());
    order.emplace_back();
    for (const std::string& type : order) {
        if (type.empty() && any) break;
        Draft changed = draft();
        (changed.shape().*demands)[index].type = type;
        std::string text = devices_text(option, changed.shape().*demands);
        any = add(std::move(changed), std::move(text), kOtherType) || any;
    }
}

void WhatIf::add_devices() {
    struct Row {
        std::vector<GresCount> Shape::*demands;
        std::string_view option;
    };
    constexpr Row kRows[] = {{&Shape::gres_per_node, "--gres"},
                             {&Shape::gpus, "--gpus"},
                             {&Shape::gpus_per_task, "--gpus-per-task"}};
    for (const Row& row : kRows) {
        for (std::size_t i = 0; i < (question_.job.request->shape.*row.demands).size(); ++i) {
            add_fewer_of(row.demands, i, row.option);
            add_other_types(row.demands, i, row.option);
        }
    }
}

// The memory in force may be a default, up to all of a node.
void WhatIf::add_less_memory() {
    const Partition* partition =
        question_.cluster.find_partition(partitions_of(question_.job).front());
    if (!partition) return;
    Result<Need> need = need_of(question_.cluster, question_.job, *partition);
    if (!need || !need->memory_counts) return;
    struct Row {
        std::optional<Megabytes> Need::*in_force;
        std::optional<Megabytes> Shape::*demand;
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
        add_most(
            *amount, *amount > kGigabyte ? kGigabyte : 1,
            [&](Draft& draft, std::uint64_t most) { draft.shape().*row.demand = most; },
            [&](Draft& draft) {
                return fmt::format("{}={}", row.option, print_memory(*(draft.shape().*row.demand)));
            });
        return;
    }
}

void WhatIf::add_fewer_tasks() {
    const Shape& shape = question_.job.request->shape;
    add_most(
        shape.cpus_per_task, 1,
        [](Draft& draft, std::uint64_t count) {
            draft.shape().cpus_per_task = static_cast<std::uint32_t>(count);
        },
        [](Draft& draft) {
            return fmt::format("--cpus-per-task={}", draft.shape().cpus_per_task);
        });
    add_most(
        shape.nodes_min, 1,
        [](Draft& draft, std::uint64_t count) {
            Shape& changed = draft.shape();
            if (changed.nodes_max == changed.nodes_min)
                changed.nodes_max = static_cast<std::uint32_t>(count);
            changed.nodes_min = static_cast<std::uint32_t>(count);
            changed.node_sizes.clear();
        },
        [](Draft& draft) { return nodes_text(draft.shape()); });
    if (!shape.ntasks || *shape.ntasks <= shape.nodes_min) return;
    std::uint64_t least = shape.nodes_min;
    add_most(
        *shape.ntasks - least + 1, 1,
        [&](Draft& draft, std::uint64_t count) {
            draft.shape().ntasks = static_cast<std::uint32_t>(least - 1 + count);
        },
        [](Draft& draft) { return fmt::format("--ntasks={}", *draft.shape().ntasks); });
}

void WhatIf::add_fewer_licenses() {
    LicenseDemand demand =
        parse_licenses(question_.job.request->licenses).value();  // checked at submission
    if (demand.any) return;
    for (std::size_t i = 0; i < demand.wanted.size(); ++i) {
        add_most(
            demand.wanted[i].count, 1,
            [&](Draft& draft, std::uint64_t count) {
                std::vector<LicenseCount> fewer = demand.wanted;
                fewer[i].count = static_cast<std::uint32_t>(count);
                draft.request->licenses = print_licenses(fewer);
            },
            [](Draft& draft) { return "--licenses=" + draft.request->licenses; });
    }
}

void WhatIf::add_dropped() {
    const Shape& shape = question_.job.request->shape;
    auto try_without = [&](bool given, std::string option, auto edit) {
        if (!given) return;
        Draft changed = draft();
        edit(*changed.request);
        add(std::move(changed), "without " + option, kDroppedDemand);
    };
    auto without = [&](bool given, std::string option, auto edit) {
        try_without(given, std::move(option), [&](JobTerms& terms) { edit(terms.shape); });
    };
    const std::string& licenses = question_.job.request->licenses;
    try_without(!licenses.empty(), "--licenses=" + licenses,
                [](JobTerms& terms) { terms.licenses.clear(); });
    without(shape.exclusive != Exclusive::No,
            shape.exclusive == Exclusive::User ? "--exclusive=user" : "--exclusive",
            [](Shape& changed) { changed.exclusive = Exclusive::No; });
    without(!shape.constraint.empty(), "--constraint=" + shape.constraint,
            [](Shape& changed) { changed.constraint.clear(); });
    without(!shape.nodelist.empty(), "--nodelist=" + shape.nodelist,
            [](Shape& changed) { changed.nodelist.clear(); });
    without(!shape.exclude.empty(), "--exclude=" + shape.exclude,
            [](Shape& changed) { changed.exclude.clear(); });
    without(shape.contiguous, "--contiguous", [](Shape& changed) { changed.contiguous = false; });
    without(shape.switches_max.has_value(),
            fmt::format("--switches={}", shape.switches_max.value_or(0)),
            [](Shape& changed) { changed.switches_max.reset(); });
    without(shape.bind_gpus_to_cores, "--gres-flags=enforce-binding",
            [](Shape& changed) { changed.bind_gpus_to_cores = false; });
}

void WhatIf::add_partitions() {
    std::vector<std::string> own = partitions_of(question_.job);
    Caller caller{question_.job.user, question_.job.group};
    caller.hosts = {question_.job.request->submit_host};  // the host it would be sent from again
    for (const Partition& partition : question_.cluster.partitions()) {
        const std::string& name = partition.config.name;
        if (std::find(own.begin(), own.end(), name) != own.end() || partition.config.hidden)
            continue;
        if (!may_use(question_.cluster, partition.config, caller, *question_.job.request)) continue;
        Draft changed = draft();
        changed.partitions = {name};
        add(std::move(changed), "-p " + name, kOtherPartition);
    }
}

// Other reservations that are open to it; the requested one may not be.
void WhatIf::add_reservations() {
    const JobTerms& demand = *question_.job.request;
    if (!demand.reservation.empty()) {
        Draft changed = draft();
        changed.request->reservation.clear();
        add(std::move(changed), "without --reservation=" + demand.reservation, kDroppedDemand);
    }
    for (const Reservation& each : question_.cluster.reservations()) {
        bool tried = each.name == demand.reservation || each.has(kResvMagnetic);
        if (tried || !is_open(each, question_.now) || !may_use(each, question_.job.user, demand))
            continue;
        Draft changed = draft();
        changed.request->reservation = each.name;
        add(std::move(changed), "--reservation=" + each.name, kOtherPartition);
    }
}

// No single change is enough: less of everything, in proportion.
void WhatIf::add_halved() {
    for (std::uint32_t shift = 1; shift <= 3; ++shift) {
        Draft changed = draft();
        Shape& shape = changed.shape();
        std::string text;
        auto note = [&](std::string option) {
            text += (text.empty() ? "" : " ") + std::move(option);
        };
        auto less = [&](auto number) { return std::max<decltype(number)>(1, number >> shift); };
        if (shape.nodes_min > 1) {
            if (shape.nodes_max == shape.nodes_min) shape.nodes_max = less(shape.nodes_min);
            shape.nodes_min = less(shape.nodes_min);
            shape.node_sizes.clear();
            note(nodes_text(shape));
        }
        if (shape.ntasks.value_or(1) > 1)
            note(fmt::format("--ntasks={}", *(shape.ntasks = less(*shape.ntasks))));
        if (shape.cpus_per_task > 1)
            note(
                fmt::format("--cpus-per-task={}", shape.cpus_per_task = less(shape.cpus_per_task)));
        for (GresCount& demand : shape.gres_per_node) demand.count = less(demand.count);
        if (!shape.gres_per_node.empty()) note(devices_text("--gres", shape.gres_per_node));
        for (GresCount& demand : shape.gpus) demand.count = less(demand.count);
        if (!shape.gpus.empty()) note(devices_text("--gpus", shape.gpus));
        if (shape.mem_per_node.value_or(0) > 1)
            note("--mem=" + print_memory(*(shape.mem_per_node = less(*shape.mem_per_node))));
        if (add(std::move(changed), std::move(text), 1)) return;
    }
}

std::vector<Explanation::Change> WhatIf::answer() {
    add_shorter();
    add_devices();
    add_less_memory();
    add_fewer_tasks();
    add_fewer_licenses();
    add_dropped();
    add_partitions();
    add_reservations();
    if (found_.empty()) add_halved();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Way& a, const Way& b) { return a.given_up < b.given_up; });
    std::vector<Explanation::Change> changes;
    for (Way& way : found_) {
        if (changes.size() < kChangesMost) changes.push_back(std::move(way.change));
    }
    return changes;
}

void explain_changes(const Question& question, Explanation& out) {
    WhatIf what_if(question);
    out.room_now = what_if.has_room();
    bool others_keep_it = out.hold != Reason::None || out.begin || out.array_limit > 0;
    if ((!out.room_now || !out.licenses.empty()) && !others_keep_it) out.now_if = what_if.answer();
}

}  // namespace sluice
