// model/field_text.h
//
// The members of a value that differ from their default, or that a Patch sets, as text:
// " State=DOWN MaxTime=01:00:00". For log lines.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "model/fields.h"
#include "model/patch.h"
#include "model/times.h"

namespace sluice {

template <HasFields Owner>
std::string print_fields(const Owner& owner);

namespace field_text {

template <typename Value>
constexpr bool kIsPatch = false;
template <typename Owner>
constexpr bool kIsPatch<Patch<Owner>> = true;

// One member; empty for an absent value.
template <typename Value>
std::string text(const Value& value) {
    if constexpr (std::same_as<Value, std::string>) {
        return value;
    } else if constexpr (std::same_as<Value, bool>) {
        return value ? "YES" : "NO";
    } else if constexpr (std::same_as<Value, Time>) {
        return std::to_string(to_unix(value));
    } else if constexpr (std::same_as<Value, TimeLimit>) {
        return print_time_limit(value);
    } else if constexpr (kIsOptional<Value>) {
        return value ? text(*value) : std::string();
    } else if constexpr (requires { print(value); }) {
        return std::string(print(value));
    } else if constexpr (requires { value.value; }) {
        return text(value.value);
    } else if constexpr (requires { value.count(); }) {
        return std::to_string(value.count());
    } else if constexpr (requires { typename Value::allocator_type; }) {
        std::vector<std::string> entries;
        for (const auto& each : value) entries.push_back(text(each));
        return join(entries, ",");
    } else if constexpr (requires { value.second; }) {
        return fmt::format("{}={}", text(value.first), text(value.second));
    } else if constexpr (HasFields<Value>) {
        return fmt::format("({})", trim(print_fields(value)));
    } else if constexpr (std::is_enum_v<Value>) {
        return std::to_string(static_cast<int>(value));
    } else if constexpr (requires { value.to_string(); }) {
        return value.to_string();
    } else {
        return fmt::format("{}", +value);
    }
}

// A name that several members share is written once.
class Writer {
public:
    template <HasFields Owner>
    void add(const Owner& owner) {
        const Owner standard{};
        for_each_field<Owner>([&](const auto& each) {
            const auto& value = owner.*each.member;
            if (!(value == standard.*each.member)) add_member(each.name, value);
        });
    }
    template <typename Owner>
    void add(const Patch<Owner>& patch) {
        for_each_field<Owner>([&](const auto& each) {
            if (patch.has(each.member)) add_member(each.name, patch.values.*each.member);
        });
    }
    std::string take() { return std::move(text_); }

private:
    template <typename Value>
    void add_member(std::string_view name, const Value& value) {
        if constexpr (kIsPatch<Value>) {
            add(value);
        } else {
            if (std::find(names_.begin(), names_.end(), name) != names_.end()) return;
            names_.push_back(name);
            text_ += fmt::format(" {}={}", name, text(value));
        }
    }

    std::string text_;
    std::vector<std::string_view> names_;
};

}  // namespace field_text

template <HasFields Owner>
std::string print_fields(const Owner& owner) {
    field_text::Writer writer;
    writer.add(owner);
    return writer.take();
}

}  // namespace sluice
