// surface/usage_fields.cc
#include "surface/usage_fields.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "model/times.h"

namespace sluice {

namespace {

constexpr std::string_view kUnits = "KMGTP";
constexpr double kMegabyte = 1024.0 * 1024;

// ---- numbers with a unit

std::string with_unit(double amount, char unit) {
    const std::string suffix = unit == 0 ? "" : std::string(1, unit);
    if (amount == std::floor(amount)) return fmt::format("{:.0f}{}", amount, suffix);
    return fmt::format("{:.2f}{}", amount, suffix);
}

// Compat: without --units a number is divided only as long as nothing is lost: "192316K", "10M",
// "31502368".
std::string print_amount(std::uint64_t amount, const UnitStyle& style) {
    if (amount == 0) return "0";
    if (!style.convert) return fmt::format("{}", amount);
    if (style.unit != 0) {
        double divided = static_cast<double>(amount);
        for (std::size_t i = 0; i <= kUnits.find(style.unit); ++i) divided /= 1024;
        return with_unit(divided, style.unit);
    }
    std::size_t units = 0;
    while (units < kUnits.size() && amount % 1024 == 0) {
        amount /= 1024;
        ++units;
    }
    return with_unit(static_cast<double>(amount), units == 0 ? '\0' : kUnits[units - 1]);
}

std::string print_kilobytes(std::uint64_t kilobytes, const UnitStyle& style) {
    return print_amount(kilobytes * 1024, style);
}

// Compat: sacct counts in megabytes with two places, and --units does not change what is less than
// one megabyte.
std::string print_disk(std::uint64_t bytes, const UnitStyle& style) {
    if (!style.disk_in_megabytes) return print_amount(bytes, style);
    if (bytes == 0) return "0";
    double amount = static_cast<double>(bytes) / kMegabyte;
    std::size_t unit = kUnits.find('M');
    if (style.convert && style.unit != 0 && amount >= 1) {
        for (const std::size_t wanted = kUnits.find(style.unit); unit < wanted; ++unit) {
            amount /= 1024;
        }
        if (style.unit == 'K') return with_unit(amount * 1024, 'K');
    } else if (style.convert && style.unit == 0) {
        for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
    }
    return with_unit(amount, kUnits[unit]);
}

// Frequencies are divided by 1000: "243.50K", "2.40G".
std::string print_frequency(std::uint64_t kilohertz, const UnitStyle& style) {
    if (kilohertz == 0) return "0";
    double amount = static_cast<double>(kilohertz);
    std::size_t unit = 0;
    if (style.convert && style.unit != 0) {
        for (const std::size_t wanted = kUnits.find(style.unit); unit < wanted; ++unit) {
            amount /= 1000;
        }
    } else if (style.convert) {
        for (; amount >= 1000 && unit + 1 < kUnits.size(); ++unit) amount /= 1000;
    }
    return with_unit(amount, kUnits[unit]);
}

std::string print_cpu_ms(std::uint64_t milliseconds, const UnitStyle& /*style*/) {
    return print_duration(Seconds{static_cast<std::int64_t>(milliseconds / 1000)});
}

std::string print_plain(std::uint64_t amount, const UnitStyle& /*style*/) {
    return fmt::format("{}", amount);
}

// "00:03.153"; nothing, and from one hour on, without fractions: "00:00:00", "1-01:25:02".
std::string print_cpu_time(Microseconds time) {
    const std::int64_t milliseconds = time.count() / 1000;
    const Seconds seconds{milliseconds / 1000};
    if (seconds >= Seconds{3600} || milliseconds == 0) return print_duration(seconds);
    return fmt::format("{:02}:{:02}.{:03}", seconds.count() / 60, seconds.count() % 60,
                       milliseconds % 1000);
}

// ---- one resource

using Amounts = TaskAmounts TaskUsage::*;
using Print = std::string (*)(std::uint64_t, const UnitStyle&);

std::uint64_t average(const TaskAmounts& amounts, const TaskUsage& usage) {
    return usage.tasks == 0 ? 0 : amounts.total / usage.tasks;
}

template <Amounts amounts, Print print>
std::string ave(const TaskUsage& usage, const UnitStyle& style) {
    return print(average(usage.*amounts, usage), style);
}
template <Amounts amounts, Print print>
std::string most(const TaskUsage& usage, const UnitStyle& style) {
    return print((usage.*amounts).most, style);
}
template <Amounts amounts>
std::string most_node(const TaskUsage& usage, const UnitStyle& /*style*/) {
    return (usage.*amounts).most_node;
}
template <Amounts amounts>
std::string most_task(const TaskUsage& usage, const UnitStyle& /*style*/) {
    return fmt::format("{}", (usage.*amounts).most_task);
}

std::string min_cpu(const TaskUsage& usage, const UnitStyle& style) {
    return print_cpu_ms(usage.cpu_ms.least, style);
}
std::string min_cpu_node(const TaskUsage& usage, const UnitStyle& /*style*/) {
    return usage.cpu_ms.least_node;
}
std::string min_cpu_task(const TaskUsage& usage, const UnitStyle& /*style*/) {
    return fmt::format("{}", usage.cpu_ms.least_task);
}
std::string cpu_frequency(const TaskUsage& usage, const UnitStyle& style) {
    return print_frequency(usage.cpu_khz, style);
}
std::string energy(const TaskUsage& usage, const UnitStyle& style) {
    return print_amount(usage.energy_joules, style);
}
std::string energy_raw(const TaskUsage& usage, const UnitStyle& /*style*/) {
    return fmt::format("{}", usage.energy_joules);
}

// ---- all resources in one text: "cpu=00:00:01,energy=0,fs/disk=37894,mem=10780K,..."

enum class Aspect : std::uint8_t {
    Average,
    Most,
    MostNode,
    MostTask,
    Least,
    LeastNode,
    LeastTask,
    Total
};

struct TresRow {
    std::string_view name;
    Amounts amounts;  // nullptr: energy, which is measured per node and not per task
    Print print;
    bool only_if_measured = false;
};

constexpr TresRow kIn[] = {
    {"cpu", &TaskUsage::cpu_ms, print_cpu_ms},
    {"energy", nullptr, print_amount},
    {"fs/disk", &TaskUsage::read_bytes, print_amount},
    {"mem", &TaskUsage::rss_kb, print_kilobytes},
    {"pages", &TaskUsage::pages, print_amount},
    {"vmem", &TaskUsage::vm_kb, print_kilobytes},
    {"gres/gpumem", &TaskUsage::gpu_memory_kb, print_kilobytes, true},
    {"gres/gpuutil", &TaskUsage::gpu_percent, print_plain, true},
};
constexpr TresRow kOut[] = {
    {"energy", nullptr, print_amount},
    {"fs/disk", &TaskUsage::written_bytes, print_amount},
};

// Nodes are not compared by energy. Any node that was measured can be named for it.
std::string energy_aspect(const TaskUsage& usage, Aspect aspect, const UnitStyle& style) {
    switch (aspect) {
        case Aspect::MostNode:
            return usage.cpu_ms.most_node;
        case Aspect::LeastNode:
            return usage.cpu_ms.least_node;
        case Aspect::MostTask:
        case Aspect::LeastTask:
            return "";
        default:
            return print_amount(usage.energy_joules, style);
    }
}

std::string aspect_text(const TresRow& row, const TaskUsage& usage, Aspect aspect,
                        const UnitStyle& style) {
    if (row.amounts == nullptr) return energy_aspect(usage, aspect, style);
    const TaskAmounts& amounts = usage.*row.amounts;
    if (row.only_if_measured && amounts.most_node.empty()) return "";
    switch (aspect) {
        case Aspect::Average:
            return row.print(average(amounts, usage), style);
        case Aspect::Most:
            return row.print(amounts.most, style);
        case Aspect::MostNode:
            return amounts.most_node;
        case Aspect::MostTask:
            return fmt::format("{}", amounts.most_task);
        case Aspect::Least:
            return row.print(amounts.least, style);
        case Aspect::LeastNode:
            return amounts.least_node;
        case Aspect::LeastTask:
            return fmt::format("{}", amounts.least_task);
        case Aspect::Total:
            return row.print(amounts.total, style);
    }
    return "";
}

std::string tres_text(std::span<const TresRow> rows, Aspect aspect, const TaskUsage& usage,
                      const UnitStyle& style) {
    std::string text;
    for (const TresRow& row : rows) {
        const std::string value = aspect_text(row, usage, aspect, style);
        if (value.empty()) continue;
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", row.name, value);
    }
    return text;
}

template <Aspect aspect>
std::string in(const TaskUsage& usage, const UnitStyle& style) {
    return tres_text(kIn, aspect, usage, style);
}
template <Aspect aspect>
std::string out(const TaskUsage& usage, const UnitStyle& style) {
    return tres_text(kOut, aspect, usage, style);
}

// ---- the table

using Text = std::string (*)(const TaskUsage&, const UnitStyle&);

struct Row : UsageFieldRow {
    Text text;  // nullptr: needs no samples, see usage_text()
};

using F = UsageField;
using U = TaskUsage;
using A = Aspect;

// clang-format off
constexpr Row kRows[] = {
    {{F::AveCPU,              "AveCPU",              10}, ave<&U::cpu_ms, print_cpu_ms>},
    {{F::AveCPUFreq,          "AveCPUFreq",          10}, cpu_frequency},
    {{F::AveDiskRead,         "AveDiskRead",         12}, ave<&U::read_bytes, print_disk>},
    {{F::AveDiskWrite,        "AveDiskWrite",        12}, ave<&U::written_bytes, print_disk>},
    {{F::AvePages,            "AvePages",            10}, ave<&U::pages, print_amount>},
    {{F::AveRSS,              "AveRSS",              10}, ave<&U::rss_kb, print_kilobytes>},
    {{F::AveVMSize,           "AveVMSize",           10}, ave<&U::vm_kb, print_kilobytes>},
    {{F::ConsumedEnergy,      "ConsumedEnergy",      14}, energy},
    {{F::ConsumedEnergyRaw,   "ConsumedEnergyRaw",   17}, energy_raw},
    {{F::MaxDiskRead,         "MaxDiskRead",         12}, most<&U::read_bytes, print_disk>},
    {{F::MaxDiskReadNode,     "MaxDiskReadNode",     15}, most_node<&U::read_bytes>},
    {{F::MaxDiskReadTask,     "MaxDiskReadTask",     15}, most_task<&U::read_bytes>},
    {{F::MaxDiskWrite,        "MaxDiskWrite",        12}, most<&U::written_bytes, print_disk>},
    {{F::MaxDiskWriteNode,    "MaxDiskWriteNode",    16}, most_node<&U::written_bytes>},
    {{F::MaxDiskWriteTask,    "MaxDiskWriteTask",    16}, most_task<&U::written_bytes>},
    {{F::MaxPages,            "MaxPages",             8}, most<&U::pages, print_amount>},
    {{F::MaxPagesNode,        "MaxPagesNode",        12}, most_node<&U::pages>},
    {{F::MaxPagesTask,        "MaxPagesTask",        14}, most_task<&U::pages>},
    {{F::MaxRSS,              "MaxRSS",              10}, nullptr},
    {{F::MaxRSSNode,          "MaxRSSNode",          10}, nullptr},
    {{F::MaxRSSTask,          "MaxRSSTask",          10}, most_task<&U::rss_kb>},
    {{F::MaxVMSize,           "MaxVMSize",           10}, most<&U::vm_kb, print_kilobytes>},
    {{F::MaxVMSizeNode,       "MaxVMSizeNode",       14}, most_node<&U::vm_kb>},
    {{F::MaxVMSizeTask,       "MaxVMSizeTask",       14}, most_task<&U::vm_kb>},
    {{F::MinCPU,              "MinCPU",              10}, min_cpu},
    {{F::MinCPUNode,          "MinCPUNode",          10}, min_cpu_node},
    {{F::MinCPUTask,          "MinCPUTask",          10}, min_cpu_task},
    {{F::SystemCPU,           "SystemCPU",           10}, nullptr},
    {{F::TotalCPU,            "TotalCPU",            10}, nullptr},
    {{F::UserCPU,             "UserCPU",             10}, nullptr},
    {{F::TRESUsageInAve,      "TRESUsageInAve",      14}, in<A::Average>},
    {{F::TRESUsageInMax,      "TRESUsageInMax",      14}, in<A::Most>},
    {{F::TRESUsageInMaxNode,  "TRESUsageInMaxNode",  18}, in<A::MostNode>},
    {{F::TRESUsageInMaxTask,  "TRESUsageInMaxTask",  18}, in<A::MostTask>},
    {{F::TRESUsageInMin,      "TRESUsageInMin",      14}, in<A::Least>},
    {{F::TRESUsageInMinNode,  "TRESUsageInMinNode",  18}, in<A::LeastNode>},
    {{F::TRESUsageInMinTask,  "TRESUsageInMinTask",  18}, in<A::LeastTask>},
    {{F::TRESUsageInTot,      "TRESUsageInTot",      14}, in<A::Total>},
    {{F::TRESUsageOutAve,     "TRESUsageOutAve",     15}, out<A::Average>},
    {{F::TRESUsageOutMax,     "TRESUsageOutMax",     15}, out<A::Most>},
    {{F::TRESUsageOutMaxNode, "TRESUsageOutMaxNode", 19}, out<A::MostNode>},
    {{F::TRESUsageOutMaxTask, "TRESUsageOutMaxTask", 19}, out<A::MostTask>},
    {{F::TRESUsageOutMin,     "TRESUsageOutMin",     15}, out<A::Least>},
    {{F::TRESUsageOutMinNode, "TRESUsageOutMinNode", 19}, out<A::LeastNode>},
    {{F::TRESUsageOutMinTask, "TRESUsageOutMinTask", 19}, out<A::LeastTask>},
    {{F::TRESUsageOutTot,     "TRESUsageOutTot",     15}, out<A::Total>},
};
// clang-format on

// The most memory is also known of a step that was not sampled: the kernel keeps the peak.
std::string max_rss(const Usage& usage, const UnitStyle& style) {
    if (usage.tasks) return print_kilobytes(usage.tasks->rss_kb.most, style);
    return usage.rss_max_kb == 0 ? "" : print_kilobytes(usage.rss_max_kb, style);
}
std::string max_rss_node(const Usage& usage) {
    if (usage.tasks) return usage.tasks->rss_kb.most_node;
    return usage.rss_max_kb == 0 ? "" : usage.rss_max_node;
}

}  // namespace

std::span<const UsageFieldRow> usage_fields() {
    static const std::vector<UsageFieldRow> rows(std::begin(kRows), std::end(kRows));
    return rows;
}

std::optional<UsageField> find_usage_field(std::string_view name) {
    for (const Row& row : kRows) {
        if (equals_ignoring_case(row.name, name)) return row.field;
    }
    return std::nullopt;
}

std::string usage_text(UsageField field, const Usage& usage, const UnitStyle& style) {
    switch (field) {
        case UsageField::UserCPU:
            return print_cpu_time(usage.cpu_user);
        case UsageField::SystemCPU:
            return print_cpu_time(usage.cpu_system);
        case UsageField::TotalCPU:
            return print_cpu_time(usage.cpu_user + usage.cpu_system);
        case UsageField::MaxRSS:
            return max_rss(usage, style);
        case UsageField::MaxRSSNode:
            return max_rss_node(usage);
        default:
            break;
    }
    const Row& row = kRows[static_cast<std::size_t>(field)];
    CHECK(row.field == field);
    return usage.tasks ? row.text(*usage.tasks, style) : "";
}

}  // namespace sluice
