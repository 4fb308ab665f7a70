#include "os/empty_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "os/fd.h"
#include "os/files.h"

namespace sluice {
namespace {

class EmptyDirectory : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "emptyXXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        outside_ = pattern;
        path_ = pattern + "/x";
        ASSERT_EQ(mkdir(path_.c_str(), 0700), 0);
        directory_ = Fd(open(path_.c_str(), O_RDONLY | O_DIRECTORY));
    }
    void TearDown() override { std::filesystem::remove_all(outside_); }

    static void write(const std::string& path) { std::ofstream(path) << "text"; }
    std::size_t left() const { return list_directory(path_).size(); }

    std::string outside_, path_;
    Fd directory_;
};

TEST_F(EmptyDirectory, NoDepthIsTooDeep) {
    Fd below(dup(directory_.get()));
    for (int i = 0; i < 600; ++i) {  // longer than PATH_MAX
        ASSERT_EQ(mkdirat(below.get(), "directory", 0700), 0);
        below = Fd(openat(below.get(), "directory", O_RDONLY | O_DIRECTORY));
        ASSERT_TRUE(below);
        if (i % 500 == 0) close(openat(below.get(), "file", O_CREAT | O_WRONLY, 0));
    }
    EXPECT_TRUE(empty_directory(directory_.get()));
    EXPECT_EQ(left(), 0u);
}

TEST_F(EmptyDirectory, NamesAndPermissionsDoNotMatter) {
    for (const char* name : {"\n", "-rf", "\xff\xfe", "below.0", "below.1", " "}) {
        const std::string base = path_ + "/" + name;
        ASSERT_EQ(mkdir(base.c_str(), 0700), 0);
        ASSERT_EQ(mkdir((base + "/closed").c_str(), 0700), 0);
        write(base + "/closed/file");
        ASSERT_EQ(chmod((base + "/closed").c_str(), 0), 0);
        ASSERT_EQ(chmod(base.c_str(), 0500), 0);
    }
    EXPECT_TRUE(empty_directory(directory_.get()));
    EXPECT_EQ(left(), 0u);
}

TEST_F(EmptyDirectory, LinksAreNotFollowed) {
    ASSERT_EQ(mkdir((outside_ + "/kept").c_str(), 0700), 0);
    write(outside_ + "/kept/file");
    ASSERT_EQ(mkdir((path_ + "/below").c_str(), 0700), 0);
    ASSERT_EQ(symlink((outside_ + "/kept").c_str(), (path_ + "/link").c_str()), 0);
    ASSERT_EQ(symlink("../../kept", (path_ + "/below/link").c_str()), 0);
    ASSERT_EQ(symlink("nowhere", (path_ + "/below/broken").c_str()), 0);
    EXPECT_TRUE(empty_directory(directory_.get()));
    EXPECT_EQ(left(), 0u);
    EXPECT_TRUE(std::filesystem::exists(outside_ + "/kept/file"));
}

TEST_F(EmptyDirectory, WhatIsMountedStaysAndAllElseGoes) {
    const std::string point = path_ + "/a/b/point", kept = outside_ + "/kept";
    ASSERT_TRUE(make_directories(point));
    ASSERT_TRUE(make_directories(path_ + "/a/other"));
    ASSERT_EQ(mkdir(kept.c_str(), 0700), 0);
    write(kept + "/file");
    write(path_ + "/a/b/file");
    if (mount(kept.c_str(), point.c_str(), nullptr, MS_BIND, nullptr) != 0) GTEST_SKIP();
    const Result<void> emptied = empty_directory(directory_.get());
    EXPECT_FALSE(emptied);
    EXPECT_TRUE(std::filesystem::exists(kept + "/file"));
    EXPECT_EQ(left(), 1u);  // a or what it has become, with the mount point alone
    EXPECT_FALSE(std::filesystem::exists(path_ + "/a/other"));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
        if (entry.path().filename() == "point") umount(entry.path().c_str());
    }
    EXPECT_TRUE(empty_directory(directory_.get()));
    EXPECT_EQ(left(), 0u);
    EXPECT_TRUE(std::filesystem::exists(kept + "/file"));
}

}  // namespace
}  // namespace sluice
