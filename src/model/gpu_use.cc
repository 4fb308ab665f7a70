#include "model/gpu_use.h"

#include <algorithm>

namespace sluice {

GpuSummary summary_of(const std::vector<NodeUse>& nodes) {
    GpuSummary all;
    for (const NodeUse& node : nodes) {
        for (const GpuUse& gpu : node.gpus) {
            if (gpu.samples == 0) continue;
            ++all.gpus;
            all.use.samples += gpu.samples;
            all.use.percent_sum += gpu.percent_sum;
            all.use.percent_most = std::max(all.use.percent_most, gpu.percent_most);
            all.use.idle_samples += gpu.idle_samples;
            all.use.memory_sum += gpu.memory_sum;
            all.use.memory_most = std::max(all.use.memory_most, gpu.memory_most);
            all.use.memory_all = std::max(all.use.memory_all, gpu.memory_all);
        }
    }
    return all;
}

}  // namespace sluice
