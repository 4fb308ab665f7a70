// model/hostlist.cc: expanding, folding and ordering of host names.
//
// A name is a prefix and the digits it ends with. Folding looks only at neighbours: names with the
// same prefix share a bracket, and numbers that follow each other share a range.
#include "model/hostlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::size_t kDigitsMax = 18;     // always fits 64 bits; digits before these are prefix
constexpr std::size_t kHostNameMax = 255;  // as in DNS; bounds the memory of an expansion

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_separator(char c) {
    return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

Error bad_hostlist(std::string_view text, std::string_view why) {
    return {ErrorCode::InvalidNodeName, fmt::format("Invalid hostlist: {} ({})", text, why)};
}

void append_padded(std::string& out, std::uint64_t number, std::size_t width) {
    fmt::format_int digits(number);
    if (digits.size() < width) out.append(width - digits.size(), '0');
    out.append(digits.data(), digits.size());
}

// One "[...]" part of an entry, or the text between two of them.
struct Range {
    std::uint64_t first, last;
    std::size_t width;
};
struct Part {
    std::string_view literal;
    std::vector<Range> ranges;  // empty: literal

    std::uint64_t count() const {
        if (ranges.empty()) return 1;
        std::uint64_t total = 0;
        for (const Range& range : ranges) total += range.last - range.first + 1;
        return total;
    }
    std::size_t length_max() const {
        std::size_t most = literal.size();
        for (const Range& range : ranges) {
            most = std::max({most, range.width, fmt::format_int(range.last).size()});
        }
        return most;
    }
};

// "01-03": the first number's digits say how wide all of them are printed.
std::optional<Range> parse_range(std::string_view text) {
    std::size_t dash = text.find('-');
    std::string_view low = text.substr(0, dash);
    std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
    if (low.size() > kDigitsMax || high.size() > kDigitsMax) return {};
    std::optional<std::uint64_t> first = to_number(low), last = to_number(high);
    if (!first || !last || *first > *last) return {};
    if (*last - *first >= kHostlistSizeMax) return {};
    return Range{*first, *last, low.size()};
}

Result<Part> parse_brackets(std::string_view inside, std::string_view whole) {
    Part part;
    for (std::string_view piece : split(inside, ',')) {
        std::optional<Range> range = parse_range(piece);
        if (!range) return bad_hostlist(whole, fmt::format("bad or too long range \"{}\"", piece));
        part.ranges.push_back(*range);
    }
    return part;
}

Result<std::vector<Part>> parse_entry(std::string_view entry, std::string_view whole) {
    std::vector<Part> parts;
    while (!entry.empty()) {
        std::size_t open = entry.find('[');
        std::string_view literal = entry.substr(0, open);
        if (literal.find(']') != std::string_view::npos) {
            return bad_hostlist(whole, "\"]\" without \"[\"");
        }
        if (!literal.empty()) parts.push_back({literal, {}});
        if (open == std::string_view::npos) break;
        std::size_t close = entry.find(']', open);
        if (close == std::string_view::npos) return bad_hostlist(whole, "\"[\" without \"]\"");
        parts.push_back(TRY(parse_brackets(entry.substr(open + 1, close - open - 1), whole)));
        entry.remove_prefix(close + 1);
    }
    return parts;
}

void expand(const std::vector<Part>& parts, std::size_t index, std::string& name,
            std::vector<std::string>& names) {
    if (index == parts.size()) {
        names.push_back(name);
        return;
    }
    const Part& part = parts[index];
    std::size_t length = name.size();
    if (part.ranges.empty()) {
        name += part.literal;
        expand(parts, index + 1, name, names);
        name.resize(length);
    }
    for (const Range& range : part.ranges) {
        for (std::uint64_t number = range.first; number <= range.last; ++number) {
            append_padded(name, number, range.width);
            expand(parts, index + 1, name, names);
            name.resize(length);
        }
    }
}

Result<void> check_size(const std::vector<Part>& parts, std::size_t already,
                        std::string_view whole) {
    std::uint64_t count = 1;
    std::size_t length = 0;
    for (const Part& part : parts) {
        count *= part.count();
        length += part.length_max();
        if (count > kHostlistSizeMax - already) return bad_hostlist(whole, "too many hosts");
        if (length > kHostNameMax) return bad_hostlist(whole, "host name too long");
    }
    return {};
}

// The end of the entry that starts at `start`: separators inside brackets do not count.
std::size_t entry_end(std::string_view text, std::size_t start) {
    bool inside = false;
    for (std::size_t i = start; i < text.size(); ++i) {
        if (text[i] == '[') inside = true;
        if (text[i] == ']') inside = false;
        if (!inside && is_separator(text[i])) return i;
    }
    return text.size();
}

struct Split {
    std::string_view prefix, digits;
};
Split split_name(std::string_view name) {
    std::size_t start = name.size();
    while (start > 0 && is_digit(name[start - 1])) --start;
    return {name.substr(0, start), name.substr(start)};
}

// Collects neighbours with the same prefix until another prefix follows.
class Folder {
public:
    void add(std::string_view name) {
        auto [prefix, digits] = split_name(name);
        if (digits.size() > kDigitsMax) {
            digits.remove_prefix(digits.size() - kDigitsMax);
            prefix = name.substr(0, name.size() - kDigitsMax);
        }
        if (digits.empty()) {
            flush();
            text_.append(text_.empty() ? "" : ",").append(name);
            return;
        }
        if (prefix != prefix_) flush();
        prefix_ = prefix;
        std::uint64_t number = *to_number(digits);
        if (ranges_.empty() || !follows(number, digits)) {
            ranges_.push_back({number, number, digits.size()});
        }
        ranges_.back().last = number;
    }

    std::string take() {
        flush();
        return std::move(text_);
    }

private:
    // Whether the range would print this number with exactly these digits.
    bool follows(std::uint64_t number, std::string_view digits) const {
        const Range& range = ranges_.back();
        if (number != range.last + 1) return false;
        return digits.size() == range.width || (digits.size() > range.width && digits[0] != '0');
    }

    void flush() {
        if (ranges_.empty()) return;
        if (!text_.empty()) text_ += ',';
        text_ += prefix_;
        bool single = ranges_.size() == 1 && ranges_[0].first == ranges_[0].last;
        if (!single) text_ += '[';
        for (const Range& range : ranges_) {
            if (&range != &ranges_.front()) text_ += ',';
            append_padded(text_, range.first, range.width);
            if (range.last == range.first) continue;
            text_ += '-';
            append_padded(text_, range.last, range.width);
        }
        if (!single) text_ += ']';
        ranges_.clear();
    }

    std::string text_;
    std::string_view prefix_;
    std::vector<Range> ranges_;
};

std::string_view leading_digits(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end])) ++end;
    return text.substr(0, end);
}

