// model/field_checks.h
//
// Checks the members of a value against the limits of their list (fields.h). An error names the
// member and its value.
#pragma once

#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "model/fields.h"
#include "model/job_details.h"
#include "model/job_id.h"

namespace sluice {

// "comment=abc...: why".
Error invalid_value(std::string_view field, std::string_view value, std::string_view why);
// Texts are used in paths, arguments and variables of C programs: a zero byte would cut them.
Result<void> validate_text(std::string_view field, std::string_view value, std::size_t most);
Result<void> validate_bytes(std::string_view field, std::string_view value, std::size_t most);
Result<void> validate_list(std::string_view field, std::size_t size, std::size_t most);
Result<void> validate_number(std::string_view field, std::int64_t value, std::int64_t most);
Result<void> validate_amount(std::string_view field, std::uint64_t value, std::uint64_t most);

template <HasFields Owner>
Result<void> validate_fields(const Owner& owner);

namespace field_checks {

template <typename Value>
Result<void> check(std::string_view name, const std::optional<Value>& value,
                   const FieldLimits& limits);

template <typename Value>
requires std::integral<Value> || std::is_enum_v<Value> Result<void> check(
    std::string_view name, Value value, const FieldLimits& limits) {
    if constexpr (std::is_signed_v<Value>) {
        return validate_amount(name, static_cast<std::uint64_t>(std::abs(std::int64_t{value})),
                               limits.most);
    } else {
        return validate_amount(name, static_cast<std::uint64_t>(value), limits.most);
    }
}
inline Result<void> check(std::string_view name, const std::string& text,
                          const FieldLimits& limits) {
    return limits.is_binary ? validate_bytes(name, text, limits.bytes)
                            : validate_text(name, text, limits.bytes);
}
template <typename Number, typename Ratio>
Result<void> check(std::string_view name, std::chrono::duration<Number, Ratio> length,
                   const FieldLimits& limits) {
    using Length = std::chrono::duration<std::int64_t, Ratio>;
    const bool has_limit = limits.most != FieldLimits{}.most;
    const auto most = has_limit
                          ? static_cast<std::int64_t>(limits.most)
                          : std::chrono::duration_cast<Length>(Seconds{sizes::kSeconds}).count();
    return validate_number(name, length.count(), most);
}
inline Result<void> check(std::string_view name, Time moment, const FieldLimits&) {
    return validate_number(name, to_unix(moment), sizes::kSeconds);
}
inline Result<void> check(std::string_view name, const TimeLimit& limit, const FieldLimits&) {
    if (limit.unlimited()) return {};
    return validate_number(name, limit.length().count(), sizes::kTimeLimit);
}
inline Result<void> check(std::string_view, double, const FieldLimits&) {
    return {};  // no list has a limit
}
template <typename Tag, typename Number>
Result<void> check(std::string_view, Id<Tag, Number>, const FieldLimits&) {
    return {};
}
inline Result<void> check(std::string_view, const TaskSet&, const FieldLimits&) {
    return {};  // its limit is checked when it is made
}
template <HasFields Value>
Result<void> check(std::string_view, const Value& value, const FieldLimits&) {
    return validate_fields(value);
}
inline Result<void> check(std::string_view, const PackedDetails& details, const FieldLimits&) {
    return validate_fields(details.unpacked());
}
template <typename Value>
Result<void> check(std::string_view name, const std::shared_ptr<const Value>& value,
                   const FieldLimits& limits) {
    if (!value) return {};
    return check(name, *value, limits);
}
template <typename First, typename Second>
Result<void> check(std::string_view name, const std::pair<First, Second>& both,
                   const FieldLimits& limits) {
    TRY(check(name, both.first, limits));
    return check(name, both.second, limits);
}
template <typename Entries>
requires requires(const Entries& list) {
    list.begin();
    typename Entries::allocator_type;
}
Result<void> check(std::string_view name, const Entries& list, const FieldLimits& limits) {
    TRY(validate_list(name, list.size(), limits.entries));
    for (const auto& entry : list) TRY(check(name, entry, limits));
    return {};
}

template <typename Value>
Result<void> check(std::string_view name, const std::optional<Value>& value,
                   const FieldLimits& limits) {
    if (!value) return {};
    return check(name, *value, limits);
}

}  // namespace field_checks

template <HasFields Owner>
Result<void> validate_fields(const Owner& owner) {
    Result<void> result;
    all_fields<Owner>([&](const auto& each) {
        result = field_checks::check(each.name, owner.*each.member, each.limits);
        return result.has_value();
    });
    return result;
}

}  // namespace sluice
