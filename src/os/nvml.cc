// See nvml.h. The functions and numbers are those of NVML's published C interface.
#include "os/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace sluice {

namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kGraphicsClock = 0;
constexpr int kMemoryClock = 2;
constexpr unsigned kClocksMost = 4096;
constexpr unsigned kNameSize = 128;
constexpr int kCpusMost = 4096;

// As NVML writes them.
struct RunningProcess {
    unsigned pid;
    unsigned long long memory;  // bytes
    unsigned gpu_instance, compute_instance;
};
struct ProcessSample {
    unsigned pid;
    unsigned long long time;
    unsigned percent, memory_percent, encoder, decoder;
};
struct PciInfo {
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
struct Attributes {
    unsigned processors, copy_engines, decoders, encoders, jpeg_decoders, optical_flow;
    unsigned gpu_slices, compute_slices;
    unsigned long long memory;  // megabytes
};
struct Utilization {
    unsigned gpu, memory;  // percent
};
struct Memory {
    unsigned long long total, free, used;  // bytes
};
struct EventData {
    void* device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};
constexpr unsigned long long kXidEvent = 8;
constexpr int kSmClock = 1;
constexpr int kNoFunction = -1;
constexpr int kUncorrected = 1, kVolatile = 0;
constexpr int kCoreTemperature = 0;
constexpr std::size_t kXidsMost = 64;  // of one call
constexpr unsigned kLinksMost = 18;    // of one GPU
constexpr unsigned kMigsMost = 64;
constexpr unsigned kUuidSize = 96;
constexpr unsigned kProcessesMost = 1024;
constexpr std::uint64_t kUnknownMemory = ~0ull;

template <std::size_t kSize>
std::string text_in(const char (&text)[kSize]) {
    return {text, strnlen(text, kSize)};
}

// NVIDIA's name of a size: "3g.20gb", or "1c.3g.20gb" if it is a part of the computing of it.
std::string profile_of(const Attributes& attributes) {
    const unsigned long long gigabytes = (attributes.memory + 1023) / 1024;
    const std::string whole = fmt::format("{}g.{}gb", attributes.gpu_slices, gigabytes);
    if (attributes.compute_slices == attributes.gpu_slices) return whole;
    return fmt::format("{}c.{}", attributes.compute_slices, whole);
}

Error no_library(std::string why) {
    return Error{ErrorCode{}, fmt::format("{}: {}", kLibrary, why)};
}

// Calls `list(count, numbers)` until the list is long enough.
template <typename List>
int read_list(std::vector<std::uint32_t>& numbers, List list) {
    unsigned count = 256;
    int code = kInsufficientSize;
    while (code == kInsufficientSize && count <= kClocksMost) {
        numbers.resize(count);
        code = list(&count, numbers.data());
        if (code == kInsufficientSize && count <= numbers.size()) count = kClocksMost + 1;
    }
    if (code == kSuccess) numbers.resize(count);
    return code;
}

}  // namespace

