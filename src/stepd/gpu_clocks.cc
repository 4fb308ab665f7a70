// See gpu_clocks.h.
#include "stepd/gpu_clocks.h"

#include <fmt/format.h>

#include "base/log.h"
#include "model/job.h"
#include "protocol/convert.h"
#include "stepd/environment.h"

namespace sluice {

namespace {

// What was asked for, else slurm.conf's GpuFreqDef; nothing where neither says anything.
Result<std::optional<GpuFreq>> demand(const std::string& asked, const wire::StepOrder& order) {
    if (!asked.empty()) return std::optional(TRY(parse_tres_freq(asked)));
    if (!order.gpu_freq_def().empty())
        return std::optional(TRY(parse_gpu_freq(order.gpu_freq_def())));
    return std::optional<GpuFreq>{};
}

Result<std::optional<GpuFreq>> demand_of(const wire::StepOrder& order) {
    return demand(order.has_batch() ? request_of(order.batch().job()).tres_freq
                                    : order.tasks().spec().tres_freq(),
                  order);
}

// A step beside the batch script that runs on the same node.
std::optional<GpuFreq> demand_of_batch_script(const wire::StepOrder& order) {
    if (!order.has_tasks()) return {};
    const wire::JobAllocation& job = order.tasks().job();
    const JobRequest request = request_of(job);
    bool is_batch = request.kind == JobKind::Batch;
    bool is_here = job.nodes_size() > 0 && job.nodes(0).name() == order.node();
    if (!is_batch || !is_here) return {};
    Result<std::optional<GpuFreq>> asked = demand(request.tres_freq, order);
    return asked ? *asked : std::nullopt;
}

// Compat: Slurm's word where it cannot.
std::string cannot(const Error& why) {
    return fmt::format("GpuFreq=control_disabled ({})\n", why.detail);
}

}  // namespace

Result<std::string> GpuFrequencies::set(const wire::StepOrder& order) {
    const std::optional<GpuFreq> demand = TRY(demand_of(order));
    if (!demand) return std::string{};
    for (const wire::NodeShare::Devices& devices : order.share().gres()) {
        if (devices.parts_size() > 0) return std::string{};  // other jobs use the GPU too
    }
    gpus_ = gpus_of(order.share());
    if (gpus_.empty()) return std::string{};
    Result<std::unique_ptr<Nvml>> loaded = Nvml::load();
    if (!loaded) return cannot(loaded.error());
    nvml_ = *std::move(loaded);
    afterwards_ = demand_of_batch_script(order);
    std::string lines;
    for (std::uint32_t gpu : gpus_) {
        Result<void> done = set_one(gpu, *demand);
        if (!done) lines += cannot(done.error());
        if (!done || !demand->verbose) continue;
        Result<GpuClocks> now = nvml_->clocks(gpu);
        lines += now ? fmt::format("GpuFreq=memory_freq:{},graphics_freq:{} (GPU {})\n",
                                   now->memory, now->graphics, gpu)
                     : cannot(now.error());
    }
    return lines;
}

// What is not asked for stays as it is, as far as the rest allows.
Result<void> GpuFrequencies::set_one(std::uint32_t gpu, const GpuFreq& demand) const {
    if (!demand.memory && !demand.graphics) return {};
    using Kind = GpuClock::Kind;
    GpuClocks now{};
    if (!demand.memory || !demand.graphics) now = TRY(nvml_->clocks(gpu));
    const GpuClock memory = demand.memory.value_or(GpuClock{Kind::Megahertz, now.memory});
    const GpuClock graphics = demand.graphics.value_or(GpuClock{Kind::Megahertz, now.graphics});
    GpuClocks chosen;
    chosen.memory = nearest_clock(memory, TRY(nvml_->memory_clocks(gpu)));
    chosen.graphics = nearest_clock(graphics, TRY(nvml_->graphics_clocks(gpu, chosen.memory)));
    return nvml_->set_clocks(gpu, chosen);
}

void GpuFrequencies::reset() {
    if (!nvml_) return;
    for (std::uint32_t gpu : gpus_) {
        Result<void> done = nvml_->reset_clocks(gpu);
        if (done && afterwards_) done = set_one(gpu, *afterwards_);
        if (!done) log_error("{}", done.error().detail);
    }
    nvml_.reset();
}

}  // namespace sluice
