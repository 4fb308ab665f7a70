#include "os/mounts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "os/fd.h"
#include "os/files.h"

namespace sluice {
namespace {

constexpr std::string_view kMountInfo =
    "21 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n"
    "22 21 0:20 / /scratch/12.0 rw - tmpfs none rw\n"
    "23 22 0:21 / /scratch/12.0/with\\040blank rw - tmpfs none rw\n"
    "24 21 0:22 / /scratch/12.01 rw - tmpfs none rw\n";

TEST(MountsBelow, AreThoseAtThePathAndBelowInTheirOrder) {
    EXPECT_EQ(mounts_below(kMountInfo, "/scratch/12.0"),
              (std::vector<std::string>{"/scratch/12.0", "/scratch/12.0/with blank"}));
    EXPECT_EQ(mounts_below(kMountInfo, "/scratch/12.01"),
              std::vector<std::string>{"/scratch/12.01"});
    EXPECT_TRUE(mounts_below(kMountInfo, "/scratch/1").empty());
    EXPECT_TRUE(mounts_below("nonsense", "/scratch").empty());
}

class RealMounts : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "sluice-unmount-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        path_ = std::filesystem::canonical(name);
        ASSERT_TRUE(make_directories(path_ + "/job/a b/point"));
        ASSERT_TRUE(make_directories(path_ + "/other/point"));
        directory_.reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (mount("none", (path_ + "/job/a b/point").c_str(), "tmpfs", 0, nullptr) != 0)
            GTEST_SKIP() << "needs root";
    }
    void TearDown() override {
        if (path_.empty()) return;
        for (const std::string& each : mounted("")) umount2(each.c_str(), MNT_DETACH);
        std::filesystem::remove_all(path_);
    }
    std::vector<std::string> mounted(const std::string& entry) const {
        return mounts_below(*read_file("/proc/self/mountinfo"), path_ + entry);
    }

    std::string path_;
    Fd directory_;
};

TEST_F(RealMounts, AllBelowTheEntryAreUnmountedAlsoOnTopOfEachOther) {
    ASSERT_EQ(mount("none", (path_ + "/job/a b/point").c_str(), "tmpfs", 0, nullptr), 0);
    ASSERT_EQ(mount("none", (path_ + "/job").c_str(), "tmpfs", 0, nullptr), 0);
    ASSERT_EQ(mount("none", (path_ + "/other/point").c_str(), "tmpfs", 0, nullptr), 0);
    const Result<void> unmounted = detach_mounts(directory_.get(), "job");
    EXPECT_TRUE(unmounted) << unmounted.error().detail;
    EXPECT_TRUE(mounted("/job").empty());
    EXPECT_EQ(mounted("/other"), std::vector<std::string>{path_ + "/other/point"});
    EXPECT_TRUE(detach_mounts(directory_.get(), "job"));
}

}  // namespace
}  // namespace sluice
