#include "agent/gpu_sampler.h"

#include <fmt/format.h>

#include <csignal>

#include "os/process.h"
#include "os/process_usage.h"

namespace sluice {

namespace {

// A process that has ended may still be in the driver's list.
bool is_alive(const GpuProcess& process) {
    return kill(process.pid, 0) == 0 || errno == EPERM;
}

}  // namespace

// A process that begins or ends counts as something that happens.
std::uint64_t GpuSampler::io_since(const JobKey& job, const std::vector<pid_t>& supervisors) {
    constexpr std::uint64_t kChange = 1u << 20;
    ProcessTotals now;
    for (const pid_t supervisor : supervisors) {
        for (const pid_t pid : descendants(supervisor)) {
            const ProcessBytes bytes = read_process_bytes(pid);
            now[pid] = bytes.read + bytes.written;
        }
    }
    ProcessTotals& before = totals_[job];
    std::uint64_t sum = now.size() == before.size() ? 0 : kChange;
    for (const auto& [pid, total] : now) {
        const auto known = before.find(pid);
        sum += known == before.end() ? kChange : total - std::min(total, known->second);
    }
    before = std::move(now);
    return sum;
}

// Parts of GPUs are named "0.3", by GPU and GPU instance, as DCGM names them.
void GpuSampler::learn_gpus() {
    const Result<std::vector<NvmlGpu>> gpus = nvml_->gpus();
    for (std::uint32_t i = 0; gpus && i < gpus->size(); ++i) {
        numbers_[(*gpus)[i].minor] = i;
        for (const MigDevice& mig : (*gpus)[i].migs)
            instance_names_[mig.uuid] = fmt::format("{}.{}", i, mig.gpu_instance);
    }
}

// The driver's numbers are not those of the files on all machines.
std::uint32_t GpuSampler::number_of(const GpuHere& gpu) const {
    const auto found = gpu.minor ? numbers_.find(*gpu.minor) : numbers_.end();
    return found == numbers_.end() ? gpu.gpu : found->second;
}

Sample GpuSampler::take(const SampleDemand& demand) {
    Sample sample;
    if (!nvml_) {
        Result<std::unique_ptr<Nvml>> loaded = Nvml::load();
        if (!loaded) return {.problem = loaded.error().detail};
        nvml_ = *std::move(loaded);
        learn_gpus();
    }
    sample.instance_names = instance_names_;
    for (const GpuHere& gpu : demand.gpus) {
        Result<GpuReading> reading = nvml_->read(gpu.uuid, number_of(gpu));
        if (!reading && uuids_.contains(gpu.gpu)) {
            sample.gpus.push_back({gpu.gpu, {}, {}, reading.error().detail});
            continue;
        }
        if (!reading) {
            sample.problem = reading.error().detail;
            continue;
        }
        uuids_[gpu.gpu] = reading->uuid;
        std::erase_if(reading->processes, [](const GpuProcess& each) { return !is_alive(each); });
        sample.gpus.push_back({gpu.gpu, *std::move(reading), {}});
    }
    for (const GpuXid& error : nvml_->take_xids()) {
        for (GpuSample& each : sample.gpus) {
            if (uuids_[each.gpu] == error.uuid) each.xids.push_back(error.xid);
        }
    }
    std::erase_if(totals_,
                  [&](const auto& each) { return !demand.supervisors.contains(each.first); });
    for (const auto& [job, supervisors] : demand.supervisors)
        sample.io_bytes[job] = io_since(job, supervisors);
    return sample;
}

}  // namespace sluice
