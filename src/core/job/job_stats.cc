#include "core/job/job_stats.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "base/check.h"

namespace sluice {

namespace {

constexpr std::uint64_t kKilobyte = 1024, kMegabyte = 1u << 20;

// One value of each GPU: "0": 85.5, "1": 3
template <typename Value>
std::string by_gpu(const NodeUse& use, Value value) {
    std::string text;
    for (const GpuUse& gpu : use.gpus) {
        if (gpu.samples == 0) continue;
        text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", gpu.gpu, value(gpu));
    }
    return text;
}

std::string node_json(const Cluster& cluster, const Job& job, const NodeUse& use) {
    const NodeShare* share = job.run.allocation->find(use.node);
    const std::uint64_t memory = share ? share->memory * kMegabyte : 0;
    return fmt::format(
        R"("{}":{{"total_memory":{},"used_memory":{},"total_time":{:.1f},"cpus":{},)"
        R"("gpu_total_memory":{{{}}},"gpu_used_memory":{{{}}},"gpu_utilization":{{{}}}}})",
        cluster.node(use.node).config.name, memory, use.memory_kb * kKilobyte,
        static_cast<double>(use.cpu_ms) / 1000, share ? share->cpus.size() : 0,
        by_gpu(use, [](const GpuUse& gpu) { return gpu.memory_all * kMegabyte; }),
        by_gpu(use, [](const GpuUse& gpu) { return gpu.memory_most * kMegabyte; }),
        by_gpu(use, [](const GpuUse& gpu) {
            return fmt::format(
                "{:.1f}", static_cast<double>(gpu.percent_sum) / static_cast<double>(gpu.samples));
        }));
}

std::string packed(const std::string& text) {
    constexpr int kGzip = 15 + 16, kMemory = 8;
    z_stream stream{};
    CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                       Z_DEFAULT_STRATEGY) == Z_OK);
    std::string bytes(deflateBound(&stream, text.size()), '\0');
    std::string input = text;  // zlib takes it without const
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    bytes.resize(stream.total_out);
    deflateEnd(&stream);
    return bytes;
}

std::string base64(const std::string& bytes) {
    constexpr const char* kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t three = 0;
        for (std::size_t j = i; j < i + 3; ++j)
            three = three << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0);
        for (std::size_t digit = 0; digit < 4; ++digit)
            text += i + digit > bytes.size() ? '=' : kDigits[three >> (18 - 6 * digit) & 63];
    }
    return text;
}

}  // namespace

std::string job_stats(const Cluster& cluster, const Job& job) {
    const std::vector<NodeUse>& nodes = job.run.node_use;
    const bool is_wanted = std::any_of(nodes.begin(), nodes.end(),
                                       [](const NodeUse& use) { return use.memory_kb > 0; });
    if (!is_wanted || !job.run.allocation || !job.run.start_time || !job.run.end_time) return {};
    std::string text;
    std::size_t gpus = 0;
    for (const NodeUse& use : nodes) {
        text += (text.empty() ? "" : ",") + node_json(cluster, job, use);
        gpus += use.gpus.size();
    }
    const Seconds elapsed = *job.run.end_time - *job.run.start_time - job.run.suspended;
    return "JS1:" + base64(packed(fmt::format(R"({{"nodes":{{{}}},"total_time":{},"gpus":{}}})",
                                              text, elapsed.count(), gpus)));
}

}  // namespace sluice