// Compat: numbers inside a prefix compare by value, but like decimal fractions once one of them
// starts with a zero (n01x, n010x, n02x, n1x, n2x, n10x).
int compare_numbers(std::string_view a, std::string_view b) {
    if (a[0] != '0' && b[0] != '0' && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
}

int compare_prefixes(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        if (is_digit(a[0]) && is_digit(b[0])) {
            std::string_view left = leading_digits(a), right = leading_digits(b);
            if (int order = compare_numbers(left, right)) return order;
            a.remove_prefix(left.size());
            b.remove_prefix(right.size());
            continue;
        }
        if (a[0] != b[0]) {
            return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]) ? -1 : 1;
        }
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    return static_cast<int>(b.empty()) - static_cast<int>(a.empty());
}

}  // namespace

Result<Hostlist> Hostlist::parse(std::string_view text) {
    std::vector<std::string> names;
    std::string name;
    for (std::size_t start = 0; start < text.size();) {
        std::size_t end = entry_end(text, start);
        std::vector<Part> parts = TRY(parse_entry(text.substr(start, end - start), text));
        if (!parts.empty()) {
            TRY(check_size(parts, names.size(), text));
            expand(parts, 0, name, names);
        }
        start = end + 1;
    }
    return Hostlist(std::move(names));
}

bool Hostlist::contains(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::string Hostlist::to_string() const {
    Folder folder;
    for (const std::string& name : names_) folder.add(name);
    return folder.take();
}

Hostlist Hostlist::sorted() const {
    std::vector<std::string> names = names_;
    std::sort(names.begin(), names.end(), host_less);
    return Hostlist(std::move(names));
}

Hostlist Hostlist::united(const Hostlist& other) const {
    std::vector<std::string> names = names_;
    names.insert(names.end(), other.names_.begin(), other.names_.end());
    std::sort(names.begin(), names.end(), host_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return Hostlist(std::move(names));
}

Hostlist Hostlist::without(const Hostlist& other) const {
    std::unordered_set<std::string_view> gone(other.names_.begin(), other.names_.end());
    std::vector<std::string> names;
    for (const std::string& name : names_) {
        if (!gone.contains(name)) names.push_back(name);
    }
    return Hostlist(std::move(names));
}

bool host_less(std::string_view a, std::string_view b) {
    Split left = split_name(a), right = split_name(b);
    if (left.prefix != right.prefix) return compare_prefixes(left.prefix, right.prefix) < 0;
    if (left.digits.size() != right.digits.size()) return left.digits.size() < right.digits.size();
    return left.digits < right.digits;
}

}  // namespace sluice
