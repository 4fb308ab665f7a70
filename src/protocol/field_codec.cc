#include "protocol/field_codec.h"

namespace sluice::field_codec {

void put_varint(std::uint64_t value, std::string& out) {
    while (value >= 0x80) {
        out.push_back(static_cast<char>(value | 0x80));
        value >>= 7;
    }
    out.push_back(static_cast<char>(value));
}

void put_key(std::uint32_t number, Kind kind, std::string& out) {
    put_varint(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(kind), out);
}

void put_bytes(std::uint32_t number, std::string_view bytes, std::string& out) {
    put_key(number, Kind::Bytes, out);
    put_varint(bytes.size(), out);
    out.append(bytes);
}

std::optional<std::uint64_t> Reader::varint() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
        const auto byte = static_cast<unsigned char>(rest_[i]);
        value |= std::uint64_t{byte & 0x7fu} << (7 * i);
        if (byte & 0x80) continue;
        rest_.remove_prefix(i + 1);
        return value;
    }
    return std::nullopt;
}

bool Reader::next() {
    if (rest_.empty() || damaged_) return false;
    damaged_ = true;  // until the whole entry was read
    const std::optional<std::uint64_t> key = varint();
    if (!key || *key >> 3 > std::numeric_limits<std::uint32_t>::max()) return false;
    number_ = static_cast<std::uint32_t>(*key >> 3);
    kind_ = static_cast<Kind>(*key & 7);
    bytes_ = {};
    value_ = 0;
    if (kind_ == Kind::Varint) {
        const std::optional<std::uint64_t> value = varint();
        if (!value) return false;
        value_ = *value;
    } else if (kind_ == Kind::Bytes) {
        const std::optional<std::uint64_t> size = varint();
        if (!size || *size > rest_.size()) return false;
        bytes_ = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
    } else if (kind_ == Kind::Fixed64 || kind_ == Kind::Fixed32) {
        const std::size_t size = kind_ == Kind::Fixed64 ? 8 : 4;
        if (rest_.size() < size) return false;
        for (std::size_t i = 0; i < size; ++i) {
            value_ |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
        }
        rest_.remove_prefix(size);
    } else {
        return false;
    }
    damaged_ = false;
    return true;
}

void put(std::uint32_t number, const TaskSet& tasks, std::string& out) {
    std::string inner;
    for (const TaskSet::Range& range : tasks.ranges()) {
        for (const std::uint32_t part : {range.first, range.last, range.step}) {
            put_varint(part, inner);
        }
    }
    put_bytes(number, inner, out);
}

bool get(const Reader& entry, const FieldLimits&, TaskSet& tasks) {
    if (entry.kind() != Kind::Bytes) return false;
    Reader inner(entry.bytes());
    std::vector<TaskSet::Range> ranges;
    while (!inner.at_end()) {
        TaskSet::Range& range = ranges.emplace_back();
        for (std::uint32_t* part : {&range.first, &range.last, &range.step}) {
            const std::optional<std::uint64_t> value = inner.varint();
            if (!value || !from_varint(*value, *part)) return false;
        }
    }
    std::optional<TaskSet> made = TaskSet::from_ranges(ranges);
    if (made) tasks = *std::move(made);
    return made.has_value();
}

}  // namespace sluice::field_codec
