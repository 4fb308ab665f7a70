// base/result.h
//
// Expected failures are values: a Result<T> is a T or an Error. The spelling follows std::expected,
// which this compiler's C++20 does not have. TRY(x) is x's value, or returns its error: never
// after a comma of a braced initializer, whose members made so far would leak.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sluice {

// The codes and their texts are cluster knowledge and are listed in model/errors.h.
enum class ErrorCode : unsigned short;

struct Error {
    ErrorCode code{};
    std::string detail;     // which option, which value, what would be right
    std::string hint = {};  // what could be had instead; said after the refusal

    bool operator==(const Error&) const = default;
};

template <typename T>
class [[nodiscard]] Result {
public:
    using value_type = T;

    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }
    T& value() & { return std::get<0>(state_); }
    const T& value() const& { return std::get<0>(state_); }
    T value() && { return std::get<0>(std::move(state_)); }  // by value: safe in a range-for
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    const Error& error() const& { return std::get<1>(state_); }
    Error&& error() && { return std::get<1>(std::move(state_)); }

private:
    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    using value_type = void;

    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    bool has_value() const { return !error_; }
    explicit operator bool() const { return has_value(); }
    void value() const {}
    const Error& error() const& { return *error_; }
    Error&& error() && { return *std::move(error_); }

private:
    std::optional<Error> error_;
};

}  // namespace sluice

#define TRY(expression)                                        \
    ({                                                         \
        auto try_result = (expression);                        \
        if (!try_result) return std::move(try_result).error(); \
        std::move(try_result).value();                         \
    })
