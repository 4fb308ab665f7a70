// See other_gpus.h. Functions, structures and numbers are those of the published C interfaces of
// ROCm SMI and Level Zero.
#include "os/other_gpus.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "base/text.h"
#include "os/files.h"
#include "os/nvidia_proc.h"

namespace sluice {

namespace {

constexpr int kCallSucceeded = 0;
constexpr std::uint32_t kDevicesMost = 1024;

Error call_failed(std::string_view library, std::string_view what, int code) {
    return Error{ErrorCode{}, fmt::format("{}: {}: error {}", library, what, code)};
}

// A library for as long as it is in use.
class DriverLibrary {
public:
    static Result<DriverLibrary> open(std::initializer_list<const char*> names) {
        std::string why;
        for (const char* name : names) {
            if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL))
                return DriverLibrary(handle, name);
            if (why.empty()) why = dlerror();
        }
        return Error{ErrorCode{}, why};
    }
    DriverLibrary(DriverLibrary&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), name_(other.name_) {}
    DriverLibrary& operator=(DriverLibrary&&) = delete;
    ~DriverLibrary() {
        if (handle_) dlclose(handle_);
    }

    const char* name() const { return name_; }
    template <typename Function>
    Result<void> find(const char* name, Function& function) const {
        function = reinterpret_cast<Function>(dlsym(handle_, name));
        if (function) return {};
        return Error{ErrorCode{}, fmt::format("{}: {} is missing", name_, name)};
    }

private:
    DriverLibrary(void* handle, const char* name) : handle_(handle), name_(name) {}

    void* handle_;
    const char* name_;
};

struct PciAddress {
    std::uint32_t domain = 0, bus = 0, device = 0, function = 0;
};

std::string print_address(const PciAddress& address) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, address.bus, address.device,
                       address.function);
}

// Programs use a GPU through its render node: /dev/dri/renderD128.
std::vector<std::string> render_files(const std::string& sys, const std::string& bus_id) {
    std::vector<std::string> files;
    for (const std::string& name :
         list_directory(fmt::format("{}/bus/pci/devices/{}/drm", sys, bus_id))) {
        if (name.starts_with("renderD")) files.push_back("/dev/dri/" + name);
    }
    std::sort(files.begin(), files.end());
    return files;
}

Result<NvmlGpu> with_files(NvmlGpu gpu, const std::string& sys) {
    gpu.cpus = cpus_close_to(sys, gpu.bus_id);
    if (gpu.files.empty()) gpu.files = render_files(sys, gpu.bus_id);
    if (gpu.files.empty())
        return Error{ErrorCode{}, fmt::format("{} at {} has no device file", gpu.name, gpu.bus_id)};
    return gpu;
}

// ---- ROCm SMI

struct Rsmi {
    int (*init)(std::uint64_t) = nullptr;
    int (*shut_down)() = nullptr;
    int (*count)(std::uint32_t*) = nullptr;
    int (*name)(std::uint32_t, char*, std::size_t) = nullptr;
    int (*pci)(std::uint32_t, std::uint64_t*) = nullptr;

    Result<void> find(const DriverLibrary& library) {
        TRY(library.find("rsmi_init", init));
        TRY(library.find("rsmi_shut_down", shut_down));
        TRY(library.find("rsmi_num_monitor_devices", count));
        TRY(library.find("rsmi_dev_name_get", name));
        return library.find("rsmi_dev_pci_id_get", pci);
    }
};

PciAddress address_of(std::uint64_t bdf) {
    return {static_cast<std::uint32_t>(bdf >> 32), static_cast<std::uint32_t>(bdf >> 8 & 0xff),
            static_cast<std::uint32_t>(bdf >> 3 & 0x1f), static_cast<std::uint32_t>(bdf & 7)};
}

Result<std::vector<NvmlGpu>> ask_rsmi(const Rsmi& rsmi, const char* library,
                                      const std::string& sys) {
    std::uint32_t count = 0;
    if (const int code = rsmi.count(&count); code != kCallSucceeded)
        return call_failed(library, "rsmi_num_monitor_devices", code);
    std::vector<NvmlGpu> gpus;
    for (std::uint32_t i = 0; i < std::min(count, kDevicesMost); ++i) {
        char name[256] = {};
        std::uint64_t bdf = 0;
        if (const int code = rsmi.name(i, name, sizeof name - 1); code != kCallSucceeded)
            return call_failed(library, "rsmi_dev_name_get", code);
        if (const int code = rsmi.pci(i, &bdf); code != kCallSucceeded)
            return call_failed(library, "rsmi_dev_pci_id_get", code);
        NvmlGpu gpu{.name = name, .maker = GpuMaker::Amd};
        gpu.bus_id = print_address(address_of(bdf));
        gpus.push_back(TRY(with_files(std::move(gpu), sys)));
    }
    return gpus;
}

// ---- Level Zero

struct ZeDeviceProperties {
    std::uint32_t kind = 3;  // ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES
    void* next = nullptr;
    std::uint32_t type, vendor, device, flags, subdevice, core_clock;
    std::uint64_t allocation_most;
    std::uint32_t contexts, priority, threads, simd_width, units, subslices, slices;
    std::uint64_t timer;
    std::uint32_t timestamp_bits, kernel_timestamp_bits;
    std::uint8_t uuid[16];
    char name[256];
};

struct ZePciProperties {
    std::uint32_t kind = 0x10008;  // ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES
    void* next = nullptr;
    PciAddress address;
    std::int32_t generation, width;
    std::int64_t bandwidth;
};
constexpr std::uint32_t kZeGpu = 1;

