// agent/gpu_history.h
//
// The answer to sgpu: samples of a job's GPUs, or of all GPUs of the node, averaged into intervals.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/gpu_codec.h"
#include "wire.pb.h"

namespace sluice {

// A GPU of this node, or a part of one that behaves as a GPU.
struct GpuHere {
    std::uint32_t gpu = 0;
    std::string uuid, type;
    std::uint64_t memory_all_mb = 0;          // 0: not known
    std::string out_of_service = {};          // why; empty: in service
    std::optional<std::uint32_t> minor = {};  // of its file, /dev/nvidia<minor>
};

struct GpuHistoryDemand {
    wire::AskGpus question;
    std::vector<GpuHere> gpus;
    std::string directory;  // of the store
    std::uint32_t interval = 30;
    Time now{};
    bool sees_all = false;  // jobs of every user
    std::uint32_t asker = 0;
};

// Reads files: may take long. One series per GPU, the GPUs in their order.
std::vector<wire::GpuSeries> gpu_history(const GpuHistoryDemand& demand);

// The records of one holder as a series. At most `points` intervals, none shorter than `interval`.
wire::GpuSeries averaged(const std::vector<GpuRecord>& records, std::uint32_t interval,
                         std::uint32_t points);

}  // namespace sluice
