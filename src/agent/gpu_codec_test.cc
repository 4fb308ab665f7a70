#include "agent/gpu_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

namespace sluice {
namespace {

std::vector<GpuRecord> decode_all(std::string_view bytes) {
    GpuDecoder decoder(bytes);
    std::vector<GpuRecord> records;
    while (auto record = decoder.next()) records.push_back(*record);
    return records;
}

GpuRecord arbitrary_record() {
    GpuRecord record;
    record.time = from_unix(*rc::gen::inRange<std::int64_t>(0, 4'000'000'000));
    for (auto& value : record.values) value = *rc::gen::arbitrary<std::uint64_t>();
    for (int left = *rc::gen::inRange(0, 3); left > 0; --left)
        record.holders.push_back({*rc::gen::arbitrary<std::uint32_t>(), 1, 2, 0xfffffffb});
    for (int left = *rc::gen::inRange(0, 3); left > 0; --left)
        record.xids.push_back(*rc::gen::arbitrary<std::uint32_t>());
    return record;
}

RC_GTEST_PROP(GpuCodec, WhatWasEncodedIsDecoded, ()) {
    GpuEncoder encoder;
    std::string bytes;
    std::vector<GpuRecord> records;
    for (int left = *rc::gen::inRange(0, 20); left > 0; --left) {
        records.push_back(arbitrary_record());
        encoder.add(records.back(), bytes);
    }
    RC_ASSERT(decode_all(bytes) == records);
}

RC_GTEST_PROP(GpuCodec, AnIncompleteOrDamagedSeriesEndsEarly, ()) {
    GpuEncoder encoder;
    std::string bytes;
    for (int i = 0; i < 5; ++i) encoder.add(arbitrary_record(), bytes);
    const std::size_t cut = *rc::gen::inRange<std::size_t>(0, bytes.size());
    RC_ASSERT(decode_all(std::string_view(bytes).substr(0, cut)).size() < 5u);
    bytes[cut] = static_cast<char>(*rc::gen::arbitrary<char>());
    decode_all(bytes);  // must end
}

// A month of 1,000 GPUs with a sample per 30 seconds in 1 GB leaves 12.4 bytes for each.
TEST(GpuCodec, ASampleOfABusyGpuTakesAFewBytes) {
    std::mt19937 random(1);
    const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
    GpuEncoder encoder;
    std::string bytes;
    constexpr int kSamples = 86'400;
    GpuRecord record{.holders = {{4711, 0, 1000, 0}}};
    record.time = from_unix(1'700'000'000);
    for (int i = 0; i < kSamples; ++i) {
        record.time += Seconds{30 + (i % 50 == 0)};
        record.set(GpuRecord::Percent, up_to(100));
        record.set(GpuRecord::Memory, 30'000 + up_to(20'000));
        record.set(GpuRecord::Power, 200 + up_to(500));
        record.set(GpuRecord::Temperature, 60 + up_to(20));
        record.set(GpuRecord::SmClock, 1'200 + 15 * up_to(50));
        record.set(GpuRecord::MemoryClock, 1'593);
        record.set(GpuRecord::Processes, 1);
        encoder.add(record, bytes);
    }
    EXPECT_LT(static_cast<double>(bytes.size()) / kSamples, 12.0);
}

TEST(GpuCodec, AnIdleGpuTakesAByteForEachSample) {
    GpuEncoder encoder;
    std::string bytes;
    GpuRecord record{.time = from_unix(1'700'000'000)};
    record.set(GpuRecord::Percent, 0);
    for (int i = 0; i < 1000; ++i) {
        encoder.add(record, bytes);
        record.time += Seconds{30};
    }
    EXPECT_LT(bytes.size(), 1020u);
}

}  // namespace
}  // namespace sluice