struct LevelZero {
    int (*init)(std::uint32_t) = nullptr;
    int (*drivers)(std::uint32_t*, void**) = nullptr;
    int (*devices)(void*, std::uint32_t*, void**) = nullptr;
    int (*properties)(void*, ZeDeviceProperties*) = nullptr;
    int (*pci)(void*, ZePciProperties*) = nullptr;

    Result<void> find(const DriverLibrary& library) {
        TRY(library.find("zeInit", init));
        TRY(library.find("zeDriverGet", drivers));
        TRY(library.find("zeDeviceGet", devices));
        TRY(library.find("zeDeviceGetProperties", properties));
        return library.find("zeDevicePciGetPropertiesExt", pci);
    }
};

// Calls `list(count, handles)` for the number, then for the handles.
template <typename List>
Result<std::vector<void*>> handles_of(const char* library, const char* what, List list) {
    std::uint32_t count = 0;
    if (const int code = list(&count, nullptr); code != kCallSucceeded)
        return call_failed(library, what, code);
    count = std::min(count, kDevicesMost);
    std::vector<void*> handles(count);
    if (count == 0) return handles;
    if (const int code = list(&count, handles.data()); code != kCallSucceeded)
        return call_failed(library, what, code);
    handles.resize(std::min<std::size_t>(count, handles.size()));
    return handles;
}

Result<void> add_devices(const LevelZero& ze, const char* library, void* driver,
                         const std::string& sys, std::vector<NvmlGpu>& gpus) {
    const std::vector<void*> devices =
        TRY(handles_of(library, "zeDeviceGet", [&](std::uint32_t* count, void** handles) {
            return ze.devices(driver, count, handles);
        }));
    for (void* device : devices) {
        ZeDeviceProperties properties{};
        ZePciProperties place{};
        if (const int code = ze.properties(device, &properties); code != kCallSucceeded)
            return call_failed(library, "zeDeviceGetProperties", code);
        if (properties.type != kZeGpu) continue;
        if (const int code = ze.pci(device, &place); code != kCallSucceeded)
            return call_failed(library, "zeDevicePciGetPropertiesExt", code);
        NvmlGpu gpu{
            .name = std::string(properties.name, strnlen(properties.name, sizeof properties.name)),
            .maker = GpuMaker::Intel};
        gpu.bus_id = print_address(place.address);
        gpus.push_back(TRY(with_files(std::move(gpu), sys)));
    }
    return {};
}

}  // namespace

Result<std::vector<NvmlGpu>> read_amd_gpus(const std::string& sys) {
    const DriverLibrary library =
        TRY(DriverLibrary::open({"librocm_smi64.so", "librocm_smi64.so.7", "librocm_smi64.so.6",
                                 "librocm_smi64.so.5", "librocm_smi64.so.1"}));
    Rsmi rsmi;
    TRY(rsmi.find(library));
    if (const int code = rsmi.init(0); code != kCallSucceeded)
        return call_failed(library.name(), "rsmi_init", code);
    Result<std::vector<NvmlGpu>> gpus = ask_rsmi(rsmi, library.name(), sys);
    rsmi.shut_down();
    return gpus;
}

Result<std::vector<NvmlGpu>> read_intel_gpus(const std::string& sys) {
    const DriverLibrary library =
        TRY(DriverLibrary::open({"libze_loader.so", "libze_loader.so.1"}));
    LevelZero ze;
    TRY(ze.find(library));
    if (const int code = ze.init(0); code != kCallSucceeded)
        return call_failed(library.name(), "zeInit", code);
    const std::vector<void*> drivers =
        TRY(handles_of(library.name(), "zeDriverGet", [&](std::uint32_t* count, void** handles) {
            return ze.drivers(count, handles);
        }));
    std::vector<NvmlGpu> gpus;
    for (void* driver : drivers) TRY(add_devices(ze, library.name(), driver, sys, gpus));
    return gpus;
}

// /sys/class/neuron_device/neuron0, ...: the driver makes a device file of the same name.
Result<std::vector<NvmlGpu>> read_neuron_devices(const std::string& sys) {
    const std::string top = sys + "/class/neuron_device";
    constexpr std::string_view kName = "neuron";
    std::vector<std::uint32_t> numbers;
    for (const std::string& entry : list_directory(top)) {
        if (!entry.starts_with(kName)) continue;
        if (const auto number = to_number(std::string_view(entry).substr(kName.size())))
            numbers.push_back(static_cast<std::uint32_t>(*number));
    }
    if (numbers.empty()) return Error{ErrorCode{}, fmt::format("{}: no devices", top)};
    std::sort(numbers.begin(), numbers.end());
    std::vector<NvmlGpu> devices;
    for (const std::uint32_t number : numbers) {
        const std::string place = fmt::format("{}/neuron{}", top, number);
        NvmlGpu device{.minor = number, .maker = GpuMaker::Neuron};
        for (const char* file : {"device_name", "info/architecture/device_name"}) {
            const Result<std::string> name = read_file(fmt::format("{}/{}", place, file));
            if (name && device.name.empty()) device.name = trim(*name);
        }
        if (device.name.empty()) device.name = "neuron";
        const Result<std::string> cpus = read_file(place + "/device/local_cpulist");
        if (cpus) device.cpus = parse_cpu_list(*cpus);
        device.files = {fmt::format("/dev/neuron{}", number)};
        devices.push_back(std::move(device));
    }
    return devices;
}

}  // namespace sluice
