#include "data/pack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>

#include "data/scan.h"
#include "data/usage.h"
#include "os/files.h"

namespace sluice::data {
namespace {

namespace fs = std::filesystem;

class Pack : public testing::TestWithParam<Format> {
protected:
    void SetUp() override {
        char path[] = "/tmp/sluice-data-XXXXXX";
        root_ = mkdtemp(path);
        put("cat/1.jpg", "one");
        put("cat/2.jpg", std::string(5000, 'c'));
        put("dog/3.jpg", "");
        put("odd\nname/\xff.bin", "odd");
        put("readme", "no class");
    }
    void TearDown() override { fs::remove_all(root_); }

    void put(const std::string& path, const std::string& bytes) {
        fs::create_directories(fs::path(source() + "/" + path).parent_path());
        std::ofstream(source() + "/" + path, std::ios::binary) << bytes;
    }
    std::string source() const { return root_ + "/source"; }
    std::string target(const std::string& name = "target") const { return root_ + "/" + name; }
    PackRequest request(const std::string& name = "target") const {
        return {.source = source(),
                .target = target(name),
                .options = {.format = GetParam(), .shard_size = 4000},
                .threads = 2};
    }
    static std::string read(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static std::string tree(const std::string& root) {
        std::string text;
        std::set<std::string> paths;
        for (const auto& each : fs::recursive_directory_iterator(root))
            if (each.is_regular_file()) paths.insert(each.path());
        for (const std::string& each : paths)
            text += each.substr(root.size()) + "=" + read(each) + "\n";
        return text;
    }

    std::string root_;
    Progress progress_;
};
INSTANTIATE_TEST_SUITE_P(Formats, Pack, testing::Values(Format::TfRecord, Format::WebDataset),
                         [](const auto& info) { return std::string(format_name(info.param)); });

TEST_P(Pack, UnpackGivesTheSourceAgain) {
    const auto made = pack(request(), progress_);
    ASSERT_TRUE(made) << made.error().detail;
    EXPECT_EQ(made->records, 5U);
    EXPECT_EQ(made->classes, (std::vector<std::string>{"cat", "dog", "odd\nname"}));
    EXPECT_GT(made->shards.size(), 1U);
    EXPECT_EQ(progress_.records, 5U);
    Progress progress;
    ASSERT_TRUE(unpack(target(), target("again"), 2, progress));
    EXPECT_EQ(tree(target("again")), tree(source()));
    EXPECT_EQ(*read_one(target(), "cat/1.jpg"), "one");
    EXPECT_FALSE(read_one(target(), "cat/9.jpg"));
    EXPECT_FALSE(unpack(target(), target("again"), 2, progress)) << "it is not empty";
}

TEST_P(Pack, EqualSourcesGiveEqualDatasets) {
    ASSERT_TRUE(pack(request("one"), progress_));
    ASSERT_TRUE(pack(request("two"), progress_));
    EXPECT_EQ(tree(target("one")), tree(target("two")));
    PackRequest other = request("three");
    other.options.seed = 5;
    ASSERT_TRUE(pack(other, progress_));
    EXPECT_NE(tree(target("one")), tree(target("three")));
}

TEST_P(Pack, OverwritesNothing) {
    ASSERT_TRUE(pack(request(), progress_));
    const std::string before = tree(target());
    EXPECT_FALSE(pack(request(), progress_));
    EXPECT_EQ(tree(target()), before);
    fs::create_directories(target("full"));
    std::ofstream(target("full") + "/file") << "mine";
    EXPECT_FALSE(pack(request("full"), progress_));
    EXPECT_EQ(tree(target("full")), "/file=mine\n");
}

TEST_P(Pack, ContinuesWhereItWasInterrupted) {
    const auto made = pack(request("whole"), progress_);
    ASSERT_TRUE(made);
    // The state after a kill: the mark, some shards, a part of one, no manifest.
    PackRequest again = request("whole");
    fs::remove(manifest_path(target("whole")));
    const std::string lost = target("whole") + "/" + made->shards.back().name;
    fs::remove(index_name(lost));
    std::ofstream(lost, std::ios::binary) << "a part";
    EXPECT_FALSE(pack(again, progress_)) << "there is no mark that packing had begun";
    Progress first;
    first.is_interrupted = true;
    EXPECT_FALSE(pack(request("begun"), first));
    fs::rename(target("begun") + "/packing", target("whole") + "/packing");
    Progress second;
    const auto finished = pack(again, second);
    ASSERT_TRUE(finished) << finished.error().detail;
    EXPECT_EQ(*finished, *made);
    EXPECT_EQ(second.records, 5U);
    EXPECT_GT(second.bytes_kept, 0U);
    EXPECT_FALSE(fs::exists(target("whole") + "/packing"));
}

TEST_P(Pack, OtherFilesDoNotContinueADataset) {
    Progress first;
    first.is_interrupted = true;
    EXPECT_FALSE(pack(request(), first));
    put("cat/4.jpg", "new");
    const auto made = pack(request(), progress_);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().detail.find("other files or options"), std::string::npos);
}

TEST_P(Pack, OneWritesADatasetAtATime) {
    Progress first;
    first.is_interrupted = true;
    EXPECT_FALSE(pack(request(), first));
    Fd other(open((target() + "/packing").c_str(), O_RDWR));
    ASSERT_EQ(flock(other.get(), LOCK_EX), 0);
    const std::string before = tree(target());
    const auto refused = pack(request(), progress_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().detail, "another sdata pack is writing " + target());
    EXPECT_EQ(tree(target()), before);
    other.reset();
    EXPECT_TRUE(pack(request(), progress_));
}

TEST_P(Pack, FilesOfSdataUsageAreNoData) {
    ASSERT_TRUE(pack(request("before"), progress_));
    put("disk-usage.txt", "Updated:");
    put("cat/disk-usage.txt", "Updated:");
    ASSERT_TRUE(pack(request("after"), progress_));
    EXPECT_EQ(tree(target("before")), tree(target("after")));
}

TEST_P(Pack, RefusesLinks) {
    fs::create_symlink("/etc/passwd", source() + "/cat/link");
    const auto made = pack(request(), progress_);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().detail.find("cat/link"), std::string::npos);
    EXPECT_FALSE(fs::exists(target()));
}

TEST_P(Pack, VerifyNoticesEveryChangedBit) {
    const auto made = pack(request(), progress_);
    ASSERT_TRUE(made);
    EXPECT_TRUE(verify(target(), 2, progress_)->empty());
    for (const Shard& shard : made->shards) {
        for (const std::string& name : {shard.name, index_name(shard.name)}) {
            const std::string path = target() + "/" + name, bytes = read(path);
            for (std::size_t i = 0; i < 40; ++i) {
                const std::size_t bit = (i * 7919U + 13) * 31 % (bytes.size() * 8);
                std::string changed = bytes;
                changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
                std::ofstream(path, std::ios::binary) << changed;
                EXPECT_EQ(verify(target(), 2, progress_)->size(), 1U) << name << " bit " << bit;
            }
            std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() - 1);
            EXPECT_EQ(verify(target(), 2, progress_)->size(), 1U) << name << " is shorter";
            std::ofstream(path, std::ios::binary) << bytes;
        }
    }
    fs::remove(target() + "/" + made->shards[0].name);
    EXPECT_EQ(verify(target(), 2, progress_)->size(), 1U);
}

