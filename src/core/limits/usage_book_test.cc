// core/limits/usage_book_test.cc: decay, resets, and equal numbers after a restart.
#include "core/limits/usage_book.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr Time kStart = from_unix(1'800'000'000);
constexpr Seconds kHalf{1000};

UsedAmounts cpus(double amount) {
    return {{{"cpu", amount}}, amount / 2};
}

double cpus_of(const UsageBook& book, std::uint32_t id) {
    const UsedAmounts* used = book.of_association(id);
    return used ? used->tres_seconds.at("cpu") : 0;
}

UsageBook book_of_100() {
    UsageBook book;
    book.advance(kStart, kHalf);
    book.add_to_association(7, cpus(100));
    book.add_to_qos(3, cpus(100));
    (void)book.take_changes();
    return book;
}

TEST(UsageBook, HalvesAfterEachHalfLife) {
    UsageBook book = book_of_100();
    EXPECT_EQ(cpus_of(book, 7), 100);
    book.advance(kStart + kHalf, kHalf);
    EXPECT_EQ(cpus_of(book, 7), 50);
    EXPECT_EQ(book.of_association(7)->wall_seconds, 25);
    book.advance(kStart + 2 * kHalf, kHalf);
    EXPECT_EQ(cpus_of(book, 7), 25);
    book.advance(kStart + kHalf, kHalf);  // never back
    EXPECT_EQ(cpus_of(book, 7), 25);
    EXPECT_EQ(book.of_association(8), nullptr);
    EXPECT_EQ(book.broken(), std::nullopt);
}

TEST(UsageBook, UsageBeforeAStepIsAddedToWhatHasDecayed) {
    UsageBook book = book_of_100();
    book.advance(kStart + kHalf, kHalf);
    book.add_to_association(7, cpus(10));
    EXPECT_EQ(cpus_of(book, 7), 60);
    book.advance(kStart + 2 * kHalf, kHalf);
    EXPECT_EQ(cpus_of(book, 7), 30);
}

TEST(UsageBook, WithoutAHalfLifeNothingDecays) {
    UsageBook book = book_of_100();
    book.advance(kStart + kHalf, Seconds{0});  // until now it did
    EXPECT_EQ(cpus_of(book, 7), 50);
    book.advance(kStart + 100 * kHalf, Seconds{0});
    EXPECT_EQ(cpus_of(book, 7), 50);
}

// Time alone changes one row, and rows with the clock give the same book.
TEST(UsageBook, IsTheSameAfterARestart) {
    UsageBook book = book_of_100();
    for (int i = 1; i < 20; ++i) {
        book.advance(kStart + Seconds{i * 137}, kHalf);
        ASSERT_EQ(book.take_changes().size(), 1u);
        if (i % 3 == 0) {
            book.add_to_association(static_cast<std::uint32_t>(i % 2 + 7), cpus(i * 1.1));
            EXPECT_EQ(book.take_changes().size(), 1u);
        }
        UsageBook again;
        again.restore(book.rows());
        ASSERT_EQ(again, book);
        again.advance(kStart + Seconds{i * 137 + 50}, kHalf);
        UsageBook same = book;
        same.advance(kStart + Seconds{i * 137 + 50}, kHalf);
        ASSERT_EQ(cpus_of(again, 7), cpus_of(same, 7));
    }
}

TEST(UsageBook, AResetDeletesRowsButThoseThatStay) {
    UsageBook book = book_of_100();
    book.set_qos_decays(3, false);
    book.advance(kStart + kHalf, kHalf);
    EXPECT_EQ(book.of_qos(3)->tres_seconds.at("cpu"), 100);
    book.reset(kStart + kHalf);
    EXPECT_EQ(book.last_reset(), kStart + kHalf);
    std::size_t gone = 0;
    for (const StoredUsage& row : book.take_changes()) gone += is_gone(row) ? 1 : 0;
    EXPECT_EQ(gone, 1u);
    EXPECT_EQ(book.of_association(7), nullptr);
    EXPECT_EQ(book.of_qos(3)->tres_seconds.at("cpu"), 100);
    book.set_qos_decays(3, true);
    book.advance(kStart + 2 * kHalf, kHalf);
    EXPECT_EQ(book.of_qos(3)->tres_seconds.at("cpu"), 50);
}

TEST(UsageBook, ASetClockChangesNoAmount) {
    UsageBook book = book_of_100();
    book.shift(-50 * kHalf);
    EXPECT_EQ(cpus_of(book, 7), 100);
    book.advance(kStart - 49 * kHalf, kHalf);
    EXPECT_EQ(cpus_of(book, 7), 50);
}

TEST(UsageBook, ForgetsAssociationsThatAreGone) {
    UsageBook book = book_of_100();
    EXPECT_EQ(book.associations(), std::set<std::uint32_t>{7});
    book.forget_associations({7, 8});
    ASSERT_EQ(book.take_changes().size(), 1u);
    EXPECT_EQ(book.of_association(7), nullptr);
    EXPECT_NE(book.of_qos(3), nullptr);
}

}  // namespace
}  // namespace sluice
