#include "agent/gpu_sampler.h"

#include <fmt/format.h>

#include <csignal>

#include "os/process.h"
#include "os/process_usage.h"

namespace sluice {

namespace {

// "0.3": GPU and GPU instance, as DCGM names it.
std::map<std::string, std::string> names_of_parts(const Nvml& nvml) {
    std::map<std::string, std::string> names;
    const Result<std::vector<NvmlGpu>> gpus = nvml.gpus();
    for (std::size_t i = 0; gpus && i < gpus->size(); ++i) {
        for (const MigDevice& mig : (*gpus)[i].migs)
            names[mig.uuid] = fmt::format("{}.{}", i, mig.gpu_instance);
    }
    return names;
}

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

Sample GpuSampler::take(const SampleDemand& demand) {
    Sample sample;
    if (!nvml_) {
        Result<std::unique_ptr<Nvml>> loaded = Nvml::load();
        if (!loaded) return {.problem = loaded.error().detail};
        nvml_ = *std::move(loaded);
        instance_names_ = names_of_parts(*nvml_);
    }
    sample.instance_names = instance_names_;
    for (const GpuHere& gpu : demand.gpus) {
        Result<GpuReading> reading = nvml_->read(gpu.uuid, gpu.gpu);
        if (!reading) {
            sample.problem = reading.error().detail;
            continue;
        }
        std::erase_if(reading->processes, [](const GpuProcess& each) { return !is_alive(each); });
        sample.gpus.push_back({gpu.gpu, *std::move(reading), {}});
    }
    for (const GpuXid& error : nvml_->take_xids()) {
        for (std::size_t i = 0; i < demand.gpus.size(); ++i) {
            if (demand.gpus[i].uuid != error.uuid) continue;
            for (GpuSample& each : sample.gpus) {
                if (each.gpu == demand.gpus[i].gpu) each.xids.push_back(error.xid);
            }
        }
    }
    std::erase_if(totals_,
                  [&](const auto& each) { return !demand.supervisors.contains(each.first); });
    for (const auto& [job, supervisors] : demand.supervisors)
        sample.io_bytes[job] = io_since(job, supervisors);
    return sample;
}

}  // namespace sluice
