// protocol/field_codec.h
//
// Values with a list of fields (model/fields.h) as bytes, and back. The encoding is that of
// protobuf: a reader skips numbers that it does not know, so that neighbouring versions understand
// each other. A member that has its default value is left out. Signed numbers are zigzag varints;
// lists repeat their number, except that a list of plain numbers is packed.
#pragma once

#include <bit>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "model/fields.h"
#include "model/job_details.h"
#include "model/job_id.h"
#include "protocol/checks.h"

namespace sluice::field_codec {

enum class Kind : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

void put_varint(std::uint64_t value, std::string& out);
void put_key(std::uint32_t number, Kind kind, std::string& out);
void put_bytes(std::uint32_t number, std::string_view bytes, std::string& out);

// The entries of a message, one after the other.
class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    // False at the end and for bytes that are no message; is_damaged() tells which.
    bool next();
    bool is_damaged() const { return damaged_; }
    std::uint32_t number() const { return number_; }
    Kind kind() const { return kind_; }
    std::uint64_t value() const { return value_; }     // Varint, Fixed64
    std::string_view bytes() const { return bytes_; }  // Bytes

    std::optional<std::uint64_t> varint();  // the next bytes of a packed list
    bool at_end() const { return rest_.empty(); }

private:
    std::string_view rest_;
    bool damaged_ = false;
    std::uint32_t number_ = 0;
    Kind kind_ = Kind::Varint;
    std::uint64_t value_ = 0;
    std::string_view bytes_;
};

// ---- numbers: how a type becomes a varint

template <typename Value>
concept Number = std::integral<Value> || std::is_enum_v<Value>;

template <Number Value>
std::uint64_t to_varint(Value value) {
    if constexpr (std::is_signed_v<Value>) {
        const auto wide = static_cast<std::int64_t>(value);
        return (static_cast<std::uint64_t>(wide) << 1) ^ static_cast<std::uint64_t>(wide >> 63);
    } else {
        return static_cast<std::uint64_t>(value);
    }
}
template <Number Value>
bool from_varint(std::uint64_t bits, Value& value) {
    if constexpr (std::is_enum_v<Value>) {
        std::underlying_type_t<Value> number{};
        if (!from_varint(bits, number)) return false;
        value = static_cast<Value>(number);
        return true;
    } else if constexpr (std::is_signed_v<Value>) {
        const auto wide = static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
        value = static_cast<Value>(wide);
        return value == wide;
    } else {
        value = static_cast<Value>(bits);
        return static_cast<std::uint64_t>(value) == bits;
    }
}

// ---- put: one member; get: one entry of a message into a member

template <HasFields Owner>
void put_fields(const Owner& owner, std::string& out);
template <HasFields... Owners>
Result<void> get_fields(std::string_view bytes, Owners&... owners);

template <Number Value>
void put(std::uint32_t number, Value value, std::string& out) {
    put_key(number, Kind::Varint, out);
    put_varint(to_varint(value), out);
}
template <Number Value>
bool get(const Reader& entry, const FieldLimits&, Value& value) {
    return entry.kind() == Kind::Varint && from_varint(entry.value(), value);
}

inline void put(std::uint32_t number, double value, std::string& out) {
    put_key(number, Kind::Fixed64, out);
    for (auto bits = std::bit_cast<std::uint64_t>(value);
         const int shift : {0, 8, 16, 24, 32, 40, 48, 56}) {
        out.push_back(static_cast<char>(bits >> shift));
    }
}
inline bool get(const Reader& entry, const FieldLimits&, double& value) {
    value = std::bit_cast<double>(entry.value());
    return entry.kind() == Kind::Fixed64;
}

template <typename Tag, typename Value>
void put(std::uint32_t number, Id<Tag, Value> id, std::string& out) {
    put(number, id.value, out);
}
template <typename Tag, typename Value>
bool get(const Reader& entry, const FieldLimits& limits, Id<Tag, Value>& id) {
    return get(entry, limits, id.value);
}

