#include "agent/gpu_words.h"

#include <algorithm>
#include <string_view>

#include "model/devices.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

struct GpuVariable {
    std::string_view flag, name;
};
constexpr GpuVariable kGpuVariables[] = {{"nvidia_gpu_env", "CUDA_VISIBLE_DEVICES"},
                                         {"opencl_env", "GPU_DEVICE_ORDINAL"},
                                         {"amd_gpu_env", "ROCR_VISIBLE_DEVICES"},
                                         {"intel_gpu_env", "ZE_AFFINITY_MASK"}};

// All of them if the line names none.
bool sets(const GresDevices& line, const GpuVariable& variable) {
    if (has_gres_flag(line, "no_gpu_env")) return false;
    const bool names_some =
        std::any_of(std::begin(kGpuVariables), std::end(kGpuVariables),
                    [&](const GpuVariable& each) { return has_gres_flag(line, each.flag); });
    return !names_some || has_gres_flag(line, variable.flag);
}

bool has_mps(const wire::NodeShare& share) {
    return std::any_of(share.gres().begin(), share.gres().end(),
                       [](const wire::NodeShare::Devices& each) { return each.name() == "mps"; });
}

std::uint32_t mps_percent(const Site& site, const wire::NodeShare& share, std::size_t gpus) {
    std::uint64_t total = 0;
    for (const GresCount& gres : site.node.gres) total += gres.name == "mps" ? gres.count : 0;
    const std::vector<std::uint64_t> all = parts_of_gpus("mps", total, gpus, site.gres);
    for (const wire::NodeShare::Devices& devices : share.gres()) {
        if (devices.name() != "mps" || devices.indexes().empty() || devices.parts().empty())
            continue;
        const std::uint32_t gpu = devices.indexes(0);
        if (gpu < all.size() && all[gpu] > 0)
            return static_cast<std::uint32_t>(devices.parts(0) * std::uint64_t{100} / all[gpu]);
    }
    return 0;
}

std::size_t gpu_count(const NodeConfig& node) {
    std::uint64_t count = 0;
    for (const GresCount& gres : node.gres) count += gres.name == "gpu" ? gres.count : 0;
    return static_cast<std::size_t>(count);
}

}  // namespace

wire::GpuWords gpu_words(const Site& site, const wire::NodeShare& share) {
    wire::GpuWords words;
    const std::vector<std::uint32_t> gpus = gpus_of(share);
    const std::vector<Device> devices = devices_of(site.gres, "gpu");
    static const GresDevices kUndescribed;
    const bool mps = has_mps(share);
    for (const GpuVariable& variable : kGpuVariables) {
        const bool is_set = std::any_of(gpus.begin(), gpus.end(), [&](std::uint32_t gpu) {
            return sets(gpu < devices.size() ? *devices[gpu].line : kUndescribed, variable);
        });
        // Compat: MPS is CUDA's.
        if (is_set && (!mps || variable.flag == "nvidia_gpu_env"))
            words.add_variables(std::string(variable.name));
    }
    for (std::uint32_t gpu : gpus) {
        words.add_uuids(gpu < devices.size() ? devices[gpu].uuid : std::string{});
        if (gpu < devices.size() && has_gres_flag(*devices[gpu].line, "env_uuid"))
            words.set_by_uuid(true);
    }
    if (mps) words.set_mps_percent(mps_percent(site, share, gpu_count(site.node)));
    return words;
}

}  // namespace sluice
