// model/key_values.h
//
// One table row per key: how its value is written, what `scontrol show config` prints when it is
// not set, and which member it sets. The configuration files and `scontrol update PartitionName=`
// are read through such tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "model/quantity.h"

namespace sluice {

enum class Kind : std::uint8_t {
    Text,         // as written
    Word,         // one of `choices`, kept as spelled there
    Words,        // a comma list of them, printed as spelled there
    Number,       // 0 ... 4294967295
    NumberOrMax,  // the same, or UNLIMITED
    Priority,     // 0 ... 65533
    Real,         // 101.5
    Percentage,   // the same, shown as "100.0%"
    Port,
    Ports,  // 7000 or 7000-7010
    Seconds,
    SecondsOrNever,  // INFINITE, -1
    Minutes,         // UNLIMITED too
    Microseconds,
    NodesPerMinute,
    VsizePercent,
    YesNo,          // shown as yes, no
    Switch,         // shown as 1, 0
    Duration,       // 7-0, UNLIMITED: shown as 7-00:00:00
    Limit,          // a job's time limit
    Level,          // quiet ... debug5, 0 ... 9
    Memory,         // megabytes, with M, G, T
    MemoryOrMax,    // UNLIMITED too
    Count,          // 4K: multiples of 1024
    Hosts,          // a hostlist
    OverSubscribe,  // NO, EXCLUSIVE, YES:4, FORCE:4
    JobDefaults,    // DefCpuPerGPU=2,DefMemPerGPU=4096
    Shown,          // not a key: a line of `scontrol show config` only
    Removed,        // Slurm knew it once and ignores it now; so do we, silently
};

// Keys and values of a command, as typed: "update PartitionName=p State=DOWN" has {State, DOWN}.
using KeyTexts = std::vector<std::pair<std::string, std::string>>;

struct Value {
    std::string_view text;     // as written, or as spelled in `choices`
    std::uint64_t number = 0;  // times in seconds, memory in megabytes
    double real = 0;
    bool unlimited = false;
};

// Which text may have a key: a line of the file, a command (scontrol update), or either.
enum class KeyUse : std::uint8_t { Everywhere, File, Command };

template <typename Target>
struct Key {
    std::string_view name;
    Kind kind = Kind::Text;
    std::string_view unset;                        // what is printed when nothing was said
    void (*set)(Target&, const Value&) = nullptr;  // null: no effect in Sluice
    std::string_view choices = {};                 // "a|b|c"
    bool shown_only = false;                       // kept and shown, but nothing acts on it yet
    KeyUse use = KeyUse::Everywhere;
};

// The error says what would have been right: "expected a number of seconds".
Result<Value> parse_value(Kind kind, std::string_view choices, std::string_view text);
// What a valid value looks like: "a number of seconds", "UP, DOWN or DRAIN".
std::string valid_values(Kind kind, std::string_view choices);
// As `scontrol show config` prints a value that parse_value accepts.
std::string print_value(Kind kind, std::string_view choices, std::string_view text);
std::optional<LogLevel> find_log_level(std::string_view text);

// "7001-7004,8000", also in brackets; nothing when malformed or more than `most` numbers.
std::optional<std::vector<std::uint32_t>> parse_numbers(std::string_view text, std::size_t most);

// " (did you mean 'KillWait'?)", or nothing.
std::string suggestion(std::string_view key, std::span<const std::string_view> names);

// A value that asks for the default behaviour, or for nothing, needs no warning.
bool asks_for_nothing(std::string_view text, std::string_view printed, std::string_view unset);

inline void assign(std::string& member, const Value& value) {
    member = value.text;
}
inline void assign(bool& member, const Value& value) {
    member = value.number != 0;
}
inline void assign(double& member, const Value& value) {
    member = value.real;
}
inline void assign(Seconds& member, const Value& value) {
    member = Seconds{static_cast<std::int64_t>(value.number)};
}
inline void assign(TimeLimit& member, const Value& value) {
    member =
        value.unlimited ? TimeLimit{} : TimeLimit{Seconds{static_cast<std::int64_t>(value.number)}};
}
inline void assign(LogLevel& member, const Value& value) {
    member = static_cast<LogLevel>(value.number);
}
void assign(std::vector<std::string>& member, const Value& value);  // a comma list; ALL is empty
template <typename Number>
requires std::is_unsigned_v<Number>
void assign(Number& member, const Value& value) {
    member = static_cast<Number>(value.number);
}
template <typename T>
void assign(std::optional<T>& member, const Value& value) {
    if constexpr (std::is_same_v<T, TimeLimit>) {
        assign(member.emplace(), value);
    } else if (value.unlimited) {
        member.reset();
    } else {
        assign(member.emplace(), value);
    }
}

template <typename>
struct MemberOf;
template <typename Class, typename Type>
struct MemberOf<Type Class::*> {
    using class_type = Class;
};

template <auto Member>
void set(typename MemberOf<decltype(Member)>::class_type& target, const Value& value) {
    assign(target.*Member, value);
}

template <typename Target>
const Key<Target>* find_key(std::span<const Key<Target>> keys, std::string_view name, KeyUse use) {
    constexpr int kCase = 'a' ^ 'A';  // most names differ in their size or first letter already
    for (const Key<Target>& key : keys) {
        if (key.name.size() != name.size() || ((key.name.front() ^ name.front()) & ~kCase) != 0)
            continue;
        if (key.use != KeyUse::Everywhere && key.use != use) continue;
        if (equals_ignoring_case(key.name, name) && key.kind != Kind::Shown) return &key;
    }
    return nullptr;
}

}  // namespace sluice
