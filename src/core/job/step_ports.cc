#include "core/job/step_ports.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

bool shares_a_node(const Step& a, const Step& b) {
    return std::any_of(a.nodes.begin(), a.nodes.end(), [&](const NodeShare& share) {
        return std::any_of(b.nodes.begin(), b.nodes.end(),
                           [&](const NodeShare& other) { return other.node == share.node; });
    });
}

using PortsInUse = std::vector<bool>;  // from the first of the range on

void add_ports(const PortRange& range, const Step& wanted, const StepList& steps,
               PortsInUse& used) {
    for (const auto& step : steps) {
        const bool counts = step->state == StepState::Running && !step->resv_ports.empty();
        if (!counts || !shares_a_node(wanted, *step)) continue;
        const std::string_view text = step->resv_ports;
        const std::size_t dash = std::min(text.find('-'), text.size());
        const auto first = to_number(text.substr(0, dash));
        const auto last = dash < text.size() ? to_number(text.substr(dash + 1)) : first;
        if (!first || !last) continue;
        // The range may have been another one when the step started.
        for (std::uint64_t port = std::max<std::uint64_t>(*first, range.first);
             port <= std::min<std::uint64_t>(*last, range.last); ++port) {
            used[port - range.first] = true;
        }
    }
}

std::optional<std::string> find_ports(const PortRange& range, const PortsInUse& used,
                                      std::uint32_t count) {
    std::uint32_t free = 0;
    for (std::size_t i = 0; i < used.size(); ++i) {
        free = used[i] ? 0 : free + 1;
        if (free < count) continue;
        const std::size_t last = range.first + i;
        if (count == 1) return fmt::format("{}", last);
        return fmt::format("{}-{}", last - count + 1, last);
    }
    return {};
}

}  // namespace

Result<std::optional<std::string>> reserve_ports(const Cluster& cluster, const Job& job,
                                                 const StepList& others, const Step& step,
                                                 std::uint32_t count) {
    const std::optional<PortRange>& range = cluster.settings().mpi_ports;
    if (!range) {
        return Error{ErrorCode::NotSupported,
                     "--resv-ports needs MpiParams=ports=FIRST-LAST in slurm.conf"};
    }
    std::uint32_t most = 0;
    for (const NodeShare& share : step.nodes) most = std::max(most, share.tasks);
    if (count == 0) count = std::max(1u, most);
    const std::size_t all = std::size_t{range->last} - range->first + 1;
    if (count > all) {
        return Error{ErrorCode::NotSupported,
                     fmt::format("--resv-ports={}: slurm.conf names {} ports", count, all)};
    }
    PortsInUse used(all);
    for (const NodeShare& share : step.nodes) {
        for (JobId id : cluster.node(share.node).jobs) {
            if (id != job.id) add_ports(*range, step, cluster.job(id).run.steps, used);
        }
    }
    if (!find_ports(*range, used, count)) {
        return Error{
            ErrorCode::NodesBusy,
            fmt::format("steps of other jobs have the ports that --resv-ports={} needs", count)};
    }
    add_ports(*range, step, others, used);
    return find_ports(*range, used, count);
}

}  // namespace sluice
