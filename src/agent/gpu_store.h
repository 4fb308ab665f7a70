// agent/gpu_store.h
//
// The samples of the GPUs of this node, in files of the spool: a folder for each GPU, with files
// that are named by the time of their first record. The oldest files of a GPU are removed when they
// are larger than the limit together. Only slurmd's own user can read them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/gpu_codec.h"
#include "base/result.h"
#include "os/fd.h"

namespace sluice {

class GpuStore {
public:
    GpuStore(std::string directory, std::uint64_t bytes_per_gpu)
        : directory_(std::move(directory)), bytes_most_(bytes_per_gpu) {}

    void set_limit(std::uint64_t bytes_per_gpu) { bytes_most_ = bytes_per_gpu; }
    Result<void> add(std::uint32_t gpu, const GpuRecord& record);

private:
    // A file is written by one process: what an earlier slurmd has begun is not continued.
    struct Open {
        Fd file;
        std::uint64_t size = 0;
        GpuEncoder encoder;
    };
    Result<void> begin(std::uint32_t gpu, Time now, Open& open);
    void remove_oldest(const std::string& folder) const;

    std::string directory_;
    std::uint64_t bytes_most_;
    std::map<std::uint32_t, Open> open_;
};

// Calls `visit` with each record from `from` to `to`, in the order of time. Reads files: may take
// long.
void read_gpu_records(const std::string& directory, std::uint32_t gpu, Time from, Time to,
                      const std::function<void(const GpuRecord&)>& visit);

}  // namespace sluice
