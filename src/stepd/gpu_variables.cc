#include "stepd/gpu_variables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

std::size_t place_in(const std::vector<std::uint32_t>& all, std::uint32_t gpu) {
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), gpu) - all.begin());
}

// By its place among the GPUs of the share; empty: not known.
std::string uuid_at(const wire::StepOrder& order, std::size_t place) {
    const auto at = static_cast<int>(place);
    return at < order.gpus().uuids_size() ? order.gpus().uuids(at) : std::string{};
}

// The GPUs as a program counts them. A MIG device has no number, so it is named by its UUID; others
// are if gres.conf has Flags=env_uuid.
std::string visible_list(const wire::StepOrder& order, const std::vector<std::uint32_t>& gpus) {
    const std::vector<std::uint32_t> all = gpus_of(order.share());
    const std::vector<std::uint32_t> numbers = visible_numbers(order, gpus);
    std::vector<std::string> words;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        const std::string uuid = uuid_at(order, place_in(all, gpus[i]));
        const bool by_uuid = !uuid.empty() && (order.gpus().by_uuid() || uuid.starts_with("MIG-"));
        words.push_back(by_uuid ? uuid : fmt::format("{}", numbers[i]));
    }
    return join(words, ",");
}

std::uint64_t count_of(const wire::NodeShare& share, std::string_view name) {
    std::uint64_t count = 0;
    for (const wire::NodeShare::Devices& devices : share.gres()) {
        if (devices.name() == name) count += devices.count();
    }
    return count;
}

// For nvidia-docker, whose containers are in no cgroup of the step.
void set_uuids(Environment& environment, const wire::StepOrder& order,
               const std::vector<std::uint32_t>& gpus) {
    const std::vector<std::uint32_t> all = gpus_of(order.share());
    std::vector<std::string> uuids;
    for (std::uint32_t gpu : gpus) uuids.push_back(uuid_at(order, place_in(all, gpu)));
    const bool known = std::none_of(uuids.begin(), uuids.end(),
                                    [](const std::string& uuid) { return uuid.empty(); });
    if (known) environment.set("NV_GPU", join(uuids, ","));
}

}  // namespace

std::vector<std::uint32_t> visible_numbers(const wire::StepOrder& order,
                                           const std::vector<std::uint32_t>& gpus) {
    // In a device cgroup the driver shows the step's own devices only, and numbers them from 0.
    if (!order.confinement().devices_constrained()) return gpus;
    const std::vector<std::uint32_t> all = gpus_of(order.share());
    std::vector<std::uint32_t> visible;
    for (std::uint32_t gpu : gpus)
        visible.push_back(static_cast<std::uint32_t>(place_in(all, gpu)));
    return visible;
}

void set_gpu_variables(Environment& environment, const wire::StepOrder& order,
                       const std::vector<std::uint32_t>& gpus, std::string_view list) {
    const wire::NodeShare& share = order.share();
    if (const std::uint64_t shards = count_of(share, "shard"); shards > 0)
        environment.set("SLURM_SHARDS_ON_NODE", fmt::format("{}", shards));
    if (gpus.empty()) return;
    environment.set(list, fmt::format("{}", fmt::join(gpus, ",")));
    std::size_t whole = 0;
    for (const wire::NodeShare::Devices& devices : share.gres())
        whole += devices.name() == "gpu" ? static_cast<std::size_t>(devices.indexes_size()) : 0;
    const bool has_mps = count_of(share, "mps") > 0;
    // Compat: a GPU of which the step has shards is not counted.
    if (whole > 0 || has_mps)
        environment.set("SLURM_GPUS_ON_NODE", fmt::format("{}", whole + (has_mps ? 1 : 0)));
    const std::string visible = visible_list(order, gpus);
    for (const std::string& name : order.gpus().variables()) environment.set(name, visible);
    set_uuids(environment, order, gpus);
    if (has_mps) {
        environment.set("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                        fmt::format("{}", order.gpus().mps_percent()));
    }
}

}  // namespace sluice
