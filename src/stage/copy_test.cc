#include "stage/copy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <random>

#include "os/files.h"
#include "stage/reader.h"

namespace sluice::stage {
namespace {

class CopyTest : public testing::Test {
protected:
    CopyTest() {
        char pattern[] = "/tmp/sluice-copy-XXXXXX";
        top_ = mkdtemp(pattern);
        source_ = top_ + "/source";
        EXPECT_TRUE(make_directories(source_ + "/sub"));
        write("small", random_bytes(1000));
        write("sub/empty", "");
        write("sub/large", random_bytes(2 * kPieceBytes + 77));
        truncate_to("sparse", 3 * kPieceBytes + 5);
        write("zeros at the end", random_bytes(10) + std::string(200'000, '\0'));
    }
    ~CopyTest() override { remove_tree(top_); }

    std::string random_bytes(std::size_t size) {
        std::string bytes(size, '\0');
        for (char& c : bytes) c = static_cast<char>(random_());
        return bytes;
    }
    void write(const std::string& name, const std::string& bytes) const {
        EXPECT_TRUE(write_file_atomically(source_ + "/" + name, bytes));
    }
    void truncate_to(const std::string& name, std::uint64_t size) const {
        write(name, "");
        EXPECT_EQ(truncate((source_ + "/" + name).c_str(), static_cast<off_t>(size)), 0);
    }
    SourceReader reader() const { return SourceReader::start({geteuid(), getegid()}, 1).value(); }

    std::unique_ptr<Copy> make(SourceReader& reader, const std::string& name = "copy") const {
        EXPECT_TRUE(make_directories(top_ + "/" + name));
        Listing listing = reader.list(source_).value();
        std::unique_ptr<Copy> copy = Copy::begin(top_ + "/" + name, std::move(listing)).value();
        Buffer buffer;
        for (std::size_t i = 0; i < copy->pieces().size(); ++i) {
            const Piece& piece = copy->pieces()[i];
            const auto files = reader.open(0, copy->entries_of(piece), piece.first);
            EXPECT_TRUE(files);
            EXPECT_TRUE(copy->write_from(i, *files, buffer));
        }
        EXPECT_TRUE(copy->finish());
        return copy;
    }
    void expect_same(const std::string& copy) const {
        for (const char* name : {"small", "sub/empty", "sub/large", "sparse", "zeros at the end"}) {
            EXPECT_EQ(read_file(source_ + "/" + name).value(),
                      read_file(top_ + "/" + copy + "/data/" + name).value())
                << name;
        }
    }

    std::mt19937 random_{7};
    std::string top_, source_;
};

TEST_F(CopyTest, HasAllBytesAndHoles) {
    SourceReader source = reader();
    const auto copy = make(source);
    expect_same("copy");
    EXPECT_TRUE(copy->is_complete());
    EXPECT_TRUE(copy->verify(2));
    struct stat status {};
    ASSERT_EQ(stat((top_ + "/copy/data/sparse").c_str(), &status), 0);
    EXPECT_LT(status.st_blocks * 512, 1 << 20);
    EXPECT_EQ(status.st_mode & 0777, 0444u);
}

TEST_F(CopyTest, ProgramsStayProgramsWhateverTheirSize) {
    for (const char* name : {"small", "sub/large"})
        ASSERT_EQ(chmod((source_ + "/" + name).c_str(), 0755), 0);
    SourceReader source = reader();
    make(source);
    const auto mode_of = [&](const std::string& name) {
        struct stat status {};
        EXPECT_EQ(stat((top_ + "/copy/data/" + name).c_str(), &status), 0) << name;
        return status.st_mode & 0777;
    };
    EXPECT_EQ(mode_of("small"), 0555u);
    EXPECT_EQ(mode_of("sub/large"), 0555u);
    EXPECT_EQ(mode_of("sub/empty"), 0444u);
    EXPECT_EQ(mode_of("sparse"), 0444u);
}

TEST_F(CopyTest, CanBeOpenedAgainAndServesItsPieces) {
    SourceReader source = reader();
    make(source);
    const auto copy = Copy::open(top_ + "/copy").value();
    EXPECT_TRUE(copy->is_untouched());
    EXPECT_TRUE(copy->was_verified_since_boot());
    // Another node gets the pieces, in any order.
    ASSERT_TRUE(make_directories(top_ + "/other"));
    const auto other = Copy::begin(top_ + "/other", source.list(source_).value()).value();
    Buffer buffer;
    for (std::size_t i = copy->pieces().size(); i-- > 0;) {
        const auto bytes = copy->read(i, buffer);
        ASSERT_TRUE(bytes);
        EXPECT_FALSE(other->write(i, *bytes, copy->table().crc(i) ^ 1));
        EXPECT_FALSE(other->table().is_here(i));
        EXPECT_TRUE(other->write(i, *bytes, copy->table().crc(i)));
    }
    EXPECT_TRUE(other->is_complete());
    expect_same("other");
}

TEST_F(CopyTest, EveryFlippedBitIsFound) {
    SourceReader source = reader();
    const auto copy = make(source);
    for (int round = 0; round < 20; ++round) {
        const char* names[] = {"small", "sub/large", "sparse", "zeros at the end"};
        const std::string path = top_ + "/copy/data/" + names[random_() % 4];
        ASSERT_EQ(chmod(path.c_str(), 0600), 0);
        std::string bytes = read_file(path).value();
        const std::size_t place = random_() % bytes.size();
        const Fd file(open(path.c_str(), O_WRONLY));
        const char flipped = static_cast<char>(bytes[place] ^ (1 << random_() % 8));
        ASSERT_EQ(pwrite(file.get(), &flipped, 1, static_cast<off_t>(place)), 1);
        EXPECT_FALSE(copy->verify(2)) << path << " at " << place;
        ASSERT_EQ(pwrite(file.get(), &bytes[place], 1, static_cast<off_t>(place)), 1);
    }
    EXPECT_TRUE(copy->verify(2));
    EXPECT_FALSE(copy->is_untouched());  // its files were written later than they should
}

TEST_F(CopyTest, AFileThatHasChangedIsNotTaken) {
    SourceReader source = reader();
    ASSERT_TRUE(make_directories(top_ + "/copy"));
    Listing listing = source.list(source_).value();
    const auto copy = Copy::begin(top_ + "/copy", listing).value();
    write("small", random_bytes(1000));
    Buffer buffer;
    const Piece& piece = copy->pieces()[0];
    const auto files = source.open(0, copy->entries_of(piece), piece.first);
    ASSERT_TRUE(files);
    const Result<void> written = copy->write_from(0, *files, buffer);
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().detail.find("small: it has changed"), std::string::npos)
        << written.error().detail;
    EXPECT_FALSE(copy->table().is_here(0));
}

TEST_F(CopyTest, AFileThatIsGoneIsNamed) {
    SourceReader source = reader();
    ASSERT_TRUE(make_directories(top_ + "/copy"));
    const auto copy = Copy::begin(top_ + "/copy", source.list(source_).value()).value();
    ASSERT_EQ(unlink((source_ + "/small").c_str()), 0);
    const Piece& piece = copy->pieces()[0];
    const auto files = source.open(0, copy->entries_of(piece), piece.first);
    ASSERT_FALSE(files);
    EXPECT_NE(files.error().detail.find("small: No such file"), std::string::npos);
}

TEST_F(CopyTest, ADamagedIndexIsNoIndex) {
    SourceReader source = reader();
    make(source);
    std::string index = read_file(top_ + "/copy/index").value();
    for (int round = 0; round < 50; ++round) {
        std::string damaged = index;
        damaged[random_() % damaged.size()] ^= static_cast<char>(1 << random_() % 8);
        ASSERT_TRUE(write_file_atomically(top_ + "/copy/index", damaged));
        EXPECT_FALSE(Copy::open(top_ + "/copy"));
    }
}

}  // namespace
}  // namespace sluice::stage
