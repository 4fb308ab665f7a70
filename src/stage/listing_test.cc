#include "stage/listing.h"

#include <gtest/gtest.h>

#include <set>

namespace sluice::stage {
namespace {

Entry file(const std::string& path, std::uint64_t size) {
    Entry entry;
    entry.set_path(path);
    entry.set_size(size);
    return entry;
}

Listing listing(std::vector<Entry> entries) {
    Listing made{.source = "/data/set", .path = "/data/set", .entries = std::move(entries)};
    complete(made);
    return made;
}

TEST(Pieces, CoverEachByteOnceAndHaveSmallFilesFirst) {
    const Listing made = listing({file("a", kPieceBytes + 1), file("b", kPieceBytes), file("c", 0),
                                  file("d", 10), file("e", 3 * kPieceBytes)});
    const std::vector<Piece> expected = {{1, 2, 0, kPieceBytes},
                                         {3, 1, 0, 10},
                                         {0, 1, 0, kPieceBytes},
                                         {0, 1, kPieceBytes, 1},
                                         {4, 1, 0, kPieceBytes},
                                         {4, 1, kPieceBytes, kPieceBytes},
                                         {4, 1, 2 * kPieceBytes, kPieceBytes}};
    EXPECT_EQ(pieces_of(made), expected);
}

TEST(Pieces, HaveABoundedNumberOfFiles) {
    std::vector<Entry> entries;
    for (std::uint32_t i = 0; i <= kPieceFiles; ++i) entries.push_back(file(std::to_string(i), 1));
    const std::vector<Piece> pieces = pieces_of(listing(std::move(entries)));
    ASSERT_EQ(pieces.size(), 2u);
    EXPECT_EQ(pieces[0].count, kPieceFiles);
    EXPECT_EQ(pieces[1].count, 1u);
}

TEST(Key, ChangesWithAllThatIsKnownOfAFile) {
    const std::string key = key_of(listing({file("a", 1)}));
    EXPECT_EQ(key.size(), 64u);
    EXPECT_EQ(key_of(listing({file("a", 1)})), key);
    std::set<std::string> keys = {key};
    const auto with = [&](auto change) {
        Entry entry = file("a", 1);
        change(entry);
        keys.insert(key_of(listing({entry})));
    };
    with([](Entry& entry) { entry.set_size(2); });
    with([](Entry& entry) { entry.set_inode(2); });
    with([](Entry& entry) { entry.set_changed_ns(2); });
    with([](Entry& entry) { entry.set_altered_ns(2); });
    with([](Entry& entry) { entry.set_path("b"); });
    with([](Entry& entry) { entry.set_is_program(true); });
    with([](Entry& entry) { entry.set_kind(kLink), entry.set_target("x"); });
    Listing elsewhere = listing({file("a", 1)});
    elsewhere.path = "/other";
    keys.insert(key_of(elsewhere));
    EXPECT_EQ(keys.size(), 9u);
}

TEST(Links, StayInsideOrNot) {
    for (const char* target : {"b", "./b", "../b", "sub/../../b", "x/y/../../../b"})
        EXPECT_TRUE(stays_inside("a/link", target)) << target;
    for (const char* target : {"/etc", "../../b", "../../a/b", "x/../../../b"})
        EXPECT_FALSE(stays_inside("a/link", target)) << target;
    EXPECT_FALSE(stays_inside("link", ".."));
}

TEST(Messages, ShowControlCharacters) {
    EXPECT_EQ(printable("a\nb\x7f ü"), "a\\x0ab\\x7f ü");
}

}  // namespace
}  // namespace sluice::stage
