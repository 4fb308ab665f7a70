#include "agent/devices.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <set>

#include "base/text.h"
#include "os/error.h"

namespace sluice {

namespace {

constexpr const char* kGpu = "gpu";

// The types that slurm.conf promises of one name, each with the number that is still missing.
class Promised {
public:
    Promised(const NodeConfig& node, std::string_view name) {
        for (const GresCount& gres : node.gres) {
            if (gres.name == name) left_.push_back(gres);
        }
    }
    // Takes one. Types first, then those of any type.
    std::optional<std::string> take(const std::string& type) {
        for (const bool typed : {true, false}) {
            for (GresCount& gres : left_) {
                if (gres.count == 0 || gres.type.empty() == typed) continue;
                if (typed && to_lower(type).find(to_lower(gres.type)) == std::string::npos)
                    continue;
                --gres.count;
                return typed ? gres.type : type;
            }
        }
        return {};
    }

private:
    std::vector<GresCount> left_;
};

// NVML names the kernel's CPUs; gres.conf counts cores. Empty where all are alike.
std::string cores_of(const NvmlGpu& gpu, const Hardware& hardware) {
    std::set<int> cores;
    for (std::size_t i = 0; i < hardware.cpu_order.size(); ++i) {
        const bool near =
            std::find(gpu.cpus.begin(), gpu.cpus.end(), hardware.cpu_order[i]) != gpu.cpus.end();
        if (near) cores.insert(static_cast<int>(i / hardware.threads_per_core));
    }
    if (cores.size() >= hardware.sockets * hardware.cores_per_socket) return {};
    return print_ranges({cores.begin(), cores.end()});
}

}  // namespace

std::string gpu_type(std::string_view product_name) {
    std::string type = to_lower(trim(product_name));
    std::replace_if(
        type.begin(), type.end(), [](unsigned char c) { return std::isspace(c) != 0; }, '_');
    return type;
}

std::vector<std::string> split_files(std::string_view files) {
    std::vector<std::string> result;
    for (std::string_view file : split(files, ',')) result.emplace_back(file);
    return result;
}

std::string print_ranges(std::vector<int> numbers) {
    std::sort(numbers.begin(), numbers.end());
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += i == last ? fmt::format("{}", numbers[i])
                          : fmt::format("{}-{}", numbers[i], numbers[last]);
        i = last + 1;
    }
    return text;
}

NodeDevices merge_devices(const NodeConfig& node, std::vector<GresDevices> written,
                          const std::vector<NvmlGpu>& found, const Hardware& hardware) {
    NodeDevices result{std::move(written), {}};
    Promised promised(node, kGpu);
    std::set<std::string> named;
    for (const GresDevices& devices : result.gres) {
        if (devices.name != kGpu) continue;
        std::uint64_t left = devices.count;
        while (left > 0 && promised.take(devices.type)) --left;
        for (const std::string& files : devices.files) {
            for (std::string& file : split_files(files)) named.insert(std::move(file));
        }
    }
    for (const NvmlGpu& gpu : found) {
        const std::string file = fmt::format("/dev/nvidia{}", gpu.minor);
        const std::string type = gpu_type(gpu.name);
        const std::string what = fmt::format("AutoDetect=nvml: {} {}", type, file);
        if (named.contains(file)) {
            result.notes.push_back(what + ": described in gres.conf");
            continue;
        }
        const std::optional<std::string> taken = promised.take(type);
        if (!taken) {
            result.notes.push_back(fmt::format(
                "{}: not used, Gres={} of slurm.conf has no such GPU left", what, node.gres_text));
            continue;
        }
        GresDevices devices{.name = kGpu, .type = *taken, .files = {file}, .count = 1};
        devices.cores = cores_of(gpu, hardware);
        result.notes.push_back(fmt::format("{}: gpu:{}{}", what, *taken,
                                           devices.cores.empty() ? "" : " Cores=" + devices.cores));
        result.gres.push_back(std::move(devices));
    }
    return result;
}

// Compat: the words with which Slurm's slurmd refuses to start.
std::string missing_file(const std::vector<GresDevices>& gres) {
    for (const GresDevices& devices : gres) {
        for (const std::string& files : devices.files) {
            for (const std::string& file : split_files(files)) {
                struct stat status {};
                if (stat(file.c_str(), &status) == 0) continue;
                return fmt::format("gres/{}: can't stat gres.conf file {}: {}", devices.name, file,
                                   std::strerror(errno));
            }
        }
    }
    return {};
}

namespace {

// Which device of this name each of the controller's numbers means.
std::vector<std::uint32_t> numbers_here(const NodeConfig& node,
                                        const std::vector<GresDevices>& gres,
                                        const std::string& name) {
    std::vector<const std::string*> types;  // of each device here
    for (const GresDevices& devices : gres) {
        if (devices.name == name) types.insert(types.end(), devices.count, &devices.type);
    }
    std::vector<bool> taken(types.size(), false);
    std::vector<std::uint32_t> numbers;
    for (const GresCount& pool : node.gres) {
        if (pool.name != name) continue;
        std::uint64_t left = pool.count;
        for (std::uint32_t i = 0; i < types.size() && left > 0; ++i) {
            if (taken[i] || (!pool.type.empty() && *types[i] != pool.type)) continue;
            taken[i] = true;
            numbers.push_back(i);
            --left;
        }
        // Not described: numbered as the controller does it.
        for (; left > 0; --left) numbers.push_back(static_cast<std::uint32_t>(numbers.size()));
    }
    return numbers;
}

}  // namespace

void renumber(const NodeConfig& node, const std::vector<GresDevices>& gres,
              wire::NodeShare& share) {
    for (wire::NodeShare::Devices& devices : *share.mutable_gres()) {
        if (devices.indexes().empty()) continue;
        const std::vector<std::uint32_t> here = numbers_here(node, gres, devices.name());
        for (std::uint32_t& index : *devices.mutable_indexes()) {
            if (index < here.size()) index = here[index];
        }
        std::sort(devices.mutable_indexes()->begin(), devices.mutable_indexes()->end());
    }
}

}  // namespace sluice
