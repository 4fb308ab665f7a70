// See task_cpus.h. Automatic binding and the masks of each kind are those of Slurm's task/affinity.
#include "model/task_cpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

// Compat: Slurm's words, before those that say why.
Error impossible(std::string why) {
    return {ErrorCode::LaunchFailed, "Unable to satisfy cpu bind request: " + std::move(why)};
}

using Group = std::uint32_t PlacedCpu::*;  // which CPUs belong together: by socket, core, domain

std::size_t count_groups(const std::vector<PlacedCpu>& cpus, Group group) {
    std::set<std::uint32_t> groups;
    for (const PlacedCpu& cpu : cpus) groups.insert(cpu.*group);
    return groups.size();
}

Numbers numbers_of(const std::vector<PlacedCpu>& cpus) {
    Numbers numbers;
    for (const PlacedCpu& cpu : cpus) numbers.push_back(cpu.number);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

bool holds(const Numbers& numbers, std::uint32_t number) {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

std::vector<PlacedCpu> first_threads(const std::vector<PlacedCpu>& cpus) {
    std::vector<PlacedCpu> firsts;
    std::set<std::uint32_t> cores;
    for (const PlacedCpu& cpu : cpus) {
        if (cores.insert(cpu.core).second) firsts.push_back(cpu);
    }
    return firsts;
}

// Adds the CPUs that share a group with one of the picked ones.
Numbers expand_groups(const std::vector<PlacedCpu>& cpus, const std::vector<PlacedCpu>& picked,
                      Group group) {
    std::set<std::uint32_t> groups;
    for (const PlacedCpu& cpu : picked) groups.insert(cpu.*group);
    std::vector<PlacedCpu> all;
    std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(all),
                 [&](const PlacedCpu& cpu) { return groups.contains(cpu.*group); });
    return numbers_of(all);
}

// Hands CPUs out, one task after the other. When all are in use, it begins again.
class CpuPicker {
public:
    // With `by_core`, a core of which a task has a CPU is not given to the next tasks.
    CpuPicker(const std::vector<PlacedCpu>& cpus, Group socket, CpuDistribution distribution,
              bool by_core)
        : spread_(distribution.sockets), by_core_(by_core) {
        std::map<std::uint32_t, std::vector<PlacedCpu>> sockets;
        for (const PlacedCpu& cpu : cpus) sockets[cpu.*socket].push_back(cpu);
        for (auto& [number, members] : sockets) {
            if (distribution.cores != Spread::Block) interleave_cores(members);
            all_.push_back(std::move(members));
        }
        free_ = all_;
    }

    std::vector<PlacedCpu> pick(std::size_t count, const Numbers& near) {
        std::vector<PlacedCpu> picked;
        std::size_t socket = first_socket(count, near);
        next_ = after(socket);
        while (picked.size() < count && (has_free() || begin_again(picked))) {
            while (free_[socket].empty()) socket = after(socket);
            picked.push_back(free_[socket].front());
            free_[socket].erase(free_[socket].begin());
            if (spread_ == Spread::Fcyclic) next_ = socket = after(socket);
        }
        if (by_core_) keep_from_others(picked);
        return picked;
    }

private:
    // The first thread of each core, then the second of each.
    static void interleave_cores(std::vector<PlacedCpu>& cpus) {
        std::map<std::uint32_t, std::size_t> seen;
        std::vector<std::pair<std::size_t, PlacedCpu>> order;
        for (const PlacedCpu& cpu : cpus) order.emplace_back(seen[cpu.core]++, cpu);
        std::stable_sort(order.begin(), order.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        std::transform(order.begin(), order.end(), cpus.begin(),
                       [](const auto& entry) { return entry.second; });
    }

    std::size_t after(std::size_t socket) const { return (socket + 1) % all_.size(); }

    bool has_free() const {
        return std::any_of(free_.begin(), free_.end(),
                           [](const auto& cpus) { return !cpus.empty(); });
    }

    bool is_near(std::size_t socket, const Numbers& near) const {
        return std::any_of(all_[socket].begin(), all_[socket].end(),
                           [&](const PlacedCpu& cpu) { return holds(near, cpu.number); });
    }

    // Where the task's CPUs are together: close to its devices if that is possible.
    std::size_t first_socket(std::size_t count, const Numbers& near) const {
        if (spread_ == Spread::Block) return 0;
        if (spread_ == Spread::Fcyclic) return next_;
        for (const bool must_be_near : {true, false}) {
            for (std::size_t i = 0; i < all_.size(); ++i) {
                const std::size_t socket = (next_ + i) % all_.size();
                if (free_[socket].size() < count || (must_be_near && !is_near(socket, near)))
                    continue;
                return socket;
            }
        }
        return next_;
    }

    // False if the task has every CPU there is.
    bool begin_again(const std::vector<PlacedCpu>& picked) {
        free_ = all_;
        for (std::vector<PlacedCpu>& cpus : free_) {
            std::erase_if(cpus, [&](const PlacedCpu& cpu) {
                return std::find(picked.begin(), picked.end(), cpu) != picked.end();
            });
        }
        return has_free();
    }

    void keep_from_others(const std::vector<PlacedCpu>& picked) {
        for (std::vector<PlacedCpu>& cpus : free_) {
            std::erase_if(cpus, [&](const PlacedCpu& cpu) {
                return std::any_of(picked.begin(), picked.end(),
                                   [&](const PlacedCpu& mine) { return mine.core == cpu.core; });
            });
        }
    }

    std::vector<std::vector<PlacedCpu>> all_, free_;  // by socket
    std::size_t next_ = 0;                            // the socket where the next task begins
    Spread spread_;
    bool by_core_;
};

// Masks that are made for the tasks: each has its CPUs, and what shares a core (a socket, a domain)
// with one of them.
std::vector<Numbers> generated(const std::vector<PlacedCpu>& cpus, const BindDemand& demand,
                               BindKind kind) {
    Group expanded = &PlacedCpu::number;
    if (kind == BindKind::Cores) expanded = &PlacedCpu::core;
    if (kind == BindKind::Sockets) expanded = &PlacedCpu::socket;
    if (kind == BindKind::Domains) expanded = &PlacedCpu::domain;
    const Group socket = kind == BindKind::Domains ? &PlacedCpu::domain : &PlacedCpu::socket;
    CpuPicker picker(cpus, socket, demand.distribution, kind == BindKind::Cores);
    std::vector<Numbers> masks;
    for (std::size_t task = 0; task < demand.tasks; ++task) {
        const Numbers near = task < demand.near.size() ? demand.near[task] : Numbers{};
        masks.push_back(expand_groups(cpus, picker.pick(demand.cpus_per_task, near), expanded));
    }
    return masks;
}

// Compat: as many sockets, cores or threads as the tasks need CPUs.
BindKind automatic_kind(const std::vector<PlacedCpu>& cpus, const BindDemand& demand) {
    const std::size_t needed = demand.tasks * demand.cpus_per_task;
    if (needed == count_groups(cpus, &PlacedCpu::socket)) return BindKind::Sockets;
    if (needed == count_groups(cpus, &PlacedCpu::core)) return BindKind::Cores;
    if (needed == cpus.size()) return BindKind::Threads;
    return demand.fallback == BindKind::Unset ? BindKind::None : demand.fallback;
}

Result<std::vector<Numbers>> listed_cpus(const StepCpus& step, const BindDemand& demand) {
    const Numbers all = numbers_of(step.cpus);
    std::vector<Numbers> masks;
    for (std::size_t task = 0; task < demand.tasks; ++task) {
        Numbers cpus = demand.bind.listed[task % demand.bind.listed.size()];
        if (!std::includes(all.begin(), all.end(), cpus.begin(), cpus.end())) {
            return impossible(
                fmt::format("CPU binding outside of job step allocation, allocated CPUs "
                            "are: {}.",
                            print_mask(all)));
        }
        masks.push_back(cpus.empty() ? all : std::move(cpus));  // Compat: "0" binds to nothing
    }
    return masks;
}

Result<std::vector<Numbers>> domain_cpus(const StepCpus& step, const BindDemand& demand) {
    const std::string_view word = cpu_bind_word(demand.bind.kind);
    if (!step.whole_node) {
        return impossible(
            fmt::format("Entire node must be allocated for {}{}", word, demand.bind.list));
    }
    std::set<std::uint32_t> known;
    for (const PlacedCpu& cpu : step.cpus) known.insert(cpu.domain);
    const Numbers domains(known.begin(), known.end());
    std::vector<Numbers> masks;
    for (std::size_t task = 0; task < demand.tasks; ++task) {
        const Numbers wanted = demand.bind.kind == BindKind::DomainRank
                                   ? Numbers{domains[task % domains.size()]}
                                   : demand.bind.listed[task % demand.bind.listed.size()];
        std::vector<PlacedCpu> cpus;
        for (std::uint32_t domain : wanted) {
            if (known.contains(domain)) continue;
            return impossible(
                fmt::format("NUMA node {} does not exist; cannot bind local task {} to it "
                            "(--cpu-bind={})",
                            domain, task, word.substr(0, word.find(':'))));
        }
        std::copy_if(step.cpus.begin(), step.cpus.end(), std::back_inserter(cpus),
                     [&](const PlacedCpu& cpu) { return holds(wanted, cpu.domain); });
        masks.push_back(numbers_of(cpus.empty() ? step.cpus : cpus));
    }
    return masks;
}

}  // namespace

CpuDistribution cpu_distribution_of(std::string_view text) {
    const std::vector<std::string_view> parts = split(text.substr(0, text.find(',')), ':');
    auto spread = [&](std::size_t part, Spread otherwise) {
        if (parts.size() <= part) return otherwise;
        if (parts[part] == "block") return Spread::Block;
        if (parts[part] == "cyclic") return Spread::Cyclic;
        return parts[part] == "fcyclic" ? Spread::Fcyclic : otherwise;
    };
    return {spread(1, Spread::Cyclic), spread(2, Spread::Block)};
}

Result<BoundTasks> bind_tasks(const StepCpus& step, const BindDemand& demand) {
    const std::vector<PlacedCpu> cpus =
        demand.one_thread_per_core ? first_threads(step.cpus) : step.cpus;
    BoundTasks bound{.kind = demand.bind.kind, .cpus = {}};
    if (bound.kind == BindKind::Unset || bound.kind == BindKind::Rank) {
        bound.kind = automatic_kind(cpus, demand);
    }
    switch (bound.kind) {
        case BindKind::Map:
        case BindKind::Mask:
            bound.cpus = TRY(listed_cpus(step, demand));
            break;
        case BindKind::DomainRank:
        case BindKind::DomainMap:
        case BindKind::DomainMask:
            bound.cpus = TRY(domain_cpus(step, demand));
            break;
        case BindKind::Threads:
        case BindKind::Cores:
        case BindKind::Sockets:
        case BindKind::Domains:
            bound.cpus = generated(cpus, demand, bound.kind);
            break;
        default:
            bound.cpus.assign(demand.tasks, numbers_of(cpus));
    }
    return bound;
}

}  // namespace sluice
