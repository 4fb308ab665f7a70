// os/process_usage_test.cc: a directory stands for /proc.
#include "os/process_usage.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace sluice {
namespace {

class ProcessUsageTest : public testing::Test {
protected:
    ProcessUsageTest() {
        char pattern[] = "/tmp/process_usage.XXXXXX";
        root_ = mkdtemp(pattern);
        std::filesystem::create_directories(root_ + "/12");
    }
    ~ProcessUsageTest() override { std::filesystem::remove_all(root_); }
    void write(const std::string& name, const std::string& text) {
        std::ofstream(root_ + "/12/" + name) << text;
    }
    // 100 ticks of user time, 50 of the system, 30 and 20 of children; 3 + 4 major faults; 2 MB of
    // addresses; 256 pages; CPU 5.
    void write_stat() {
        write("stat",
              "12 (a) b (c) S 7 12 12 0 -1 4194560 100 200 3 4 100 50 30 20 20 0 1 0 999 2097152 "
              "256 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 5 0 0 0 0 0\n");
    }
    std::string root_;
};

TEST_F(ProcessUsageTest, CountsWaitedChildrenAndKeepsOddNamesApart) {
    write_stat();
    write("io", "rchar: 1234\nwchar: 99\nread_bytes: 5\n");
    const auto usage = read_process_usage(12, MemoryCount::Resident, root_);
    ASSERT_TRUE(usage);
    EXPECT_EQ(usage->parent, 7);
    EXPECT_EQ(usage->cpu_ms, 200u * 1000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)));
    EXPECT_EQ(usage->pages, 7u);
    EXPECT_EQ(usage->vm_kb, 2048u);
    EXPECT_EQ(usage->rss_kb, 256u * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 1024);
    EXPECT_EQ(usage->read_bytes, 1234u);
    EXPECT_EQ(usage->written_bytes, 99u);
    EXPECT_EQ(usage->cpu, 5);
}

TEST_F(ProcessUsageTest, CountsSharedPagesAsAsked) {
    write_stat();
    write("statm", "512 256 56 1 0 10 0\n");
    write("smaps_rollup", "00400000-7fff [rollup]\nRss:   1024 kB\nPss:    640 kB\n");
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 1024;
    EXPECT_EQ(read_process_usage(12, MemoryCount::Unshared, root_)->rss_kb, 200 * page);
    EXPECT_EQ(read_process_usage(12, MemoryCount::Proportional, root_)->rss_kb, 640u);
}

TEST_F(ProcessUsageTest, IsAbsentForAProcessThatIsGoneOrDamaged) {
    EXPECT_FALSE(read_process_usage(13, MemoryCount::Resident, root_));
    write("stat", "12 (short) S 1 2 3\n");
    EXPECT_FALSE(read_process_usage(12, MemoryCount::Resident, root_));
}

TEST(ProcessUsage, OfThisProcessIsNotZero) {
    const auto usage = read_process_usage(getpid(), MemoryCount::Resident);
    ASSERT_TRUE(usage);
    EXPECT_EQ(usage->parent, getppid());
    EXPECT_GT(usage->rss_kb, 0u);
    EXPECT_GT(usage->vm_kb, usage->rss_kb);
}

}  // namespace
}  // namespace sluice
