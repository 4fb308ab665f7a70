// model/fields.h
//
// A value that is sent or stored declares each member once, in a list: its number in messages and
// rows, its name, and the largest values that it may have. The encoding (protocol/field_codec.h),
// the validation (model/field_checks.h), the hash (model/job_hash.h) and the random values of the
// tests (protocol/arbitrary.h) are derived from the list. A list that lacks a member does not
// compile.
//
//   template <>
//   inline constexpr auto kFields<ArraySpec> = fields<ArraySpec>(  //
//       field(1, "array", &ArraySpec::tasks), field(2, "array limit", &ArraySpec::limit));
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "model/sizes.h"

namespace sluice {

// The largest values that a member may have. What counts depends on the type of the member.
struct FieldLimits {
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  // of each number, in value
    std::size_t bytes = sizes::kWord;                                // of each text
    std::size_t entries = sizes::kNameCount;                         // of a list
    bool is_binary = false;                                          // texts may have zero bytes
};

constexpr FieldLimits at_most(std::uint64_t number) {
    return {.most = number};
}
template <typename Enum>
requires std::is_enum_v<Enum>
constexpr FieldLimits at_most(Enum last) {
    return {.most = static_cast<std::uint64_t>(last)};
}
constexpr FieldLimits bytes_at_most(std::size_t bytes) {
    return {.bytes = bytes};
}
constexpr FieldLimits binary_at_most(std::size_t bytes) {
    return {.bytes = bytes, .is_binary = true};
}
constexpr FieldLimits entries_at_most(std::size_t entries, std::size_t bytes_each = sizes::kWord) {
    return {.bytes = bytes_each, .entries = entries};
}

// Kinds of members, for code that is derived from a list.
template <typename Value>
inline constexpr bool kIsOptional = false;
template <typename Value>
inline constexpr bool kIsOptional<std::optional<Value>> = true;
template <typename Value>
inline constexpr bool kIsShared = false;
template <typename Value>
inline constexpr bool kIsShared<std::shared_ptr<const Value>> = true;

template <typename Owner, typename Value>
struct Field {
    std::uint32_t number;   // never used for another member later
    std::string_view name;  // the option or key that users know, for messages
    Value Owner::*member;
    FieldLimits limits;
};

template <typename Owner, typename Value>
constexpr Field<Owner, Value> field(std::uint32_t number, std::string_view name,
                                    Value Owner::*member, FieldLimits limits = {}) {
    return {number, name, member, limits};
}

// A member that is derived from others, or lost with a restart: neither sent nor stored, but named
// in the list.
template <typename Owner, typename Value>
struct DerivedField {
    Value Owner::*member;
};
template <typename Owner, typename Value>
constexpr DerivedField<Owner, Value> derived(Value Owner::*member) {
    return {member};
}

namespace field_list {

// Stands for a value of any type where only the number of members matters.
struct Anything {
    template <typename Value>
    operator Value() const;
};

template <typename Owner, typename... Values>
concept TakesMembers = requires {
    Owner{std::declval<Values>()...};
};

// The list has every member of Owner, in the order of their declaration.
template <typename Owner, typename... Values>
constexpr bool kIsComplete =
    TakesMembers<Owner, Values...> && !TakesMembers<Owner, Values..., Anything> &&
    !TakesMembers<Owner, Values..., std::nullopt_t>;

}  // namespace field_list

// All members of Owner, in the order of their declaration.
template <typename Owner, template <typename, typename> typename... Kinds, typename... Values>
constexpr auto fields(Kinds<Owner, Values>... each) {
    static_assert(field_list::kIsComplete<Owner, Values...>,
                  "the list lacks a member, or has them in another order");
    return std::tuple(each...);
}

template <typename Owner>
inline constexpr auto kFields = nullptr;  // Owner has no list

template <typename Owner>
concept HasFields = !std::same_as<std::remove_cv_t<decltype(kFields<Owner>)>, std::nullptr_t>;

// Calls visit(field) for each member that is sent and stored, until one returns false.
template <HasFields Owner, typename Visit>
constexpr bool all_fields(Visit visit) {
    auto visit_one = [&]<template <typename, typename> typename Kind, typename Value>(
                         const Kind<Owner, Value>& each) {
        if constexpr (std::same_as<Kind<Owner, Value>, Field<Owner, Value>>) return visit(each);
        return true;
    };
    return std::apply([&](const auto&... each) { return (visit_one(each) && ...); },
                      kFields<Owner>);
}
template <HasFields Owner, typename Visit>
constexpr void for_each_field(Visit visit) {
    all_fields<Owner>([&](const auto& each) {
        visit(each);
        return true;
    });
}

// The members of one type, in the order of their declaration.
template <HasFields Owner, typename Value>
constexpr auto members_of_type() {
    constexpr auto kVisit = [](auto note) {
        for_each_field<Owner>([&]<typename Each>(const Field<Owner, Each>& each) {
            if constexpr (std::same_as<Each, Value>) note(each.member);
        });
    };
    constexpr std::size_t kCount = [](auto all) {
        std::size_t found = 0;
        all([&](auto) { ++found; });
        return found;
    }(kVisit);
    std::array<Value Owner::*, kCount> members{};
    std::size_t next = 0;
    kVisit([&](Value Owner::*member) { members[next++] = member; });
    return members;
}

// Each number stands for one member, in all of these lists together.
template <HasFields... Owners>
constexpr bool numbers_differ() {
    bool seen[256] = {};
    bool differ = true;
    auto note = [&](const auto& each) {
        const std::uint32_t number = each.number;
        differ = differ && number > 0 && number < 256 && !seen[number];
        if (differ) seen[number] = true;
    };
    (for_each_field<Owners>(note), ...);
    return differ;
}

}  // namespace sluice
