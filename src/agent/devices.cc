#include "agent/devices.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <set>

#include "base/text.h"
#include "model/devices.h"
#include "model/job_id.h"
#include "os/error.h"
#include "os/nvidia_proc.h"

namespace sluice {

namespace {

const std::string kGpu = "gpu";

// The types that slurm.conf promises of one name, each with the number that is still missing.
class Promised {
public:
    Promised(const NodeConfig& node, std::string_view name) {
        for (const GresCount& gres : node.gres) {
            if (gres.name == name) left_.push_back(gres);
        }
    }
    // Takes one: of the longest type that is part of the name, else of any type. "a100_3g.20gb" and
    // "a100" are both part of the name of a MIG device.
    std::optional<std::string> take(const std::string& name) {
        GresCount* best = nullptr;
        for (GresCount& gres : left_) {
            const bool fits = to_lower(name).find(to_lower(gres.type)) != std::string::npos;
            if (gres.count == 0 || !fits) continue;
            if (!best || gres.type.size() > best->type.size()) best = &gres;
        }
        if (!best) return {};
        --best->count;
        return best->type.empty() ? name : best->type;
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

namespace {

// One device as it was found: a GPU or a MIG device.
struct FoundDevice {
    const NvmlGpu* gpu = nullptr;
    std::string type, cores, uuid;
    std::vector<std::string> files;
    bool used = false;
};

// The flag of gres.conf. AWS Neuron has no variable that names devices: it names their cores.
std::string variables_of(GpuMaker maker) {
    constexpr const char* kFlags[] = {"nvidia_gpu_env", "amd_gpu_env", "intel_gpu_env",
                                      "no_gpu_env"};
    return kFlags[static_cast<std::size_t>(maker)];
}

std::vector<FoundDevice> found_devices(const Detected& detected, const Hardware& hardware) {
    std::vector<FoundDevice> devices;
    for (const NvmlGpu& gpu : detected.gpus) {
        FoundDevice device{.gpu = &gpu, .type = gpu_type(gpu.name)};
        device.cores = cores_of(gpu, hardware);
        device.uuid = gpu.uuid;
        device.files = gpu.files;
        if (device.files.empty()) device.files = {fmt::format("/dev/nvidia{}", gpu.minor)};
        if (gpu.migs.empty()) devices.push_back(device);
        for (const MigDevice& mig : gpu.migs) {
            FoundDevice& part = devices.emplace_back(device);
            part.type += "_" + mig.profile;
            part.uuid = mig.uuid;
            part.files = mig_files(detected.mig_minors, gpu.minor, mig);
        }
    }
    return devices;
}

class Merge {
public:
    Merge(const NodeConfig& node, const Detected& detected, const Hardware& hardware)
        : node_(node),
          way_(detected.way),
          promised_(node, kGpu),
          found_(found_devices(detected, hardware)) {}

    NodeDevices run(const std::vector<GresDevices>& written) {
        for (const GresDevices& line : written) {
            if (line.name != kGpu || found_.empty()) {
                if (line.name == kGpu) take_promised(line);
                add(line, nullptr);
            } else if (line.files.empty()) {
                add_by_type(line);
            } else {
                add_by_file(line);
            }
        }
        for (FoundDevice& device : found_) {
            if (!device.used) add_found(device);
        }
        fill_links();
        return std::move(result_);
    }

private:
    std::string name_of(const FoundDevice& device) const {
        return fmt::format("AutoDetect={}: {} {}", way_, device.type, join(device.files, ","));
    }

    void take_promised(const GresDevices& line) {
        std::uint64_t left = line.count;
        while (left > 0 && promised_.take(line.type)) --left;
    }

    void add(GresDevices line, const FoundDevice* device) {
        result_.gres.push_back(std::move(line));
        from_.push_back(device);
    }

    void add_found(FoundDevice& device) {
        const std::optional<std::string> taken = promised_.take(device.type);
        if (!taken) {
            result_.notes.push_back(
                fmt::format("{}: not used, Gres={} of slurm.conf has no such GPU left",
                            name_of(device), node_.gres_text));
            return;
        }
        add_as(device, GresDevices{.name = kGpu, .type = *taken, .files = {}, .count = 1});
    }

    // Compat: variables are those of the maker, unless gres.conf says otherwise.
    void add_as(FoundDevice& device, GresDevices line) {
        device.used = true;
        line.count = 1;
        line.files = {join(device.files, ",")};
        if (line.cores.empty()) line.cores = device.cores;
        line.uuids = {device.uuid};
        if (line.flags.find("_env") == std::string::npos)
            line.flags += (line.flags.empty() ? "" : ",") + variables_of(device.gpu->maker);
        result_.notes.push_back(fmt::format("{}: gpu:{}{}", name_of(device), line.type,
                                            line.cores.empty() ? "" : " Cores=" + line.cores));
        add(std::move(line), &device);
    }

    // A line without files names so many of the found ones.
    void add_by_type(const GresDevices& line) {
        std::uint64_t left = line.count;
        for (FoundDevice& device : found_) {
            const bool fits = device.type.find(to_lower(line.type)) != std::string::npos;
            if (left == 0 || device.used || !fits) continue;
            --left;
            check(line, device);
            GresDevices one = line;
            if (const auto taken = promised_.take(device.type); taken && one.type.empty())
                one.type = *taken;
            add_as(device, one);
        }
    }

    // Compat: what is found of a file is compared with the line, and completes it. A device of
    // which nothing is found is as gres.conf says.
    void add_by_file(const GresDevices& line) {
        take_promised(line);
        for (const std::string& files : line.files) {
            GresDevices one = line;
            one.files = {files};
            one.count = 1;
            const std::vector<std::string> own = split_files(files);
            auto device = std::find_if(found_.begin(), found_.end(), [&](const FoundDevice& each) {
                return !each.used &&
                       std::find(own.begin(), own.end(), each.files.back()) != own.end() &&
                       each.type.find(to_lower(line.type)) != std::string::npos;
            });
            if (device == found_.end()) {
                add(std::move(one), nullptr);
                continue;
            }
            check(line, *device);
            result_.notes.push_back(name_of(*device) + ": described in gres.conf");
            device->used = true;
            if (one.cores.empty()) one.cores = device->cores;
            one.uuids = {device->uuid};
            add(std::move(one), &*device);
        }
    }

    void check(const GresDevices& line, const FoundDevice& device) {
        const auto written = TaskSet::parse(line.cores), seen = TaskSet::parse(device.cores);
        if (line.cores.empty() || device.cores.empty() || !written || !seen) return;
        if (*written == *seen || !result_.problem.empty()) return;
        result_.problem = fmt::format("gres/gpu: {}: Cores={} of gres.conf, but Cores={} are found",
                                      name_of(device), line.cores, device.cores);
    }

    // The number of NVLinks with each device, by its place in the list.
    void fill_links() {
        for (std::size_t i = 0; i < from_.size(); ++i) {
            GresDevices& line = result_.gres[i];
            if (!from_[i] || !line.links.empty() || from_[i]->gpu->peers.empty()) continue;
            std::vector<std::string> links;
            for (std::size_t j = 0; j < from_.size(); ++j) {
                if (result_.gres[j].name != kGpu) continue;
                links.push_back(i == j ? "-1" : fmt::format("{}", links_between(i, j)));
            }
            line.links = join(links, ",");
        }
    }

    std::ptrdiff_t links_between(std::size_t i, std::size_t j) const {
        if (!from_[j]) return 0;
        const std::vector<std::string>& peers = from_[i]->gpu->peers;
        return std::count_if(peers.begin(), peers.end(), [&](const std::string& peer) {
            return equals_ignoring_case(peer, from_[j]->gpu->bus_id);
        });
    }

    const NodeConfig& node_;
    const std::string way_;
    Promised promised_;
    std::vector<FoundDevice> found_;
    std::vector<const FoundDevice*> from_;  // of each line of the result; nullptr: not found
    NodeDevices result_;
};

}  // namespace

NodeDevices merge_devices(const NodeConfig& node, const std::vector<GresDevices>& written,
                          const Detected& detected, const Hardware& hardware) {
    return Merge(node, detected, hardware).run(written);
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

void renumber(const NodeConfig& node, const std::vector<GresDevices>& gres,
              wire::NodeShare& share) {
    for (wire::NodeShare::Devices& devices : *share.mutable_gres()) {
        if (devices.indexes().empty()) continue;
        const bool is_part = is_part_of_gpu(devices.name());
        const std::vector<std::uint32_t> here =
            device_numbers(node.gres, gres, is_part ? kGpu : devices.name());
        for (std::uint32_t& index : *devices.mutable_indexes()) {
            if (index < here.size()) index = here[index];
        }
        if (is_part) continue;  // in the order of its parts
        std::sort(devices.mutable_indexes()->begin(), devices.mutable_indexes()->end());
    }
}

}  // namespace sluice
