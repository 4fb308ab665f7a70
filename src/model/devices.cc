#include "model/devices.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace sluice {

bool is_part_of_gpu(std::string_view name) {
    return name == "shard" || name == "mps";
}

bool has_gres_flag(const GresDevices& devices, std::string_view word) {
    const std::vector<std::string_view> words = split(devices.flags, ',');
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> split_files(std::string_view files) {
    std::vector<std::string> result;
    for (std::string_view file : split(files, ',')) result.emplace_back(file);
    return result;
}

std::vector<Device> devices_of(const std::vector<GresDevices>& described, std::string_view name) {
    std::vector<Device> devices;
    for (const GresDevices& line : described) {
        if (line.name != name) continue;
        const std::uint64_t count = std::min(line.count, kDevicesMost);
        for (std::uint64_t i = 0; i < count; ++i) {
            Device& device = devices.emplace_back(Device{&line, {}, {}});
            if (i < line.files.size()) device.files = split_files(line.files[i]);
            if (i < line.uuids.size()) device.uuid = line.uuids[i];
        }
    }
    return devices;
}

std::vector<std::uint32_t> device_numbers(const std::vector<GresCount>& configured,
                                          const std::vector<GresDevices>& described,
                                          std::string_view name) {
    const std::vector<Device> devices = devices_of(described, name);
    std::vector<bool> taken(devices.size(), false);
    std::vector<std::uint32_t> numbers;
    for (const GresCount& pool : configured) {
        if (pool.name != name) continue;
        std::uint64_t left = pool.count;
        for (std::uint32_t i = 0; i < devices.size() && left > 0; ++i) {
            if (taken[i] || (!pool.type.empty() && devices[i].line->type != pool.type)) continue;
            taken[i] = true;
            numbers.push_back(i);
            --left;
        }
        // Not described: numbered as the controller does it.
        for (; left > 0; --left) numbers.push_back(static_cast<std::uint32_t>(numbers.size()));
    }
    return numbers;
}

namespace {

// Spreads them over the chosen GPUs. Compat: the last ones have more if it does not come out even.
void spread_parts(std::uint64_t total, const std::vector<std::size_t>& gpus,
                  std::vector<std::uint64_t>& parts) {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        const std::uint64_t here = total / (gpus.size() - i);
        parts[gpus[i]] += here;
        total -= here;
    }
}

}  // namespace

std::vector<std::uint64_t> parts_of_gpus(std::string_view name, std::uint64_t total,
                                         std::size_t gpus,
                                         const std::vector<GresDevices>& described) {
    std::vector<std::uint64_t> parts(gpus, 0);
    const std::vector<Device> devices = devices_of(described, "gpu");
    bool has_files = false;
    for (const GresDevices& line : described) {
        if (line.name != name || line.files.empty()) continue;
        has_files = true;
        std::vector<std::size_t> here;
        for (std::size_t gpu = 0; gpu < std::min(gpus, devices.size()); ++gpu) {
            const std::vector<std::string>& files = devices[gpu].files;
            if (std::find_first_of(files.begin(), files.end(), line.files.begin(),
                                   line.files.end()) != files.end())
                here.push_back(gpu);
        }
        spread_parts(line.count, here, parts);
    }
    if (has_files) return parts;
    std::vector<std::size_t> all(gpus);
    std::iota(all.begin(), all.end(), std::size_t{0});
    spread_parts(total, all, parts);
    return parts;
}

}  // namespace sluice
