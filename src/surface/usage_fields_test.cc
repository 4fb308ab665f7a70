// surface/usage_fields_test.cc: the texts were recorded from a Slurm 22.05 cluster, for the same
// amounts.
#include "surface/usage_fields.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TaskUsage task_on(const std::string& node, std::uint32_t task, std::uint64_t cpu_ms,
                  std::uint64_t rss_kb, std::uint64_t vm_kb, std::uint64_t read,
                  std::uint64_t written) {
    const auto amounts = [&](std::uint64_t value) {
        return TaskAmounts{value, value, node, task, value, node, task};
    };
    TaskUsage usage;
    usage.tasks = 1;
    usage.cpu_ms = amounts(cpu_ms);
    usage.rss_kb = amounts(rss_kb);
    usage.vm_kb = amounts(vm_kb);
    usage.pages = amounts(1);
    usage.read_bytes = amounts(read);
    usage.written_bytes = amounts(written);
    return usage;
}

Usage recorded() {
    TaskUsage tasks = task_on("cpu1", 0, 2700, 8048, 13956, 45088, 1);
    add_tasks(tasks, task_on("cpu2", 1, 453, 192316, 198280, 31502368, 31457281));
    tasks.cpu_khz = 487;
    Usage usage{.cpu_user = Microseconds{2'704'999}, .cpu_system = Microseconds{448'500}};
    usage.tasks = std::make_shared<const TaskUsage>(tasks);
    return usage;
}

std::string text(std::string_view field, const UnitStyle& style = {}) {
    return usage_text(find_usage_field(field).value(), recorded(), style);
}

TEST(UsageFields, AreWordedAsSlurmWordsThem) {
    EXPECT_EQ(text("avecpu"), "00:00:01");
    EXPECT_EQ(text("AveCPUFreq"), "487K");
    EXPECT_EQ(text("MaxRSS"), "192316K");
    EXPECT_EQ(text("MaxRSSNode"), "cpu2");
    EXPECT_EQ(text("MaxRSSTask"), "1");
    EXPECT_EQ(text("AveRSS"), "100182K");
    EXPECT_EQ(text("MaxDiskRead"), "30.04M");
    EXPECT_EQ(text("AveDiskRead"), "15.04M");
    EXPECT_EQ(text("MinCPU"), "00:00:00");
    EXPECT_EQ(text("MinCPUNode"), "cpu2");
    EXPECT_EQ(text("TotalCPU"), "00:03.153");
    EXPECT_EQ(text("UserCPU"), "00:02.704");
    EXPECT_EQ(text("SystemCPU"), "00:00.448");
    EXPECT_EQ(text("TRESUsageInTot"),
              "cpu=00:00:03,energy=0,fs/disk=31547456,mem=200364K,pages=2,vmem=212236K");
    EXPECT_EQ(text("TRESUsageInMaxNode"),
              "cpu=cpu1,energy=cpu1,fs/disk=cpu2,mem=cpu2,pages=cpu1,vmem=cpu2");
    EXPECT_EQ(text("TRESUsageInMaxTask"), "cpu=0,fs/disk=1,mem=1,pages=0,vmem=1");
    EXPECT_EQ(text("TRESUsageOutMax"), "energy=0,fs/disk=31457281");
    EXPECT_EQ(text("TRESUsageOutMaxTask"), "fs/disk=1");
}

TEST(UsageFields, TakeUnits) {
    EXPECT_EQ(text("MaxRSS", {.convert = false}), "196931584");
    EXPECT_EQ(text("MaxRSS", {.unit = 'M'}), "187.81M");
    EXPECT_EQ(text("MaxRSS", {.unit = 'G'}), "0.18G");
    EXPECT_EQ(text("MaxDiskRead", {.unit = 'K'}), "30764.03K");
    EXPECT_EQ(text("MaxDiskRead", {.unit = 'G'}), "0.03G");
    EXPECT_EQ(text("MaxDiskRead", {.convert = false}), "30.04M");
    EXPECT_EQ(text("MaxDiskRead", {.disk_in_megabytes = false}), "31502368");
    EXPECT_EQ(text("AveCPUFreq", {.unit = 'M'}), "0.49M");
    EXPECT_EQ(text("TRESUsageOutMax", {.unit = 'K'}), "energy=0,fs/disk=30720.00K");
    EXPECT_EQ(text("MaxPages", {.unit = 'K'}), "0.00K");
}

TEST(UsageFields, AreEmptyWithoutSamples) {
    const Usage nothing;
    EXPECT_EQ(usage_text(UsageField::AveCPU, nothing, {}), "");
    EXPECT_EQ(usage_text(UsageField::TRESUsageInMax, nothing, {}), "");
    EXPECT_EQ(usage_text(UsageField::MaxRSS, nothing, {}), "");
    EXPECT_EQ(usage_text(UsageField::TotalCPU, nothing, {}), "00:00:00");
    const Usage peak{.rss_max_kb = 2048, .rss_max_node = "n1"};
    EXPECT_EQ(usage_text(UsageField::MaxRSS, peak, {}), "2M");
    EXPECT_EQ(usage_text(UsageField::MaxRSSNode, peak, {}), "n1");
}

TEST(UsageFields, CountHoursOfCpuTimeWithoutFractions) {
    Usage usage;
    usage.cpu_user = Microseconds{3'599'999'000};
    EXPECT_EQ(usage_text(UsageField::UserCPU, usage, {}), "59:59.999");
    usage.cpu_user = Microseconds{3'600'500'000};
    EXPECT_EQ(usage_text(UsageField::UserCPU, usage, {}), "01:00:00");
    usage.cpu_user = Microseconds{90'000'000'000};
    EXPECT_EQ(usage_text(UsageField::UserCPU, usage, {}), "1-01:00:00");
}

TEST(UsageFields, AreInTheOrderOfTheirNumbers) {
    std::size_t number = 0;
    for (const UsageFieldRow& row : usage_fields()) {
        EXPECT_EQ(static_cast<std::size_t>(row.field), number++);
        EXPECT_EQ(find_usage_field(row.name), row.field);
    }
    EXPECT_FALSE(find_usage_field("MaxRS"));
}

}  // namespace
}  // namespace sluice
