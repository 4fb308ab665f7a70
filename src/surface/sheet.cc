#include "surface/sheet.h"

#include <fmt/format.h>

#include <charconv>

#include "model/quantity.h"
#include "model/times.h"
#include "os/user.h"

namespace sluice {

Sheet::Sheet(const Table& table, const Looks& looks)
    : looks_(&looks),
      rows_(table.rows()),
      strings_(table.strings().data()),
      numbers_(kColumnsMax),
      texts_(kColumnsMax) {
    for (const Table::Column& column : table.columns()) {
        if (column.id >= kColumnsMax) continue;
        numbers_[column.id] = cells_of(column.numbers);
        texts_[column.id] = cells_of(column.texts);
    }
}

std::string_view Sheet::user_name(std::int64_t id) const {
    auto [entry, is_new] = users_.try_emplace(id);
    if (is_new) {
        std::optional<User> user = find_user(static_cast<uid_t>(id));
        entry->second = user ? user->name : fmt::to_string(id);
    }
    return entry->second;
}

std::string_view Sheet::group_name(std::int64_t id) const {
    auto [entry, is_new] = groups_.try_emplace(id);
    if (is_new) entry->second = sluice::group_name(static_cast<gid_t>(id));
    return entry->second;
}

void append_number(std::int64_t number, std::string& out) {
    char digits[24];
    auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
    out.append(digits, end);
}

void append_moment(std::int64_t time, std::string_view if_none, const Looks& looks,
                   std::string& out) {
    if (time == kAbsent || time <= 0 || time == kUnlimited) {
        out += if_none;
    } else if (looks.time_format.empty()) {
        out += print_moment(from_unix(time));
    } else {
        out += print_moment(from_unix(time), looks.time_format, looks.now);
    }
}

// Hot in listings of running jobs, so it goes without the standard library's formatting.
void append_duration(std::int64_t seconds, std::string& out) {
    if (seconds == kUnlimited) {
        out += "UNLIMITED";
        return;
    }
    if (seconds < 0) {
        out += "INVALID";
        return;
    }
    auto two = [&](std::int64_t value) {
        out += static_cast<char>('0' + value / 10);
        out += static_cast<char>('0' + value % 10);
    };
    const std::int64_t days = seconds / 86400, hours = seconds / 3600 % 24;
    if (days) {
        append_number(days, out);
        out += '-';
        two(hours);
        out += ':';
        two(seconds / 60 % 60);
    } else if (hours) {
        append_number(hours, out);
        out += ':';
        two(seconds / 60 % 60);
    } else {
        append_number(seconds / 60, out);
    }
    out += ':';
    two(seconds % 60);
}

void append_long_duration(std::int64_t seconds, std::string& out) {
    if (seconds == kUnlimited) {
        out += "UNLIMITED";
        return;
    }
    if (seconds < 0) seconds = 0;
    if (seconds >= 86400) fmt::format_to(std::back_inserter(out), "{}-", seconds / 86400);
    fmt::format_to(std::back_inserter(out), "{:02}:{:02}:{:02}", seconds / 3600 % 24,
                   seconds / 60 % 60, seconds % 60);
}

void append_memory(std::int64_t megabytes, const Looks& looks, std::string& out) {
    if (megabytes == kAbsent || megabytes == 0) {
        out += '0';
    } else if (looks.convert_units) {
        out += print_memory(static_cast<Megabytes>(megabytes));
    } else {
        append_number(megabytes, out);
        out += 'M';
    }
}

}  // namespace sluice
