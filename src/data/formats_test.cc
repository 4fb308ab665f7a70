// The bytes of records and archives, and the checks that notice changed ones.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "data/crc32c.h"
#include "data/image.h"
#include "data/tar.h"
#include "data/tfrecord.h"

namespace sluice::data {
namespace {

TEST(Crc32c, OfKnownTexts) {
    EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
    EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
    EXPECT_EQ(crc32c(""), 0U);
    EXPECT_EQ(crc32c("56789", crc32c("1234")), crc32c("123456789"));
}

TEST(Crc32c, TheInstructionAndTheTableAgree) {
    rc::check([](const std::string& bytes, std::uint32_t before) {
        RC_ASSERT(crc32c(bytes, before) == crc32c_by_table(bytes, before));
    });
}

TEST(TfRecord, IsReadAsItWasWritten) {
    rc::check([](const std::string& bytes) {
        std::string out = "before";
        append_example(out, "cat/1.jpg", {3, "cat"}, bytes);
        const auto content = frame_content(std::string_view(out).substr(6));
        RC_ASSERT(content.has_value());
        const auto file = file_of_example(*content);
        RC_ASSERT(file.has_value());
        RC_ASSERT(file->path == "cat/1.jpg");
        RC_ASSERT(file->bytes == bytes);
    });
}

TEST(TfRecord, EveryChangedBitIsNoticed) {
    std::string out;
    append_example(out, "a.bin", {0, ""}, "some bytes");
    for (std::size_t bit = 0; bit < out.size() * 8; ++bit) {
        std::string changed = out;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
        EXPECT_FALSE(frame_content(changed)) << bit;
    }
}

TEST(TfRecord, EqualFilesGiveEqualBytes) {
    std::string one, two;
    append_example(one, "a.bin", {1, "x"}, "some bytes");
    append_example(two, "a.bin", {1, "x"}, "some bytes");
    EXPECT_EQ(one, two);
}

TEST(TfRecord, AnyBytesAreRefusedOrRead) {
    rc::check([](const std::string& bytes) {
        (void)frame_content(bytes);
        (void)file_of_example(bytes);
    });
}

TEST(Tar, IsReadAsItWasWritten) {
    for (const std::string& path :
         {std::string("a/b.jpg"), std::string(100, 'x'), std::string(101, 'y'),
          std::string(3000, 'z') + ".jpg", std::string("new\nline \xc3\xa9")}) {
        for (const std::size_t size : {0, 1, 511, 512, 513}) {
            std::string out;
            append_tar_member(out, path, std::string(size, 'b'));
            EXPECT_EQ(out.size() % kTarBlock, 0U);
            const auto member = read_tar_member(out + tar_end());
            ASSERT_TRUE(member) << member.error().detail;
            EXPECT_EQ(member->path, path);
            EXPECT_EQ(member->bytes, std::string(size, 'b'));
            EXPECT_EQ(member->length, out.size());
        }
    }
    EXPECT_EQ(read_tar_member(tar_end())->length, 0U);
}

TEST(Tar, AnyBytesAreRefusedOrRead) {
    rc::check([](const std::string& bytes) { (void)read_tar_member(bytes); });
    std::string out;
    append_tar_member(out, "a", "bytes");
    for (std::size_t size = 0; size < out.size(); size += 100)
        EXPECT_FALSE(read_tar_member(std::string_view(out).substr(0, size))) << size;
}

TEST(Image, SizesOfJpegAndPng) {
    const std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\0\x80\x8\x2\0\0\0", 29);
    ASSERT_TRUE(image_size(png));
    EXPECT_EQ(image_size(png)->format, "PNG");
    EXPECT_EQ(image_size(png)->width, 256U);
    EXPECT_EQ(image_size(png)->height, 128U);
    EXPECT_EQ(image_size(png)->channels, 3U);
    const std::string jpeg("\xff\xd8\xff\xe0\0\x4xx\xff\xc2\0\x11\x8\0\x20\0\x40\1", 18);
    ASSERT_TRUE(image_size(jpeg));
    EXPECT_EQ(image_size(jpeg)->format, "JPEG");
    EXPECT_EQ(image_size(jpeg)->height, 32U);
    EXPECT_EQ(image_size(jpeg)->width, 64U);
    EXPECT_EQ(image_size(jpeg)->channels, 1U);
    EXPECT_FALSE(image_size(jpeg.substr(0, 12)));
    EXPECT_FALSE(image_size("text"));
}

TEST(Image, AnyBytesAreRefusedOrRead) {
    rc::check([](const std::string& bytes) {
        (void)image_size("\xff\xd8" + bytes);
        (void)image_size("\x89PNG\r\n\x1a\n" + bytes);
    });
}

}  // namespace
}  // namespace sluice::data