template <typename Rep, typename Ratio>
void put(std::uint32_t number, std::chrono::duration<Rep, Ratio> length, std::string& out) {
    put(number, std::int64_t{length.count()}, out);
}
template <typename Rep, typename Ratio>
bool get(const Reader& entry, const FieldLimits& limits,
         std::chrono::duration<Rep, Ratio>& length) {
    std::int64_t count = 0;
    if (!get(entry, limits, count)) return false;
    length = std::chrono::duration<Rep, Ratio>{count};
    return true;
}

inline void put(std::uint32_t number, Time moment, std::string& out) {
    put(number, moment.time_since_epoch(), out);
}
inline bool get(const Reader& entry, const FieldLimits& limits, Time& moment) {
    Seconds since{0};
    if (!get(entry, limits, since)) return false;
    moment = Time{since};
    return true;
}

inline void put(std::uint32_t number, const std::string& text, std::string& out) {
    put_bytes(number, text, out);
}
inline bool get(const Reader& entry, const FieldLimits&, std::string& text) {
    text = entry.bytes();
    return entry.kind() == Kind::Bytes;
}

// An empty message is unlimited.
inline void put(std::uint32_t number, const TimeLimit& limit, std::string& out) {
    std::string inner;
    if (!limit.unlimited()) put(1, limit.length(), inner);
    put_bytes(number, inner, out);
}
inline bool get(const Reader& entry, const FieldLimits& limits, TimeLimit& limit) {
    limit = {};
    Reader inner(entry.bytes());
    while (inner.next()) {
        Seconds length{0};
        if (inner.number() != 1 || !get(inner, limits, length)) return false;
        limit = TimeLimit{length};
    }
    return entry.kind() == Kind::Bytes && !inner.is_damaged();
}

// Triples of varints: first, last, step.
void put(std::uint32_t number, const TaskSet& tasks, std::string& out);
bool get(const Reader& entry, const FieldLimits& limits, TaskSet& tasks);

template <HasFields Value>
void put(std::uint32_t number, const Value& value, std::string& out) {
    std::string inner;
    put_fields(value, inner);
    put_bytes(number, inner, out);
}
template <HasFields Value>
bool get(const Reader& entry, const FieldLimits&, Value& value) {
    return entry.kind() == Kind::Bytes && get_fields(entry.bytes(), value).has_value();
}

template <typename Value>
void put(std::uint32_t number, const std::optional<Value>& value, std::string& out);
template <typename Value>
bool get(const Reader& entry, const FieldLimits& limits, std::optional<Value>& value);

inline void put(std::uint32_t number, const PackedDetails& details, std::string& out) {
    put(number, details.unpacked(), out);
}
template <typename Value>
void put(std::uint32_t number, const std::shared_ptr<const Value>& value, std::string& out) {
    if (value) put(number, *value, out);
}
template <typename Value>
bool get(const Reader& entry, const FieldLimits& limits, std::shared_ptr<const Value>& value) {
    auto made = std::make_shared<Value>();
    const bool is_valid = get(entry, limits, *made);
    value = std::move(made);
    return is_valid;
}
inline bool get(const Reader& entry, const FieldLimits& limits,
                std::shared_ptr<const PackedDetails>& value) {
    JobDetails details;
    const bool is_valid = get(entry, limits, details);
    value = std::make_shared<const PackedDetails>(details);
    return is_valid;
}

template <typename First, typename Second>
void put(std::uint32_t number, const std::pair<First, Second>& both, std::string& out) {
    std::string inner;
    put(1, both.first, inner);
    put(2, both.second, inner);
    put_bytes(number, inner, out);
}
template <typename First, typename Second>
bool get(const Reader& entry, const FieldLimits& limits, std::pair<First, Second>& both) {
    Reader inner(entry.bytes());
    while (inner.next()) {
        if (inner.number() == 1 && !get(inner, limits, both.first)) return false;
        if (inner.number() == 2 && !get(inner, limits, both.second)) return false;
    }
    return entry.kind() == Kind::Bytes && !inner.is_damaged();
}