struct Nvml::Functions {
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    const char* (*error_string)(int) = nullptr;
    int (*handle)(unsigned, void**) = nullptr;
    int (*memory_clocks)(void*, unsigned*, unsigned*) = nullptr;
    int (*graphics_clocks)(void*, unsigned, unsigned*, unsigned*) = nullptr;
    int (*clock)(void*, int, unsigned*) = nullptr;
    int (*set)(void*, unsigned, unsigned) = nullptr;
    int (*reset)(void*) = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*name)(void*, char*, unsigned) = nullptr;
    int (*minor)(void*, unsigned*) = nullptr;
    int (*cpus)(void*, unsigned, unsigned long*) = nullptr;
    // Drivers may lack these.
    int (*running)(void*, unsigned*, RunningProcess*) = nullptr;
    int (*samples)(void*, ProcessSample*, unsigned*, unsigned long long) = nullptr;
    int (*uuid)(void*, char*, unsigned) = nullptr;
    int (*pci)(void*, PciInfo*) = nullptr;
    int (*link_state)(void*, unsigned, int*) = nullptr;
    int (*link_peer)(void*, unsigned, PciInfo*) = nullptr;
    int (*mig_mode)(void*, unsigned*, unsigned*) = nullptr;
    int (*mig_count)(void*, unsigned*) = nullptr;
    int (*mig_handle)(void*, unsigned, void**) = nullptr;
    int (*gpu_instance)(void*, unsigned*) = nullptr;
    int (*compute_instance)(void*, unsigned*) = nullptr;
    int (*attributes)(void*, Attributes*) = nullptr;

    int (*whole)(void*, void**) = nullptr;
    int (*handle_by_uuid)(const char*, void**) = nullptr;
    int (*utilization)(void*, Utilization*) = nullptr;
    int (*memory)(void*, Memory*) = nullptr;
    int (*power)(void*, unsigned*) = nullptr;
    int (*temperature)(void*, int, unsigned*) = nullptr;
    int (*current_clock)(void*, int, unsigned*) = nullptr;
    int (*ecc_errors)(void*, int, int, unsigned long long*) = nullptr;
    int (*make_events)(void**) = nullptr;
    int (*free_events)(void*) = nullptr;
    int (*register_events)(void*, unsigned long long, void*) = nullptr;
    int (*wait_event)(void*, EventData*, unsigned) = nullptr;

    // The name of one that is missing, or none.
    const char* find_in(void* library) {
        const char* missing = nullptr;
        auto find = [&](auto& function, const char* name) {
            function =
                reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
            if (!function) missing = name;
        };
        find(init, "nvmlInit_v2");
        find(shutdown, "nvmlShutdown");
        find(error_string, "nvmlErrorString");
        find(handle, "nvmlDeviceGetHandleByIndex_v2");
        find(memory_clocks, "nvmlDeviceGetSupportedMemoryClocks");
        find(graphics_clocks, "nvmlDeviceGetSupportedGraphicsClocks");
        find(clock, "nvmlDeviceGetApplicationsClock");
        find(set, "nvmlDeviceSetApplicationsClocks");
        find(reset, "nvmlDeviceResetApplicationsClocks");
        find(count, "nvmlDeviceGetCount_v2");
        find(name, "nvmlDeviceGetName");
        find(minor, "nvmlDeviceGetMinorNumber");
        find(cpus, "nvmlDeviceGetCpuAffinity");
        const char* needed = missing;
        find(running, "nvmlDeviceGetComputeRunningProcesses_v3");
        find(samples, "nvmlDeviceGetProcessUtilization");
        find(uuid, "nvmlDeviceGetUUID");
        find(pci, "nvmlDeviceGetPciInfo_v3");
        find(link_state, "nvmlDeviceGetNvLinkState");
        find(link_peer, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
        find(mig_mode, "nvmlDeviceGetMigMode");
        find(mig_count, "nvmlDeviceGetMaxMigDeviceCount");
        find(mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex");
        find(gpu_instance, "nvmlDeviceGetGpuInstanceId");
        find(compute_instance, "nvmlDeviceGetComputeInstanceId");
        find(attributes, "nvmlDeviceGetAttributes_v2");
        find(whole, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
        find(handle_by_uuid, "nvmlDeviceGetHandleByUUID");
        find(utilization, "nvmlDeviceGetUtilizationRates");
        find(memory, "nvmlDeviceGetMemoryInfo");
        find(power, "nvmlDeviceGetPowerUsage");
        find(temperature, "nvmlDeviceGetTemperature");
        find(current_clock, "nvmlDeviceGetClockInfo");
        find(ecc_errors, "nvmlDeviceGetTotalEccErrors");
        find(make_events, "nvmlEventSetCreate");
        find(free_events, "nvmlEventSetFree");
        find(register_events, "nvmlDeviceRegisterEvents");
        find(wait_event, "nvmlEventSetWait_v2");
        return needed;
    }
};

Nvml::Nvml(void* library, std::unique_ptr<Functions> functions)
    : library_(library), call_(std::move(functions)) {}

Nvml::~Nvml() {
    if (xid_events_) call_->free_events(xid_events_);
    call_->shutdown();
    dlclose(library_);
}

Result<std::unique_ptr<Nvml>> Nvml::load() {
    void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* why = dlerror();  // names the library itself
        return why ? Error{ErrorCode{}, why} : no_library("cannot be loaded");
    }
    auto functions = std::make_unique<Functions>();
    const char* missing = functions->find_in(library);
    const int code = missing ? kSuccess : functions->init();
    if (!missing && code == kSuccess) {
        return std::unique_ptr<Nvml>(new Nvml(library, std::move(functions)));
    }
    Error error = missing ? no_library(fmt::format("it has no {}", missing))
                          : no_library(functions->error_string(code));
    dlclose(library);
    return error;
}

Error Nvml::failure(const char* what, std::uint32_t gpu, int code) const {
    return Error{ErrorCode{}, fmt::format("GPU {}: {}: {}", gpu, what, call_->error_string(code))};
}

Result<void*> Nvml::device(std::uint32_t gpu) const {
    void* found = nullptr;
    const int code = call_->handle(gpu, &found);
    if (code != kSuccess) return failure("not found", gpu, code);
    return found;
}

Result<std::vector<NvmlGpu>> Nvml::gpus() const {
    unsigned count = 0;
    if (const int code = call_->count(&count); code != kSuccess) {
        return no_library(fmt::format("number of GPUs: {}", call_->error_string(code)));
    }
    std::vector<NvmlGpu> found;
    for (unsigned gpu = 0; gpu < count; ++gpu) found.push_back(TRY(describe(gpu)));
    return found;
}

Result<NvmlGpu> Nvml::describe(std::uint32_t gpu) const {
    void* handle = TRY(device(gpu));
    char name[kNameSize] = {};
    NvmlGpu found;
    int code = call_->name(handle, name, kNameSize - 1);
    if (code != kSuccess) return failure("name", gpu, code);
    code = call_->minor(handle, &found.minor);
    if (code != kSuccess) return failure("number of the device file", gpu, code);
    found.name = name;
    found.cpus = close_cpus(handle);
    found.uuid = uuid_of(handle);
    PciInfo pci{};
    if (call_->pci && call_->pci(handle, &pci) == kSuccess) found.bus_id = text_in(pci.bus_id);
    found.peers = peers_of(handle);
    found.migs = migs_of(handle);
    return found;
}

std::string Nvml::uuid_of(void* device) const {
    char uuid[kUuidSize] = {};
    const bool known = call_->uuid && call_->uuid(device, uuid, kUuidSize - 1) == kSuccess;
    return known ? uuid : "";
}

std::vector<std::string> Nvml::peers_of(void* device) const {
    std::vector<std::string> peers;
    if (!call_->link_state || !call_->link_peer) return peers;
    for (unsigned link = 0; link < kLinksMost; ++link) {
        int active = 0;
        PciInfo peer{};
        if (call_->link_state(device, link, &active) != kSuccess || active == 0) continue;
        if (call_->link_peer(device, link, &peer) == kSuccess)
            peers.push_back(text_in(peer.bus_id));
    }
    return peers;
}

std::vector<MigDevice> Nvml::migs_of(void* device) const {
    std::vector<MigDevice> migs;
    unsigned current = 0, pending = 0, count = 0;
    const bool can = call_->mig_mode && call_->mig_count && call_->mig_handle &&
                     call_->gpu_instance && call_->compute_instance && call_->attributes;
    if (!can || call_->mig_mode(device, &current, &pending) != kSuccess || current != 1)
        return migs;
    if (call_->mig_count(device, &count) != kSuccess) return migs;
    for (unsigned i = 0; i < std::min(count, kMigsMost); ++i) {
        void* handle = nullptr;
        MigDevice mig;
        Attributes attributes{};
        if (call_->mig_handle(device, i, &handle) != kSuccess) continue;  // not partitioned so far
        if (call_->gpu_instance(handle, &mig.gpu_instance) != kSuccess) continue;
        if (call_->compute_instance(handle, &mig.compute_instance) != kSuccess) continue;
        if (call_->attributes(handle, &attributes) != kSuccess) continue;
        mig.uuid = uuid_of(handle);
        mig.profile = profile_of(attributes);
        migs.push_back(std::move(mig));
    }
    return migs;
}

// Not every machine knows.
std::vector<int> Nvml::close_cpus(void* device) const {
    constexpr int kBits = 8 * sizeof(unsigned long);
    unsigned long mask[kCpusMost / kBits] = {};
    if (call_->cpus(device, kCpusMost / kBits, mask) != kSuccess) return {};
    std::vector<int> cpus;
    for (int cpu = 0; cpu < kCpusMost; ++cpu) {
        if (mask[cpu / kBits] >> (cpu % kBits) & 1) cpus.push_back(cpu);
    }
    return cpus;
}

Result<std::vector<std::uint32_t>> Nvml::memory_clocks(std::uint32_t gpu) const {
    void* handle = TRY(device(gpu));
    std::vector<std::uint32_t> clocks;
    const int code = read_list(clocks, [&](unsigned* count, unsigned* numbers) {
        return call_->memory_clocks(handle, count, numbers);
    });
    if (code != kSuccess || clocks.empty()) return failure("memory frequencies", gpu, code);
    return clocks;
}

Result<std::vector<std::uint32_t>> Nvml::graphics_clocks(std::uint32_t gpu,
                                                         std::uint32_t memory) const {
    void* handle = TRY(device(gpu));
    std::vector<std::uint32_t> clocks;
    const int code = read_list(clocks, [&](unsigned* count, unsigned* numbers) {
        return call_->graphics_clocks(handle, memory, count, numbers);
    });
    if (code != kSuccess || clocks.empty()) return failure("graphics frequencies", gpu, code);
    return clocks;
}

Result<GpuClocks> Nvml::clocks(std::uint32_t gpu) const {
    void* handle = TRY(device(gpu));
    unsigned memory = 0, graphics = 0;
    int code = call_->clock(handle, kMemoryClock, &memory);
    if (code == kSuccess) code = call_->clock(handle, kGraphicsClock, &graphics);
    if (code != kSuccess) return failure("current frequencies", gpu, code);
    return GpuClocks{memory, graphics};
}

Result<void> Nvml::set_clocks(std::uint32_t gpu, const GpuClocks& clocks) const {
    void* handle = TRY(device(gpu));
    const int code = call_->set(handle, clocks.memory, clocks.graphics);
    if (code != kSuccess) return failure("frequencies cannot be set", gpu, code);
    return {};
}

Result<void> Nvml::reset_clocks(std::uint32_t gpu) const {
    void* handle = TRY(device(gpu));
    const int code = call_->reset(handle);
    if (code != kSuccess) return failure("frequencies cannot be reset", gpu, code);
    return {};
}

std::vector<GpuProcess> Nvml::processes_on(void* device) const {
    std::vector<GpuProcess> found;
    unsigned count = kProcessesMost;
    std::vector<RunningProcess> running(count);
    if (!call_->running || call_->running(device, &count, running.data()) != kSuccess) return found;
    for (unsigned i = 0; i < std::min(count, kProcessesMost); ++i) {
        const std::uint64_t bytes = running[i].memory == kUnknownMemory ? 0 : running[i].memory;
        found.push_back({static_cast<pid_t>(running[i].pid), bytes / 1024, 0});
    }
    return found;
}

std::vector<GpuProcess> Nvml::processes(std::uint32_t gpu) const {
    const Result<void*> handle = device(gpu);
    if (!handle) return {};
    std::vector<GpuProcess> found = processes_on(*handle);
    unsigned count = kProcessesMost;
    std::vector<ProcessSample> samples(count);
    if (call_->samples && call_->samples(*handle, samples.data(), &count, 0) == kSuccess) {
        std::map<unsigned, ProcessSample> newest;  // by pid: the driver keeps several
        for (unsigned i = 0; i < std::min(count, kProcessesMost); ++i) {
            ProcessSample& kept = newest.try_emplace(samples[i].pid, samples[i]).first->second;
            if (samples[i].time > kept.time) kept = samples[i];
        }
        for (const auto& [pid, sample] : newest) {
            found.push_back({static_cast<pid_t>(pid), 0, sample.percent});
        }
    }
    return found;
}

Result<GpuReading> Nvml::read(const std::string& uuid, std::uint32_t gpu) const {
    void* found = nullptr;
    const bool is_named = !uuid.empty() && call_->handle_by_uuid;
    if (!is_named) found = TRY(device(gpu));
    if (is_named) {
        const int code = call_->handle_by_uuid(uuid.c_str(), &found);
        if (code != kSuccess) return failure(uuid.c_str(), gpu, code);
    }
    constexpr std::uint64_t kMegabyte = 1u << 20;
    GpuReading reading;
    Utilization rates{};
    if (call_->utilization && call_->utilization(found, &rates) == kSuccess)
        reading.percent = std::min(rates.gpu, 100u);
    Memory memory{};
    if (call_->memory && call_->memory(found, &memory) == kSuccess) {
        reading.memory_mb = memory.used / kMegabyte;
        reading.memory_all_mb = memory.total / kMegabyte;
    }
    const auto note = [](std::optional<std::uint32_t>& member, int code, unsigned value) {
        if (code == kSuccess) member = value;
    };
    unsigned value = 0;
    int code = call_->power ? call_->power(found, &value) : kNoFunction;
    note(reading.watts, code, value / 1000);
    code = call_->temperature ? call_->temperature(found, kCoreTemperature, &value) : kNoFunction;
    note(reading.celsius, code, value);
    code = call_->current_clock ? call_->current_clock(found, kSmClock, &value) : kNoFunction;
    note(reading.sm_clock, code, value);
    code = call_->current_clock ? call_->current_clock(found, kMemoryClock, &value) : kNoFunction;
    note(reading.memory_clock, code, value);
    reading.processes = processes_on(found);
    unsigned long long errors = 0;
    if (call_->ecc_errors && call_->ecc_errors(found, kUncorrected, kVolatile, &errors) == kSuccess)
        reading.ecc_errors = errors;
    void* whole = nullptr;
    const bool is_part = call_->whole && call_->whole(found, &whole) == kSuccess;
    reading.uuid = uuid_of(is_part ? whole : found);
    return reading;
}

// A driver that cannot tell of errors is used without.
void Nvml::watch_xids() {
    unsigned count = 0;
    const bool can = call_->make_events && call_->free_events && call_->register_events &&
                     call_->wait_event && call_->count(&count) == kSuccess;
    if (!can || call_->make_events(&xid_events_) != kSuccess) {
        xid_events_ = nullptr;
        return;
    }
    for (unsigned gpu = 0; gpu < count; ++gpu) {
        const Result<void*> handle = device(gpu);
        if (handle) (void)call_->register_events(*handle, kXidEvent, xid_events_);
    }
}

std::vector<GpuXid> Nvml::take_xids() {
    std::vector<GpuXid> xids;
    if (!std::exchange(watches_xids_, true)) watch_xids();
    EventData event{};
    while (xid_events_ && xids.size() < kXidsMost &&
           call_->wait_event(xid_events_, &event, 0) == kSuccess) {
        if (event.type == kXidEvent)
            xids.push_back({uuid_of(event.device), static_cast<std::uint32_t>(event.data)});
    }
    return xids;
}

}  // namespace sluice
