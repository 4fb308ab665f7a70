#include "os/nvidia_proc.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "os/files.h"

namespace sluice {

namespace {

// "Model: \t\t NVIDIA A40", "Device Minor: \t 0", ...
NvmlGpu parse_information(std::string_view text) {
    NvmlGpu gpu;
    for (std::string_view line : split(text, '\n')) {
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const std::string_view key = trim(line.substr(0, colon));
        const std::string_view value = trim(line.substr(colon + 1));
        if (key == "Model") gpu.name = value;
        if (key == "GPU UUID") gpu.uuid = value;
        if (key == "Bus Location") gpu.bus_id = value;
        if (key == "Device Minor")
            gpu.minor = static_cast<std::uint32_t>(to_number(value).value_or(0));
    }
    return gpu;
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
    std::vector<int> cpus;
    for (std::string_view range : split(trim(text), ',')) {
        const std::size_t dash = range.find('-');
        const auto first = to_number(trim(range.substr(0, dash)));
        const auto last =
            dash == std::string_view::npos ? first : to_number(trim(range.substr(dash + 1)));
        if (!first || !last || *last < *first || *last > 65535) continue;
        for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    }
    return cpus;
}

std::vector<int> cpus_close_to(const std::string& sys, const std::string& bus_id) {
    const Result<std::string> cpus =
        read_file(fmt::format("{}/bus/pci/devices/{}/local_cpulist", sys, bus_id));
    return cpus ? parse_cpu_list(*cpus) : std::vector<int>{};
}

Result<std::vector<NvmlGpu>> read_nvidia_gpus(const std::string& proc, const std::string& sys) {
    const std::string top = proc + "/driver/nvidia/gpus";
    std::error_code error;
    std::vector<std::string> places;
    for (const auto& entry : std::filesystem::directory_iterator(top, error))
        places.push_back(entry.path().filename());
    if (error) return Error{ErrorCode{}, fmt::format("{}: {}", top, error.message())};
    std::sort(places.begin(), places.end());  // by bus id
    std::vector<NvmlGpu> gpus;
    for (const std::string& place : places) {
        NvmlGpu gpu =
            parse_information(TRY(read_file(fmt::format("{}/{}/information", top, place))));
        gpu.cpus = cpus_close_to(sys, place);
        gpus.push_back(std::move(gpu));
    }
    return gpus;
}

std::vector<std::string> mig_files(std::string_view minors, std::uint32_t gpu,
                                   const MigDevice& mig) {
    std::vector<std::string> files = {fmt::format("/dev/nvidia{}", gpu)};
    const std::string instance = fmt::format("gpu{}/gi{}", gpu, mig.gpu_instance);
    for (const std::string& name :
         {instance + "/access", fmt::format("{}/ci{}/access", instance, mig.compute_instance)}) {
        for (std::string_view line : split(minors, '\n')) {
            if (line.starts_with(name + " "))
                files.push_back(
                    fmt::format("/dev/nvidia-caps/nvidia-cap{}", trim(line.substr(name.size()))));
        }
    }
    return files;
}

}  // namespace sluice
