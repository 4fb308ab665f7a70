#include "model/key_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/closest.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/partition.h"
#include "model/times.h"

namespace sluice {

namespace {

constexpr std::uint64_t kNumberMax = 0xffffffff;
constexpr std::uint64_t kPriorityMax = 65533;
constexpr std::uint64_t kPortMax = 65535;
constexpr std::uint64_t kMegabytesMax = std::uint64_t{1} << 50;

// What to say when a value is wrong, and what follows the number when it is shown.
struct KindText {
    Kind kind;
    std::string_view expected;
    std::string_view unit;
};

constexpr KindText kKindTexts[] = {
    {Kind::Number, "a number from 0 to 4294967295", ""},
    {Kind::NumberOrMax, "a number or UNLIMITED", ""},
    {Kind::Priority, "a number from 0 to 65533", ""},
    {Kind::Real, "a number such as 1 or 101.5", ""},
    {Kind::Percentage, "a percentage such as 100 or 101.5", ""},
    {Kind::Port, "a port number from 1 to 65535", ""},
    {Kind::Ports, "a port number from 1 to 65535 or a range such as 7000-7010", ""},
    {Kind::Seconds, "a number of seconds", " sec"},
    {Kind::SecondsOrNever, "a number of seconds or INFINITE", " sec"},
    {Kind::Minutes, "a number of minutes or UNLIMITED", " min"},
    {Kind::Microseconds, "a number of microseconds", " usec"},
    {Kind::NodesPerMinute, "a number of nodes per minute", " nodes/min"},
    {Kind::VsizePercent, "a number of percent", " percent"},
    {Kind::YesNo, "yes or no", ""},
    {Kind::Switch, "1 or 0", ""},
    {Kind::Duration, "a time such as 30 (minutes), 12:00:00, 7-0 or UNLIMITED", ""},
    {Kind::Limit, "a time such as 30 (minutes), 12:00:00, 7-0 or UNLIMITED", ""},
    {Kind::Level,
     "quiet, fatal, error, info, verbose, debug, debug2, debug3, debug4, debug5 or 0 to 9", ""},
    {Kind::Memory, "a number of megabytes, or with M, G or T after it", ""},
    {Kind::MemoryOrMax, "a number of megabytes, or with M, G or T after it, or UNLIMITED", ""},
    {Kind::Count, "a number, or with K, M, G, T or P after it", ""},
    {Kind::Hosts, "a list of hosts such as n[1-4],login", ""},
    {Kind::OverSubscribe, "NO, EXCLUSIVE, YES, YES:4, FORCE or FORCE:4", ""},
    {Kind::JobDefaults, "DefCpuPerGPU=COUNT and DefMemPerGPU=MEGABYTES", ""},
};

constexpr std::string_view kLevels[] = {"quiet", "fatal",  "error",  "info",   "verbose",
                                        "debug", "debug2", "debug3", "debug4", "debug5"};

const KindText* text_of_kind(Kind kind) {
    for (const KindText& text : kKindTexts) {
        if (text.kind == kind) return &text;
    }
    return nullptr;
}

bool is_unlimited(std::string_view text) {
    return equals_ignoring_case(text, "UNLIMITED") || equals_ignoring_case(text, "INFINITE") ||
           text == "-1";
}

bool may_be_unlimited(Kind kind) {
    return kind == Kind::NumberOrMax || kind == Kind::SecondsOrNever || kind == Kind::Minutes ||
           kind == Kind::MemoryOrMax;
}

std::optional<std::uint64_t> number_up_to(std::uint64_t most, std::string_view text) {
    std::optional<std::uint64_t> number = to_number(text);
    return number && *number <= most ? number : std::nullopt;
}

std::optional<bool> parse_yes_no(std::string_view text) {
    for (std::string_view word : {"yes", "true", "up", "1", "y", "t"}) {
        if (equals_ignoring_case(text, word)) return true;
    }
    for (std::string_view word : {"no", "false", "down", "0", "n", "f"}) {
        if (equals_ignoring_case(text, word)) return false;
    }
    return {};
}

std::optional<double> parse_real(std::string_view text) {
    if (text.ends_with('%')) text.remove_suffix(1);
    double number = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    bool whole = error == std::errc{} && end == text.data() + text.size();
    if (!whole || !std::isfinite(number) || number < 0) return {};
    return number;
}

std::optional<std::uint64_t> parse_ports(std::string_view text) {
    std::size_t dash = text.find('-');
    std::optional<std::uint64_t> first = number_up_to(kPortMax, text.substr(0, dash));
    if (!first || *first == 0) return {};
    if (dash == std::string_view::npos) return first;
    std::optional<std::uint64_t> last = number_up_to(kPortMax, text.substr(dash + 1));
    return last && *last >= *first ? first : std::nullopt;
}

// Compat: Slurm reads K after a number of megabytes as 1024 megabytes. Users mean kilobytes, so K
// is refused.
std::optional<std::uint64_t> parse_megabytes(std::string_view text) {
    if (text.ends_with('K') || text.ends_with('k')) return {};
    Result<Megabytes> memory = parse_memory(text);
    if (!memory || *memory > kMegabytesMax) return {};
    return *memory;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
    constexpr std::string_view kSuffixes = "KMGTP";
    std::uint64_t unit = 1;
    if (!text.empty()) {
        char last = text.back() >= 'a' ? static_cast<char>(text.back() - 'a' + 'A') : text.back();
        if (std::size_t at = kSuffixes.find(last); at != std::string_view::npos) {
            unit = std::uint64_t{1} << (10 * (at + 1));
            text.remove_suffix(1);
        }
    }
    std::optional<std::uint64_t> number = to_number(text);
    if (!number || *number > ~std::uint64_t{0} / unit) return {};
    return *number * unit;
}

bool is_oversubscribe(std::string_view text) {
    return equals_ignoring_case(text, "EXCLUSIVE") || parse_over_subscription(text).has_value();
}

bool is_job_defaults(std::string_view text) {
    for (std::string_view entry : split(text, ',')) {
        if (trim(entry).empty()) continue;
        const std::size_t equals = std::min(entry.find('='), entry.size() - 1);
        const std::string_view name = trim(entry.substr(0, equals));
        if (!equals_ignoring_case(name, "DefCpuPerGPU") &&
            !equals_ignoring_case(name, "DefMemPerGPU"))
            return false;
        if (!number_up_to(kNumberMax, trim(entry.substr(equals + 1)))) return false;
    }
    return true;
}

// The spelling in "a|b|c", if `word` is one of them.
std::optional<std::string_view> find_choice(std::string_view choices, std::string_view word) {
    for (std::string_view choice : split(choices, '|')) {
        if (equals_ignoring_case(choice, word)) return choice;
    }
    return {};
}

std::string as_spelled(std::string_view choices, std::string_view text) {
    std::vector<std::string> words;
    for (std::string_view word : split(text, ',')) {
        words.emplace_back(find_choice(choices, trim(word)).value_or(word));
    }
    return join(words, ",");
}

std::string expected_choices(std::string_view choices) {
    std::string list(choices);
    for (std::size_t at; (at = list.find('|')) != std::string::npos;) list.replace(at, 1, ", ");
    return "one of " + list;
}

Error expected(std::string_view what) {
    return Error{ErrorCode::ConfigInvalid, fmt::format("expected {}", what)};
}

Result<Value> parse_choices(Kind kind, std::string_view choices, std::string_view text) {
    if (kind == Kind::Word) {
        std::optional<std::string_view> choice = find_choice(choices, text);
        if (!choice) return expected(expected_choices(choices));
        return Value{.text = *choice};
    }
    for (std::string_view word : split(text, ',')) {
        if (!find_choice(choices, trim(word))) {
            return Error{ErrorCode::ConfigInvalid, fmt::format("'{}' is unknown, expected {}", word,
                                                               expected_choices(choices))};
        }
    }
    return Value{.text = text};
}

Result<Value> parse_time(std::string_view text) {
    Result<TimeLimit> limit = parse_time_limit(text);
    if (!limit) return limit.error();
    if (limit->unlimited()) return Value{.text = text, .unlimited = true};
    return Value{.text = text, .number = static_cast<std::uint64_t>(limit->length().count())};
}

// Kinds whose value is one whole number.
std::optional<std::uint64_t> parse_plain(Kind kind, std::string_view text) {
    switch (kind) {
        case Kind::Priority:
            return number_up_to(kPriorityMax, text);
        case Kind::Port:
        case Kind::Ports: {
            if (kind == Kind::Port && text.find('-') != std::string_view::npos) return {};
            return parse_ports(text);
        }
        case Kind::Minutes: {
            std::optional<std::uint64_t> minutes = number_up_to(kNumberMax, text);
            return minutes ? std::optional(*minutes * 60) : std::nullopt;
        }
        case Kind::YesNo:
        case Kind::Switch: {
            std::optional<bool> yes = parse_yes_no(text);
            return yes ? std::optional<std::uint64_t>(*yes) : std::nullopt;
        }
        case Kind::Level: {
            std::optional<LogLevel> level = find_log_level(text);
            return level ? std::optional(static_cast<std::uint64_t>(*level)) : std::nullopt;
        }
        case Kind::Memory:
        case Kind::MemoryOrMax:
            return parse_megabytes(text);
        case Kind::Count:
            return parse_count(text);
        default:
            return number_up_to(kNumberMax, text);
    }
}

bool is_text(Kind kind) {
    return kind == Kind::Text || kind == Kind::Shown || kind == Kind::Removed;
}

}  // namespace

Result<Value> parse_value(Kind kind, std::string_view choices, std::string_view text) {
    if (is_text(kind)) return Value{.text = text};
    if (kind == Kind::Word || kind == Kind::Words) return parse_choices(kind, choices, text);
    const Error wrong = expected(text_of_kind(kind)->expected);
    switch (kind) {
        case Kind::Duration:
        case Kind::Limit: {
            Result<Value> time = parse_time(text);
            return time ? time : wrong;
        }
        case Kind::Real:
        case Kind::Percentage: {
            std::optional<double> real = parse_real(text);
            return real ? Result<Value>(Value{.text = text, .real = *real}) : wrong;
        }
        case Kind::Hosts: {
            Result<Hostlist> hosts = Hostlist::parse(text);
            return hosts ? Result<Value>(Value{.text = text}) : wrong;
        }
        case Kind::OverSubscribe:
            return is_oversubscribe(text) ? Result<Value>(Value{.text = text}) : wrong;
        case Kind::JobDefaults:
            return is_job_defaults(text) ? Result<Value>(Value{.text = text}) : wrong;
        default:
            break;
    }
    if (may_be_unlimited(kind) && is_unlimited(text)) {
        return Value{.text = text, .unlimited = true};
    }
    std::optional<std::uint64_t> number = parse_plain(kind, text);
    return number ? Result<Value>(Value{.text = text, .number = *number}) : wrong;
}

std::string valid_values(Kind kind, std::string_view choices) {
    if (const KindText* text = text_of_kind(kind)) return std::string(text->expected);
    const std::vector<std::string_view> words = split(choices, '|');
    std::string list(words.front());
    for (std::size_t i = 1; i < words.size(); ++i) {
        list += i + 1 == words.size() ? " or " : ", ";
        list += words[i];
    }
    return list;
}

std::string print_value(Kind kind, std::string_view choices, std::string_view text) {
    Result<Value> value = parse_value(kind, choices, text);
    if (!value) return std::string(text);
    if (kind == Kind::SecondsOrNever && value->unlimited) return "INFINITE";
    if (value->unlimited) return "UNLIMITED";
    switch (kind) {
        case Kind::Words:
            return as_spelled(choices, text);
        case Kind::YesNo:
            return value->number ? "yes" : "no";
        case Kind::Minutes:
            return fmt::format("{} min", value->number / 60);
        case Kind::Level:
            return std::string(kLevels[value->number]);
        case Kind::Percentage:
            return fmt::format("{:.1f}%", value->real);
        case Kind::Duration:
        case Kind::Limit:
            return print_duration(Seconds{static_cast<std::int64_t>(value->number)});
        case Kind::Text:
        case Kind::Word:
        case Kind::Ports:
        case Kind::Real:
        case Kind::Hosts:
        case Kind::OverSubscribe:
        case Kind::JobDefaults:
        case Kind::Shown:
        case Kind::Removed:
            return std::string(value->text);
        default:
            return fmt::format("{}{}", value->number, text_of_kind(kind)->unit);
    }
}

std::optional<LogLevel> find_log_level(std::string_view text) {
    for (std::size_t i = 0; i < std::size(kLevels); ++i) {
        if (equals_ignoring_case(text, kLevels[i])) return static_cast<LogLevel>(i);
    }
    std::optional<std::uint64_t> number = number_up_to(std::size(kLevels) - 1, text);
    return number ? std::optional(static_cast<LogLevel>(*number)) : std::nullopt;
}

std::optional<std::vector<std::uint32_t>> parse_numbers(std::string_view text, std::size_t most) {
    if (text.starts_with('[') && text.ends_with(']') && text.size() > 1) {
        text = text.substr(1, text.size() - 2);
    }
    std::vector<std::uint32_t> numbers;
    for (std::string_view piece : split(text, ',')) {
        std::size_t dash = piece.find('-');
        std::optional<std::uint64_t> first = number_up_to(kNumberMax, piece.substr(0, dash));
        std::optional<std::uint64_t> last = dash == std::string_view::npos
                                                ? first
                                                : number_up_to(kNumberMax, piece.substr(dash + 1));
        if (!first || !last || *last < *first) return {};
        if (*last - *first >= most - numbers.size()) return {};
        for (std::uint64_t n = *first; n <= *last; ++n) {
            numbers.push_back(static_cast<std::uint32_t>(n));
        }
    }
    return numbers;
}

std::string suggestion(std::string_view key, std::span<const std::string_view> names) {
    std::optional<std::string_view> found = closest_word(key, names);
    return found ? fmt::format(" (did you mean '{}'?)", *found) : std::string{};
}

bool asks_for_nothing(std::string_view text, std::string_view printed, std::string_view unset) {
    if (equals_ignoring_case(printed, unset)) return true;
    if (text.ends_with("/none") || text.ends_with("/default")) return true;
    if (!unset.empty() && unset != "(null)") return false;
    for (std::string_view word : {"none", "no", "0", "off", "(null)", "disabled", ""}) {
        if (equals_ignoring_case(text, word)) return true;
    }
    return false;
}

void assign(std::vector<std::string>& member, const Value& value) {
    member.clear();
    if (equals_ignoring_case(value.text, "ALL")) return;
    for (std::string_view word : split(value.text, ',')) {
        if (!trim(word).empty()) member.emplace_back(trim(word));
    }
}

}  // namespace sluice
