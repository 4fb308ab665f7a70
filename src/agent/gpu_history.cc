#include "agent/gpu_history.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "agent/gpu_store.h"

namespace sluice {

namespace {

constexpr std::uint32_t kPointsMost = 20'000;
constexpr std::size_t kXidsMost = 64;  // that are named

// What falls into one interval.
struct Interval {
    std::uint64_t sum = 0, count = 0, most = 0;
    void add(std::optional<std::uint64_t> value) {
        if (!value) return;
        sum += *value;
        most = std::max(most, *value);
        ++count;
    }
    // 0: not known, else the value plus one.
    std::uint64_t mean() const { return count == 0 ? 0 : (sum + count / 2) / count + 1; }
    std::uint64_t highest() const { return count == 0 ? 0 : most + 1; }
};

using Intervals = std::array<Interval, GpuRecord::kValues>;

void append(const Intervals& values, std::uint32_t step, wire::GpuSeries& series) {
    const auto small = [](std::uint64_t value) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xffffffff));
    };
    series.add_percent(small(values[GpuRecord::Percent].mean()));
    series.add_percent_most(small(values[GpuRecord::Percent].highest()));
    series.add_memory(values[GpuRecord::Memory].mean());
    series.add_power(small(values[GpuRecord::Power].mean()));
    series.add_temperature(small(values[GpuRecord::Temperature].highest()));
    series.add_sm_clock(small(values[GpuRecord::SmClock].mean()));
    series.add_memory_clock(small(values[GpuRecord::MemoryClock].mean()));
    series.add_processes(small(values[GpuRecord::Processes].highest()));
    series.add_step(step);
}

const GpuHolder* holder_in(const GpuRecord& record, std::uint32_t job) {
    for (const GpuHolder& each : record.holders) {
        if (each.job == job) return &each;
    }
    return nullptr;
}

bool may_see(const GpuHistoryDemand& demand, const GpuHolder& holder) {
    return demand.sees_all || holder.user == demand.asker;
}

// The samples of the job, or with job 0 those of the last holder; none that the asker may not see.
std::vector<GpuRecord> records_of(const GpuHistoryDemand& demand, std::uint32_t gpu) {
    const wire::AskGpus& question = demand.question;
    const Time to = question.to() > 0 ? from_unix(question.to()) : demand.now;
    std::vector<GpuRecord> records;
    read_gpu_records(demand.directory, gpu, from_unix(question.from()), to,
                     [&](const GpuRecord& record) {
                         if (question.job() == 0 || holder_in(record, question.job()))
                             records.push_back(record);
                     });
    if (records.empty()) return records;
    if (question.job() == 0) {
        const std::vector<GpuHolder>& last = records.back().holders;
        const bool visible = std::all_of(last.begin(), last.end(), [&](const GpuHolder& holder) {
            return may_see(demand, holder);
        });
        if (!visible) return {};
        const auto runs = [](const std::vector<GpuHolder>& holders) {
            std::set<std::pair<std::uint32_t, std::uint32_t>> set;
            for (const GpuHolder& each : holders) set.emplace(each.job, each.restarts);
            return set;
        };
        const auto wanted = runs(last);
        std::erase_if(records, [&](const GpuRecord& each) { return runs(each.holders) != wanted; });
        return records;
    }
    std::uint32_t restarts = holder_in(records.back(), question.job())->restarts;
    if (question.has_restarts()) restarts = question.restarts();
    std::erase_if(records, [&](const GpuRecord& each) {
        const GpuHolder* holder = holder_in(each, question.job());
        return holder->restarts != restarts || !may_see(demand, *holder);
    });
    return records;
}

}  // namespace

wire::GpuSeries averaged(const std::vector<GpuRecord>& records, std::uint32_t interval,
                         std::uint32_t points) {
    wire::GpuSeries series;
    const std::int64_t start = to_unix(records.front().time);
    const std::int64_t length = to_unix(records.back().time) - start + 1;
    const auto most = static_cast<std::int64_t>(std::clamp(points, 1u, kPointsMost));
    const std::int64_t each =
        std::max<std::int64_t>(std::max(interval, 1u), (length + most - 1) / most);
    series.set_start(start);
    series.set_interval(static_cast<std::uint32_t>(each));
    Intervals values{};
    std::uint32_t step = 0;
    std::int64_t current = 0;
    std::uint64_t ecc_first = 0, ecc_last = 0;
    for (const GpuRecord& record : records) {
        const std::int64_t at = std::max<std::int64_t>(0, (to_unix(record.time) - start) / each);
        for (; current < std::min(at, most - 1); ++current) {
            append(values, step, series);
            values = {};
        }
        for (std::size_t i = 0; i < GpuRecord::kValues; ++i)
            values[i].add(record.get(static_cast<GpuRecord::Value>(i)));
        if (!record.holders.empty()) step = record.holders.front().step;
        const std::uint64_t errors = record.get(GpuRecord::EccErrors).value_or(ecc_last);
        if (&record == &records.front()) ecc_first = errors;
        ecc_last = errors;
        for (std::uint32_t xid : record.xids) {
            if (series.xids_size() < static_cast<int>(kXidsMost)) series.add_xids(xid);
        }
    }
    append(values, step, series);
    series.set_ecc_errors(ecc_last - std::min(ecc_first, ecc_last));
    return series;
}

std::vector<wire::GpuSeries> gpu_history(const GpuHistoryDemand& demand) {
    std::vector<wire::GpuSeries> all;
    for (const GpuHere& gpu : demand.gpus) {
        const std::vector<GpuRecord> records = records_of(demand, gpu.gpu);
        if (records.empty()) continue;
        wire::GpuSeries& series = all.emplace_back(
            averaged(records, demand.interval, std::max(1u, demand.question.points())));
        series.set_gpu(gpu.gpu);
        series.set_uuid(gpu.uuid);
        series.set_type(gpu.type);
        series.set_memory_all(gpu.memory_all_mb);
        series.set_out_of_service(gpu.out_of_service);
        const std::vector<GpuHolder>& holders = records.back().holders;
        const GpuHolder* holder = holder_in(records.back(), demand.question.job());
        if (!holder && !holders.empty()) holder = &holders.front();
        if (!holder) continue;
        series.set_job(holder->job);
        series.set_restarts(holder->restarts);
        series.set_user(holder->user);
    }
    return all;
}

}  // namespace sluice
