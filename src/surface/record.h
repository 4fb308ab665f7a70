// surface/record.h
//
// A record under construction: words on lines, or all on one line.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "surface/records.h"

namespace sluice {

class Record {
public:
    Record(std::string& out, const RecordStyle& style) : out_(out), style_(style) {}
    ~Record() { out_ += style_.one_line ? "\n" : "\n\n"; }
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;

    // Text of the line that is open.
    template <typename... Args>
    void add(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    }
    // Opens the next line.
    template <typename... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        out_ += style_.one_line ? " " : "\n   ";
        add(format, std::forward<Args>(args)...);
    }

private:
    std::string& out_;
    const RecordStyle& style_;
};

// Of "Nodes=n1 Mem=4096", the value that follows "Mem=".
inline std::string_view word_value(std::string_view line, std::string_view name) {
    for (std::string_view word : words(line)) {
        if (word.starts_with(name)) return word.substr(name.size());
    }
    return {};
}

inline std::string_view or_null(std::string_view text) {
    return text.empty() ? "(null)" : text;
}
inline std::int64_t or_zero(std::int64_t number) {
    return number == kAbsent ? 0 : number;
}

inline std::string moment_text(std::int64_t time, std::string_view if_none, const Looks& looks) {
    std::string text;
    append_moment(time, if_none, looks, text);
    return text;
}
inline std::string long_duration_text(std::int64_t seconds, std::string_view if_none) {
    if (seconds == kAbsent) return std::string(if_none);
    std::string text;
    append_long_duration(seconds, text);
    return text;
}
inline std::string memory_text(std::int64_t megabytes, const Looks& looks) {
    std::string text;
    append_memory(megabytes, looks, text);
    return text;
}

}  // namespace sluice
