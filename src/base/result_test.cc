#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace sluice {
namespace {

Error failure(std::string detail) {
    return Error{ErrorCode{7}, std::move(detail)};
}

Result<int> half_of(int number) {
    if (number % 2 != 0) return failure("odd");
    return number / 2;
}

Result<int> quarter_of(int number, int& calls) {
    const int half = TRY(half_of(number));
    ++calls;
    return TRY(half_of(half));
}

Result<void> check_even(int number) {
    TRY(half_of(number));
    return {};
}

Result<std::vector<int>> halves_of(std::vector<int> numbers) {
    for (int& number : numbers) number = TRY(half_of(number));
    return numbers;
}

TEST(Result, IsAValueOrAnError) {
    Result<int> good = half_of(4);
    ASSERT_TRUE(good.has_value());
    EXPECT_EQ(*good, 2);
    *good = 5;
    EXPECT_EQ(good.value(), 5);
    const Result<int> bad = half_of(3);
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error(), failure("odd"));
    EXPECT_NE(bad.error(), (Error{ErrorCode{8}, "odd"}));
    EXPECT_NE(bad.error(), (Error{ErrorCode{7}, "odd", "try 4"}));
}

TEST(Result, TryGoesOnWithTheValueAndReturnsTheError) {
    int calls = 0;
    EXPECT_EQ(*quarter_of(8, calls), 2);
    EXPECT_EQ(quarter_of(3, calls).error(), failure("odd"));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(quarter_of(6, calls).error(), failure("odd"));
    EXPECT_EQ(calls, 2);
}

TEST(Result, OfNothingIsDoneOrAnError) {
    EXPECT_TRUE(check_even(2));
    ASSERT_FALSE(check_even(1));
    EXPECT_EQ(check_even(1).error().detail, "odd");
}

TEST(Result, CarriesValuesThatCannotBeCopied) {
    Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
    ASSERT_TRUE(result);
    EXPECT_EQ(**result, 3);
    const std::unique_ptr<int> taken = std::move(result).value();
    EXPECT_EQ(*taken, 3);
}

// A range-for keeps what it walks over alive only if it is a value.
TEST(Result, OfARangeCanBeWalkedOver) {
    int sum = 0;
    for (int number : *halves_of({2, 4, 6})) sum += number;
    EXPECT_EQ(sum, 6);
    EXPECT_FALSE(halves_of({2, 3}));
}

}  // namespace
}  // namespace sluice
