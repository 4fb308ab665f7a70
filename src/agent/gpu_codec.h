// agent/gpu_codec.h
//
// Samples of one GPU as a compact series of bytes: each record has a mask of the values that have
// changed since the one before, and their differences. A series begins from zero, so that each file
// can be read alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace sluice {

// A step that had the GPU when the sample was taken.
struct GpuHolder {
    std::uint32_t job = 0, restarts = 0, user = 0, step = 0;
    auto operator<=>(const GpuHolder&) const = default;
};

struct GpuRecord {
    // Known values are stored plus one; 0: not known.
    enum Value { Percent, Power, Memory, SmClock, Temperature, MemoryClock, Processes, EccErrors };
    static constexpr std::size_t kValues = 8;

    Time time{};
    std::array<std::uint64_t, kValues> values{};
    std::vector<GpuHolder> holders;   // usually one
    std::vector<std::uint32_t> xids;  // errors since the record before

    void set(Value which, std::uint64_t value) { values[which] = value + 1; }
    std::optional<std::uint64_t> get(Value which) const {
        return values[which] == 0 ? std::nullopt : std::optional(values[which] - 1);
    }
    bool operator==(const GpuRecord&) const = default;
};

class GpuEncoder {
public:
    // Appends the record to `bytes`.
    void add(const GpuRecord& record, std::string& bytes);

private:
    GpuRecord last_;
    std::int64_t interval_ = 0;
};

class GpuDecoder {
public:
    explicit GpuDecoder(std::string_view bytes) : left_(bytes) {}
    // Nothing: the end, or what follows is damaged or incomplete.
    std::optional<GpuRecord> next();

private:
    std::optional<std::uint64_t> number();
    bool read_differences(std::uint64_t mask);
    bool read_holders();
    bool read_xids();

    std::string_view left_;
    GpuRecord last_;
    std::int64_t interval_ = 0;
};

}  // namespace sluice