TEST(Plan, FilesOfASampleStayTogether) {
    std::vector<SourceFile> files;
    for (int i = 0; i < 100; ++i) {
        files.push_back({.path = fmt::format("{}.json", i), .size = 10});
        files.push_back({.path = fmt::format("{}.jpg", i), .size = 10});
    }
    const auto plan = make_plan(files, {.format = Format::WebDataset, .shard_size = 50});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->shards.size(), 50U);
    for (const ShardPlan& shard : plan->shards) {
        ASSERT_EQ(shard.files.size(), 4U);
        EXPECT_EQ(sample_key(shard.files[0].path), sample_key(shard.files[1].path));
        EXPECT_EQ(sample_key(shard.files[2].path), sample_key(shard.files[3].path));
    }
}

TEST(Plan, ClassesAreTheLastDirectories) {
    const auto plan = make_plan({{.path = "noise/1/n02/a.jpg", .size = 1},
                                 {.path = "noise/2/n01/b.jpg", .size = 1},
                                 {.path = "blur/1/n01/c.jpg", .size = 1}},
                                {.shuffled = false});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->classes, (std::vector<std::string>{"n01", "n02"}));
    ASSERT_EQ(plan->shards.size(), 1U);
    EXPECT_EQ(plan->shards[0].name, "data-00000-of-00001.tfrecord");
    EXPECT_EQ(plan->shards[0].files[0].path, "blur/1/n01/c.jpg");
    EXPECT_EQ(plan->shards[0].files[0].label, 1U);
    EXPECT_EQ(plan->shards[0].files[1].label, 2U);
}

