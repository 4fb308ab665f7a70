#include "agent/scratch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "os/files.h"

namespace sluice {
namespace {

class ScratchTest : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "scratchXXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        base_ = pattern + "/n1";
    }
    void TearDown() override { std::filesystem::remove_all(directory_of(base_)); }

    void make(const JobKey& job) { ASSERT_TRUE(Scratch(base_).make(job, getuid(), getgid())); }
    bool has(const JobKey& job) const {
        return std::filesystem::is_directory(scratch_path(base_, job));
    }
    void wait_for_removal() const {
        for (int i = 0; i < 1000 && !list_directory(base_ + "/removed").empty(); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        EXPECT_TRUE(list_directory(base_ + "/removed").empty());
    }

    std::string base_;
};

TEST_F(ScratchTest, IsOfTheUserAloneAndIsMadeOnce) {
    const JobKey job{JobId{12}, 0};
    make(job);
    ASSERT_TRUE(write_file_atomically(scratch_path(base_, job) + "/file", "text"));
    make(job);
    struct stat status {};
    ASSERT_EQ(stat(scratch_path(base_, job).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700u);
    EXPECT_EQ(status.st_uid, getuid());
    EXPECT_EQ(read_file(scratch_path(base_, job) + "/file").value(), "text");
}

TEST_F(ScratchTest, ItsPathIsFreeAtOnceAndItsFilesGoLater) {
    Scratch scratch(base_);
    const JobKey job{JobId{12}, 1};
    ASSERT_TRUE(scratch.make(job, getuid(), getgid()));
    ASSERT_TRUE(make_directories(scratch_path(base_, job) + "/a/b"));
    scratch.remove(job);
    EXPECT_FALSE(has(job));
    wait_for_removal();
    scratch.remove(job);  // once more does no harm
}

TEST_F(ScratchTest, ThoseOfUnknownJobsGo) {
    const JobKey kept{JobId{1}, 2}, earlier{JobId{1}, 1}, other{JobId{2}, 0};
    for (const JobKey& job : {kept, earlier, other}) {
        make(job);
        ASSERT_TRUE(write_file_atomically(scratch_path(base_, job) + "/file", "text"));
    }
    ASSERT_TRUE(make_directories(base_ + "/removed/7.0.word/deep"));  // of a slurmd that died
    ASSERT_TRUE(make_directories(base_ + "/of the site"));
    Scratch scratch(base_);
    scratch.keep_only({kept});
    wait_for_removal();
    EXPECT_TRUE(has(kept));
    EXPECT_FALSE(has(earlier));
    EXPECT_FALSE(has(other));
    EXPECT_TRUE(std::filesystem::exists(base_ + "/of the site"));
}

TEST_F(ScratchTest, ADirectoryThatOthersCanWriteIsNotUsed) {
    ASSERT_TRUE(make_directories(base_));
    ASSERT_EQ(chmod(base_.c_str(), 0777), 0);
    const Result<void> made = Scratch(base_).make({JobId{1}, 0}, getuid(), getgid());
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().detail.find("writable by no other user"), std::string::npos);

    std::filesystem::remove(base_);
    std::filesystem::create_symlink("/", base_);
    EXPECT_FALSE(Scratch(base_).make({JobId{1}, 0}, getuid(), getgid()));
}

}  // namespace
}  // namespace sluice
