// protocol/arbitrary.h
//
// RapidCheck generators of the values that are sent and stored, for tests here and in store/.
#pragma once

#include <rapidcheck.h>

#include <chrono>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/filter.h"
#include "model/job.h"
#include "model/job_change_fields.h"
#include "model/node_fields.h"
#include "model/partition_fields.h"
#include "model/qos_fields.h"
#include "model/record_fields.h"
#include "model/reservation_fields.h"

namespace sluice::arbitrary {

inline std::string text() {
    return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
}
inline std::uint32_t number(std::uint32_t most) {
    return *rc::gen::inRange(0u, most);
}
inline bool coin() {
    return *rc::gen::arbitrary<bool>();
}
inline Time time() {
    return from_unix(*rc::gen::inRange<std::int64_t>(0, 4'000'000'000));
}

template <typename Enum>
Enum one_of(Enum last) {
    return static_cast<Enum>(number(static_cast<std::uint32_t>(last) + 1));
}

// One time in two.
template <typename Make>
auto maybe(Make make) -> std::optional<decltype(make())> {
    if (coin()) return make();
    return std::nullopt;
}

template <typename Make>
auto list(Make make) {
    std::vector<decltype(make())> made;
    for (std::uint32_t left = number(4); left > 0; --left) made.push_back(make());
    return made;
}

inline std::optional<std::uint32_t> maybe_number() {
    return maybe([] { return number(1'000'000); });
}
inline std::optional<Time> maybe_time() {
    return maybe([] { return time(); });
}
inline TimeLimit time_limit() {
    return coin() ? TimeLimit{} : TimeLimit{Seconds{number(1u << 30)}};
}
inline std::vector<std::string> texts() {
    return list([] { return text(); });
}

inline TaskSet task_set() {
    TaskSet set;
    for (std::uint32_t left = 1 + number(6); left > 0; --left) set.insert(number(2000));
    return set;
}

// ---- a value of each type that a field may have, within the limits of the field

template <typename Value>
Value value_of(const FieldLimits& limits);

template <HasFields Owner>
Owner fields() {
    Owner owner;
    for_each_field<Owner>([&]<typename Value>(const Field<Owner, Value>& each) {
        owner.*each.member = value_of<Value>(each.limits);
    });
    return owner;
}

template <typename Value>
constexpr bool kIsLength = false;
template <typename Count, typename Ratio>
constexpr bool kIsLength<std::chrono::duration<Count, Ratio>> = true;

template <typename Value>
concept ListValue = requires(Value list) {
    list.emplace_back();
};

template <typename Value>
Value value_of(const FieldLimits& limits) {
    if constexpr (std::same_as<Value, bool>) {
        return coin();
    } else if constexpr (std::same_as<Value, std::string>) {
        return text().substr(0, limits.bytes);
    } else if constexpr (std::same_as<Value, double>) {
        return number(10000) / 100.0;
    } else if constexpr (std::same_as<Value, Time>) {
        return time();
    } else if constexpr (std::same_as<Value, TimeLimit>) {
        return time_limit();
    } else if constexpr (std::same_as<Value, TaskSet>) {
        return task_set();
    } else if constexpr (std::is_enum_v<Value>) {
        return one_of(static_cast<Value>(limits.most));
    } else if constexpr (std::unsigned_integral<Value>) {
        const auto most = std::min<std::uint64_t>(limits.most, std::numeric_limits<Value>::max());
        return coin() ? static_cast<Value>(most)
                      : static_cast<Value>(number(1'000'000) % std::max<std::uint64_t>(most, 1));
    } else if constexpr (std::signed_integral<Value>) {
        const auto most = std::min<std::uint64_t>(limits.most, std::numeric_limits<Value>::max());
        return static_cast<Value>(coin() ? most : number(1'000'000) % most) * (coin() ? 1 : -1);
    } else if constexpr (kIsLength<Value>) {
        return Value{number(1u << 20)};
    } else if constexpr (std::same_as<Value, std::shared_ptr<const PackedDetails>>) {
        return std::make_shared<const PackedDetails>(fields<JobDetails>());
    } else if constexpr (kIsShared<Value>) {
        return std::make_shared<typename Value::element_type>(
            value_of<std::remove_const_t<typename Value::element_type>>(limits));
    } else if constexpr (kIsOptional<Value>) {
        return maybe([&] { return value_of<typename Value::value_type>(limits); });
    } else if constexpr (ListValue<Value>) {
        return list([&] { return value_of<typename Value::value_type>(limits); });
    } else if constexpr (HasFields<Value>) {
        return fields<Value>();
    } else if constexpr (requires { typename Value::mapped_type; }) {
        const auto entries = list([&] {
            return value_of<std::pair<typename Value::key_type, typename Value::mapped_type>>(
                limits);
        });
        return {entries.begin(), entries.end()};
    } else if constexpr (requires(Value id) { id.value; }) {
        return Value{value_of<decltype(Value::value)>(limits)};
    } else {
        return {value_of<typename Value::first_type>(limits),
                value_of<typename Value::second_type>(limits)};
    }
}

inline JobRequest request() {
    JobRequest request{fields<JobTerms>(), fields<JobDetails>()};
    request.licenses = coin() ? "" : "matlab:2,ansys:1";          // they are counted
    request.sync = coin() ? "" : "/scratch/a:/data/b,every=10m";  // it has a grammar
    return request;
}

}  // namespace sluice::arbitrary
