// os/nvml.h
//
// NVIDIA's GPUs and their clocks, through NVML (libnvidia-ml.so.1), which comes with the driver. It
// is loaded at the first use, so that programs without GPUs do not load it, and its headers are not
// needed. The program must be linked dynamically.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice {

struct GpuClocks {
    std::uint32_t memory = 0;  // MHz
    std::uint32_t graphics = 0;
    bool operator==(const GpuClocks&) const = default;
};

// A part of a GPU that behaves as a GPU (Multi-Instance GPU).
struct MigDevice {
    std::string profile;  // "1g.5gb"
    std::string uuid;
    std::uint32_t gpu_instance = 0, compute_instance = 0;
};

enum class GpuMaker : std::uint8_t { Nvidia, Amd, Intel, Neuron };

struct NvmlGpu {
    std::string name = {};       // "NVIDIA A40"
    std::uint32_t minor = 0;     // of /dev/nvidia<minor>
    std::vector<int> cpus = {};  // the kernel's numbers of those close to it; empty: unknown
    std::string uuid = {};       // empty: unknown
    std::string bus_id = {};     // "00000000:01:00.0"
    std::vector<std::string> peers = {};  // bus ids, one for each active NVLink
    std::vector<MigDevice> migs = {};     // not empty: only these can be used
    std::vector<std::string> files = {};  // empty: /dev/nvidia<minor>
    GpuMaker maker = GpuMaker::Nvidia;
};

// What a process uses of a GPU now.
struct GpuProcess {
    pid_t pid = 0;
    std::uint64_t memory_kb = 0;
    std::uint32_t percent = 0;  // of the time of the GPU
};

// What a GPU does now. Absent: the driver does not tell.
struct GpuReading {
    std::optional<std::uint32_t> percent;  // of the time, in the last second or so
    std::uint64_t memory_mb = 0, memory_all_mb = 0;
    std::optional<std::uint32_t> watts, celsius, sm_clock, memory_clock;  // MHz
    std::vector<GpuProcess> processes;
    std::optional<std::uint64_t> ecc_errors;  // that could not be corrected, since the driver began
    std::string uuid;                         // of the GPU, also of a part (MIG) of it
};

// A critical error that the driver has reported.
struct GpuXid {
    std::string uuid;
    std::uint32_t xid = 0;
};

class Nvml {
public:
    // The error says why there is none.
    static Result<std::unique_ptr<Nvml>> load();
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    Result<std::vector<NvmlGpu>> gpus() const;  // by their number

    // GPUs by their number. All clocks that it can run at; not empty.
    Result<std::vector<std::uint32_t>> memory_clocks(std::uint32_t gpu) const;
    Result<std::vector<std::uint32_t>> graphics_clocks(std::uint32_t gpu,
                                                       std::uint32_t memory) const;
    // What programs on it run at.
    Result<GpuClocks> clocks(std::uint32_t gpu) const;
    Result<void> set_clocks(std::uint32_t gpu, const GpuClocks& clocks) const;
    Result<void> reset_clocks(std::uint32_t gpu) const;

    // The GPU or the part of one (MIG) with this UUID, or else the GPU of this number.
    Result<GpuReading> read(const std::string& uuid, std::uint32_t gpu) const;
    // Since the last call; from the first call on.
    std::vector<GpuXid> take_xids();

    // A process may be named twice: with its memory, and with its part of the time. Empty where
    // the driver does not tell.
    std::vector<GpuProcess> processes(std::uint32_t gpu) const;

private:
    struct Functions;
    Nvml(void* library, std::unique_ptr<Functions> functions);
    Result<void*> device(std::uint32_t gpu) const;
    Result<NvmlGpu> describe(std::uint32_t gpu) const;
    std::vector<int> close_cpus(void* device) const;
    std::string uuid_of(void* device) const;
    std::vector<std::string> peers_of(void* device) const;
    std::vector<MigDevice> migs_of(void* device) const;
    std::vector<GpuProcess> processes_on(void* device) const;
    void watch_xids();
    Error failure(const char* what, std::uint32_t gpu, int code) const;

    void* library_;
    std::unique_ptr<Functions> call_;
    void* xid_events_ = nullptr;
    bool watches_xids_ = false;
};

}  // namespace sluice
