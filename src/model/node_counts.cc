// See node_counts.h.
#include "model/node_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

Error no_count(std::string_view text) {
    return {ErrorCode::BadArgument, fmt::format("\"{}\" is not a valid node count", text)};
}

// One of the numbers in `whole`.
Result<std::uint32_t> count_in(std::string_view text, std::string_view whole) {
    std::optional<std::uint64_t> number = to_number(text);
    if (!number || *number > std::numeric_limits<std::int32_t>::max())
        return no_count(text.empty() ? whole : text);
    return static_cast<std::uint32_t>(*number);
}

}  // namespace

Result<TaskSet> parse_node_sizes(std::string_view text) {
    for (std::string_view word : split(text, ',')) {
        if (word.empty()) return no_count(text);
    }
    Result<TaskSet> sizes = TaskSet::parse(text);
    if (!sizes || sizes->empty()) return no_count(text);
    if (sizes->first() == 0) return Error{ErrorCode::InvalidNodeCount, ""};
    return sizes;
}

Result<WantedNodes> parse_node_counts(std::string_view text) {
    WantedNodes counts;
    if (text.find_first_of(",:") != std::string_view::npos) {
        TaskSet sizes = TRY(parse_node_sizes(text));
        counts.min = sizes.first();
        counts.max = sizes.last();
        if (sizes.size() <= counts.max - counts.min) counts.sizes = text;
        return counts;
    }
    const std::size_t dash = text.find('-');
    counts.min = TRY(count_in(text.substr(0, dash), text));
    counts.max = counts.min;
    if (dash != std::string_view::npos) counts.max = TRY(count_in(text.substr(dash + 1), text));
    if (counts.max < counts.min) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("Maximum node count {} is less than minimum node count {}",
                                 counts.max, counts.min)};
    }
    if (counts.min == 0) return Error{ErrorCode::InvalidNodeCount, ""};
    return counts;
}

std::uint32_t next_size(const TaskSet& sizes, std::uint32_t least) {
    for (const TaskSet::Range& range : sizes.ranges()) {
        if (range.last < least) continue;
        if (range.first >= least) return range.first;
        const std::uint32_t steps = (least - range.first + range.step - 1) / range.step;
        return range.first + steps * range.step;
    }
    return 0;
}

std::uint32_t last_size(const TaskSet& sizes, std::uint32_t most) {
    std::uint32_t found = 0;
    for (const TaskSet::Range& range : sizes.ranges()) {
        if (range.first > most) break;
        const std::uint32_t last = std::min(range.last, most);
        found = std::max(found, range.first + (last - range.first) / range.step * range.step);
    }
    return found;
}

}  // namespace sluice
