#include "data/dataset.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace sluice::data {
namespace {

Manifest some_manifest() {
    return {.format = Format::WebDataset,
            .records = 3,
            .bytes = 300,
            .classes = {"cat", "d\xc3\xb6g", "odd\n\"%\xff"},
            .shards = {{.name = "data-00000-of-00001.tar",
                        .records = 3,
                        .bytes = 4096,
                        .crc = 7,
                        .index_crc = 0xffffffff}}};
}

std::vector<Record> some_records() {
    return {{.path = "a/b c.jpg", .label = 1, .offset = 0, .length = 50, .size = 10, .crc = 1},
            {.path = "line\nbreak\xff", .offset = 50, .length = 60, .size = 0, .crc = 0}};
}

TEST(Manifest, IsReadAsItWasWritten) {
    const Result<Manifest> read = parse_manifest(print_manifest(some_manifest()));
    ASSERT_TRUE(read) << read.error().detail;
    EXPECT_EQ(*read, some_manifest());
}

TEST(Manifest, EveryChangedBitIsNoticed) {
    const std::string text = print_manifest(some_manifest());
    for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
        std::string changed = text;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        EXPECT_FALSE(parse_manifest(changed)) << bit;
    }
}

TEST(Manifest, OfANewerVersionIsRefused) {
    std::string text = print_manifest(some_manifest());
    text.replace(text.find("\"sluice_dataset\": 1"), 19, "\"sluice_dataset\": 2");
    EXPECT_EQ(parse_manifest(text).error().detail, "it was written by a newer version");
}

TEST(Manifest, AShardOutsideIsRefused) {
    Manifest manifest = some_manifest();
    manifest.shards[0].name = "../other/data.tar";
    EXPECT_FALSE(parse_manifest(print_manifest(manifest)));
}

TEST(Index, IsReadAsItWasWritten) {
    const auto read = parse_index(print_index(some_records()));
    ASSERT_TRUE(read) << read.error().detail;
    EXPECT_EQ(*read, some_records());
}

TEST(Index, EveryChangedBitIsNoticed) {
    const std::string text = print_index(some_records());
    for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
        std::string changed = text;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        EXPECT_FALSE(parse_index(changed)) << bit;
    }
}

TEST(Index, AnyBytesAreRefusedOrRead) {
    rc::check([](const std::string& bytes) { (void)parse_index(bytes); });
}

TEST(Path, StaysBelowItsDirectory) {
    EXPECT_TRUE(is_safe_path("a/b.c"));
    EXPECT_TRUE(is_safe_path("..a/b.."));
    for (const char* path : {"", "/a", "..", "a/../b", "a//b", "./a", "a/"})
        EXPECT_FALSE(is_safe_path(path)) << path;
    EXPECT_FALSE(is_safe_path(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace sluice::data
