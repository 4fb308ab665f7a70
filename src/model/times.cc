// model/times.cc: lengths of time, and the printing of times. Parsing times: moment.cc.
#include "model/times.h"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <optional>
#include <vector>

#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"

namespace sluice {

namespace {

constexpr std::uint64_t kLimitMax = sizes::kTimeLimit;

Error bad_limit(std::string_view text) {
    return {ErrorCode::BadArgument, fmt::format("time limit \"{}\"", text)};
}

// The numbers between the colons, at most `most` of them; none may be empty.
std::optional<std::vector<std::uint64_t>> clock_numbers(std::string_view text, std::size_t most) {
    std::vector<std::uint64_t> numbers;
    for (std::string_view piece : split(text, ':')) {
        std::optional<std::uint64_t> number = to_number(piece);
        if (!number || *number > kLimitMax || numbers.size() == most) return {};
        numbers.push_back(*number);
    }
    return numbers;
}

// "d-h", "d-h:m", "d-h:m:s"; Compat: also "d-".
std::optional<std::uint64_t> parse_with_days(std::string_view days, std::string_view clock) {
    std::optional<std::uint64_t> total = to_number(days);
    if (!total || *total > kLimitMax) return {};
    *total *= 86400;
    if (clock.empty()) return total;
    auto numbers = clock_numbers(clock, 3);
    if (!numbers) return {};
    std::uint64_t unit = 3600;
    for (std::uint64_t number : *numbers) {
        *total += number * unit;
        unit /= 60;
    }
    return total;
}

// "m", "m:s", "h:m:s".
std::optional<std::uint64_t> parse_without_days(std::string_view clock) {
    auto numbers = clock_numbers(clock, 3);
    if (!numbers) return {};
    const std::vector<std::uint64_t>& n = *numbers;
    if (n.size() == 1) return n[0] * 60;
    if (n.size() == 2) return n[0] * 60 + n[1];
    return n[0] * 3600 + n[1] * 60 + n[2];
}

std::tm local(Time time) {
    std::time_t seconds = to_unix(time);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return parts;
}

// A format may expand to nothing ("%p" in some locales), which looks like a full buffer: so one
// more character is appended and removed again.
std::string formatted(const std::tm& parts, std::string_view format) {
    constexpr std::size_t kLengthMax = 4096;
    std::string marked = std::string(format) + " ";
    std::array<char, kLengthMax> buffer;
    std::size_t length = std::strftime(buffer.data(), buffer.size(), marked.c_str(), &parts);
    return length == 0 ? std::string() : std::string(buffer.data(), length - 1);
}

// The day of the calendar, as a number of days.
std::int64_t day_number(const std::tm& parts) {
    using namespace std::chrono;
    year_month_day date{year(parts.tm_year + 1900), month(static_cast<unsigned>(parts.tm_mon + 1)),
                        day(static_cast<unsigned>(parts.tm_mday))};
    return sys_days(date).time_since_epoch().count();
}

std::string print_relative(Time time, Time now) {
    std::tm parts = local(time), today = local(now);
    std::int64_t days = day_number(parts) - day_number(today);
    if (days == 0) return formatted(parts, "%H:%M:%S");
    if (days == 1) return formatted(parts, "Tomorr %H:%M");
    if (days == -1) return formatted(parts, "Ystday %H:%M");
    if (parts.tm_year != today.tm_year) return formatted(parts, "%-d %b %Y");
    if (days > 1 && days < 7) return formatted(parts, "%a %H:%M");
    return formatted(parts, "%-d %b %H:%M");
}

}  // namespace

Result<TimeLimit> parse_time_limit(std::string_view text) {
    if (text == "-1" || equals_ignoring_case(text, "unlimited") ||
        equals_ignoring_case(text, "infinite")) {
        return TimeLimit();
    }
    std::size_t dash = text.find('-');
    std::optional<std::uint64_t> seconds =
        dash == std::string_view::npos
            ? parse_without_days(text)
            : parse_with_days(text.substr(0, dash), text.substr(dash + 1));
    if (!seconds || *seconds > kLimitMax) return bad_limit(text);
    return TimeLimit(Seconds(*seconds));
}

Result<TimeLimit> parse_job_time_limit(std::string_view text) {
    TimeLimit limit = TRY(parse_time_limit(text));
    if (limit.unlimited()) return limit;
    return TimeLimit(Seconds((limit.length().count() + 59) / 60 * 60));
}

std::string print_time_limit(TimeLimit limit) {
    return limit.unlimited() ? "UNLIMITED" : print_duration(limit.length());
}

std::string print_duration_short(Seconds length) {
    std::int64_t seconds = length.count();
    if (seconds < 0) return "INVALID";
    if (seconds >= 86400) return print_duration(length);
    if (seconds >= 3600) {
        return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

std::string print_duration(Seconds length) {
    std::int64_t seconds = length.count();
    if (seconds < 0) return "INVALID";
    std::string clock =
        fmt::format("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    return seconds < 86400 ? clock : fmt::format("{}-{}", seconds / 86400, clock);
}

std::string print_moment(Time time) {
    return formatted(local(time), "%Y-%m-%dT%H:%M:%S");
}

std::string print_moment(Time time, std::string_view slurm_time_format, Time now) {
    if (slurm_time_format.empty() || slurm_time_format == "standard") return print_moment(time);
    if (slurm_time_format == "relative") return print_relative(time, now);
    return formatted(local(time), slurm_time_format);
}

}  // namespace sluice
