// surface/record.h
//
// The records of scontrol show: words of the form Key=Value on several lines or on one, in an order
// that scripts know.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "surface/records.h"

namespace sluice {

using Cell = void (*)(const SheetRow& row, std::string& out);

enum RecordFlag : std::uint8_t {
    kAlways = 0,
    kIfSet = 1 << 0,      // no word where the value is empty
    kIfDetails = 1 << 1,  // only with -d
    kLines = 1 << 2,      // lines of its own, without the key; none where the value is empty
};

struct RecordKey {
    std::string_view key;
    Cell append = nullptr;
    std::uint8_t flags = kAlways;
    bool (*applies)(const SheetRow& row) = nullptr;  // nullptr: to all rows

    constexpr RecordKey when(bool (*condition)(const SheetRow& row)) const {
        return {key, append, flags, condition};
    }
};

// Which keys are on which line. A line without words is left out.
class RecordLayout {
public:
    // Each key has its place on one of the lines: "NodeName Arch CoresPerSocket ". A line that ends
    // with a blank is printed with it.
    RecordLayout(const std::vector<RecordKey>& keys, std::span<const std::string_view> lines);

    void append(const SheetRow& row, const RecordStyle& style, std::string& out) const;

private:
    struct Line {
        std::vector<RecordKey> keys;
        bool ends_with_blank = false;
    };
    std::vector<Line> lines_;
};

// Of "Nodes=n1 Mem=4096", the value that follows "Mem=".
inline std::string_view word_value(std::string_view line, std::string_view name) {
    for (std::string_view word : words(line)) {
        if (word.starts_with(name)) return word.substr(name.size());
    }
    return {};
}

inline std::int64_t or_zero(std::int64_t number) {
    return number == kAbsent ? 0 : number;
}

}  // namespace sluice