template <typename Value>
void put(std::uint32_t number, const std::optional<Value>& value, std::string& out) {
    if (value) put(number, *value, out);
}
template <typename Value>
bool get(const Reader& entry, const FieldLimits& limits, std::optional<Value>& value) {
    return get(entry, limits, value.emplace());
}

template <std::unsigned_integral Value>
void put(std::uint32_t number, const std::vector<Value>& list, std::string& out) {
    std::string inner;
    for (const Value each : list) put_varint(each, inner);
    put_bytes(number, inner, out);
}
template <std::unsigned_integral Value>
bool get(const Reader& entry, const FieldLimits& limits, std::vector<Value>& list) {
    Reader inner(entry.bytes());
    while (!inner.at_end()) {
        const std::optional<std::uint64_t> value = inner.varint();
        if (!value || list.size() >= limits.entries) return false;
        if (!from_varint(*value, list.emplace_back())) return false;
    }
    return entry.kind() == Kind::Bytes;
}

template <typename Value>
void put(std::uint32_t number, const std::vector<Value>& list, std::string& out) {
    for (const Value& each : list) put(number, each, out);
}
template <typename Value>
bool get(const Reader& entry, const FieldLimits& limits, std::vector<Value>& list) {
    return list.size() < limits.entries && get(entry, limits, list.emplace_back());
}

// A list that is empty is told from one that is absent.
template <typename Value>
void put(std::uint32_t number, const std::optional<std::vector<Value>>& list, std::string& out) {
    if (!list) return;
    std::string inner;
    put(1, *list, inner);
    put_bytes(number, inner, out);
}
template <typename Value>
bool get(const Reader& entry, const FieldLimits& limits, std::optional<std::vector<Value>>& list) {
    list.emplace();
    Reader inner(entry.bytes());
    while (inner.next()) {
        if (inner.number() == 1 && !get(inner, limits, *list)) return false;
    }
    return entry.kind() == Kind::Bytes && !inner.is_damaged();
}

template <typename Key, typename Value, typename Less>
void put(std::uint32_t number, const std::map<Key, Value, Less>& map, std::string& out) {
    for (const auto& [key, value] : map) put(number, std::pair(key, value), out);
}
template <typename Key, typename Value, typename Less>
bool get(const Reader& entry, const FieldLimits& limits, std::map<Key, Value, Less>& map) {
    std::pair<Key, Value> both;
    return map.size() < limits.entries && get(entry, limits, both) &&
           map.insert(std::move(both)).second;
}

// ---- all members

template <typename Owner>
const Owner& default_of() {
    static const Owner kDefault{};
    return kDefault;
}

template <HasFields Owner>
void put_fields(const Owner& owner, std::string& out) {
    const Owner& standard = default_of<Owner>();
    for_each_field<Owner>([&](const auto& each) {
        const auto& value = owner.*each.member;
        if (!(value == standard.*each.member)) put(each.number, value, out);
    });
}

// The members of all owners, whose numbers differ. What the message does not have stays.
template <HasFields... Owners>
Result<void> get_fields(std::string_view bytes, Owners&... owners) {
    static_assert(numbers_differ<Owners...>());
    Reader entry(bytes);
    std::string_view refused;
    auto take = [&]<typename Owner>(Owner& owner) {
        return !all_fields<Owner>([&](const auto& each) {
            if (each.number != entry.number()) return true;
            if (!get(entry, each.limits, owner.*each.member)) refused = each.name;
            return false;
        });
    };
    while (entry.next()) {
        (take(owners) || ...);
        if (!refused.empty()) return checks::refused(refused, "it cannot be decoded");
    }
    if (entry.is_damaged()) return checks::refused("message", "it cannot be decoded");
    return {};
}

}  // namespace sluice::field_codec