TEST(Plan, NothingAndTooMuchAreRefused) {
    EXPECT_FALSE(make_plan({}, {}));
    EXPECT_TRUE(make_plan({{.path = "a", .size = std::uint64_t{1} << 30}}, {}));
    EXPECT_FALSE(make_plan({{.path = "a", .size = (std::uint64_t{1} << 30) + 1}}, {}));
}

TEST(Usage, AFileWithTwoNamesCountsOnce) {
    char path[] = "/tmp/sluice-usage-XXXXXX";
    const std::string root = mkdtemp(path);
    fs::create_directories(root + "/a/deep");
    fs::create_directories(root + "/b");
    std::ofstream(root + "/a/deep/file") << std::string(100'000, 'x');
    fs::create_hard_link(root + "/a/deep/file", root + "/b/same");
    std::ofstream(root + "/top") << "y";
    const auto report = disk_usage(root, 3);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->all.files, 2U);
    EXPECT_EQ(report->below.size(), 2U);
    EXPECT_GE(report->all.bytes, 100'000U);
    EXPECT_LT(report->all.bytes, 150'000U);
    EXPECT_EQ(report->below.at("a").files + report->below.at("b").files, 1U);
    EXPECT_FALSE(disk_usage(root + "/none", 3));
    fs::remove_all(root);
}

TEST(Usage, AFileOfAnotherUserIsNotWrittenThroughItsLinks) {
    char path[] = "/tmp/sluice-usage-XXXXXX";
    const std::string root = mkdtemp(path);
    fs::create_directories(root + "/top/a");
    fs::create_directories(root + "/elsewhere");
    std::ofstream(root + "/secret") << "secret";
    for (const char* name : {"disk-usage.txt", ".disk-usage.txt.new", "disk-usage.txt.new"})
        fs::create_symlink(root + "/secret", root + "/top/a/" + name);
    fs::create_directory_symlink(root + "/elsewhere", root + "/top/b");
    const auto top = Below::open(root + "/top");
    ASSERT_TRUE(top);
    ASSERT_TRUE(write_usage_file(*top, "a", "text"));
    EXPECT_FALSE(write_usage_file(*top, "b", "text"));
    ASSERT_TRUE(write_usage_file(*top, "", "all"));
    EXPECT_EQ(*read_file(root + "/secret"), "secret");
    EXPECT_TRUE(fs::is_empty(root + "/elsewhere"));
    EXPECT_FALSE(fs::is_symlink(root + "/top/a/disk-usage.txt"));
    EXPECT_EQ(*read_file(root + "/top/a/disk-usage.txt"), "text");
    EXPECT_EQ(*read_file(root + "/top/disk-usage.txt"), "all");
    fs::remove_all(root);
}

TEST(Usage, FileHasTheLinesOfTheGuide) {
    EXPECT_EQ(usage_file({.bytes = 133284169ULL * 1024}, "2020-11-21 15:04"),
              "Updated: 2020-11-21 15:04\nUsage (human-readable):  127.2G\nUsage (K): 133284169\n");
}

}  // namespace
}  // namespace sluice::data
