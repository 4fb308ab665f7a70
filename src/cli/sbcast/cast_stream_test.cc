#include "cli/sbcast/cast_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "os/files.h"

namespace sluice {
namespace {

class Casting : public testing::Test {
protected:
    Casting() {
        char name[] = "/tmp/sluice-cast-XXXXXX";
        root_ = mkdtemp(name);
    }
    ~Casting() override { std::filesystem::remove_all(root_); }

    std::string path(const std::string& name) const { return root_ + "/" + name; }
    std::vector<std::string> names() const {
        std::vector<std::string> all = list_directory(root_);
        std::sort(all.begin(), all.end());
        return all;
    }
    CastSource source(const std::string& name, const std::string& content,
                      const std::string& place) {
        EXPECT_TRUE(write_file_atomically(path(name), content));
        CastSource made{.path = path(name), .file = {}};
        made.file.set_path(path(place));
        EXPECT_TRUE(describe_original(made));
        return made;
    }
    // The stream of these files, with the word to put them into place.
    std::string stream_of(const std::vector<CastSource>& sources, const CastTransport& transport) {
        const std::string file = path("stream");
        const Fd out(open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        EXPECT_TRUE(write_files(sources, transport, out.get()));
        std::string bytes = *read_file(file);
        std::filesystem::remove(file);
        return bytes;
    }
    std::string commit() const {
        wire::CastPart part;
        part.mutable_commit();
        std::string bytes;
        append_frame(bytes, part);
        return bytes;
    }

    std::string root_;
};

TEST_F(Casting, FilesArriveWhole) {
    std::string long_text;
    for (int i = 0; i < 20000; ++i) long_text += std::to_string(i);
    for (const CastTransport& transport : {CastTransport{}, CastTransport{.block = 4096},
                                           CastTransport{.block = 5000, .compress = true}}) {
        const std::vector<CastSource> sources = {source("a", long_text, "copy"),
                                                 source("b", "", "empty")};
        const std::string bytes = stream_of(sources, transport);
        CastReader reader("n1");
        int ends = 0;
        for (std::size_t at = 0; at < bytes.size(); at += 1000)
            ASSERT_TRUE(reader.feed(bytes.substr(at, 1000), [&] { ++ends; }));
        EXPECT_EQ(ends, 1);
        EXPECT_EQ(names(), (std::vector<std::string>{"a", "b"}));
        ASSERT_TRUE(reader.feed(commit(), [] {}));
        EXPECT_TRUE(reader.is_committed());
        EXPECT_EQ(*read_file(path("copy")), long_text);
        EXPECT_EQ(*read_file(path("empty")), "");
        std::filesystem::remove(path("copy"));
        std::filesystem::remove(path("empty"));
    }
}

TEST_F(Casting, WhatIsDamagedOrInterruptedLeavesNothing) {
    const std::string bytes = stream_of({source("a", std::string(100000, 'x'), "copy")}, {});
    std::string damaged = bytes;
    damaged[50000] = 'y';
    {
        CastReader reader("n1");
        EXPECT_FALSE(reader.feed(damaged, [] {}));
    }
    {
        CastReader reader("n1");
        EXPECT_TRUE(reader.feed(bytes.substr(0, 60000), [] {}));
        EXPECT_FALSE(reader.commit());
    }
    EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(Casting, WhatIsThereIsReplacedOnlyIfAsked) {
    CastSource file = source("a", "new", "copy");
    ASSERT_TRUE(write_file_atomically(path("copy"), "old"));
    {
        CastReader reader("n1");
        EXPECT_FALSE(reader.feed(stream_of({file}, {}), [] {}));
    }
    EXPECT_EQ(*read_file(path("copy")), "old");
    file.file.set_force(true);
    CastReader reader("n1");
    ASSERT_TRUE(reader.feed(stream_of({file}, {}) + commit(), [] {}));
    EXPECT_EQ(*read_file(path("copy")), "new");
}

TEST_F(Casting, NamesAndModes) {
    CastSource file = source("a", "x", "copy.%N");
    file.file.set_per_node(true);
    file.file.set_preserve(true);
    file.file.set_mode(0751);
    CastReader reader("n7");
    ASSERT_TRUE(reader.feed(stream_of({file}, {}) + commit(), [] {}));
    struct stat status {};
    ASSERT_EQ(stat(path("copy.n7").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777u, 0751u);
}

TEST_F(Casting, RubbishIsRefused) {
    CastReader reader("n1");
    EXPECT_FALSE(reader.feed("rubbish that is no message at all", [] {}));
    CastReader early("n1");
    EXPECT_FALSE(early.feed(commit(), [] {}));
}

}  // namespace
}  // namespace sluice
