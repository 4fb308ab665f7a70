// See gpu_usage.h.
#include "stepd/gpu_usage.h"

#include "base/log.h"

namespace sluice {

std::optional<GpuShares> GpuUsage::read(const std::vector<std::uint32_t>& gpus) {
    if (gpus.empty() || failed_) return {};
    if (!nvml_) {
        Result<std::unique_ptr<Nvml>> loaded = Nvml::load();
        failed_ = !loaded;
        if (failed_) {
            log_debug("GPUs are not measured: {}", loaded.error().detail);
            return {};
        }
        nvml_ = *std::move(loaded);
    }
    GpuShares shares;
    for (std::uint32_t gpu : gpus) {
        for (const GpuProcess& process : nvml_->processes(gpu)) {
            GpuShare& share = shares[process.pid];
            share.memory_kb += process.memory_kb;
            share.percent += process.percent;
        }
    }
    return shares;
}

}  // namespace sluice
