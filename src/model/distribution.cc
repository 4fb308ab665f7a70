#include "model/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

using Kind = Distribution::Kind;

constexpr std::string_view kPlane = "plane=";

Error wrong_plane() {
    return {ErrorCode::BadArgument, "Invalid plane size or size not specified"};
}

bool is_among(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// Tasks that a node gets before it is the turn of the next one.
std::uint32_t turn_of(const Distribution& distribution) {
    switch (distribution.kind) {
        case Kind::Cyclic:
            return 1;
        case Kind::Plane:
            return std::max(1u, distribution.plane_size);
        case Kind::Block:
        case Kind::Arbitrary:
            break;
    }
    return std::numeric_limits<std::uint32_t>::max();
}

// Gives tasks to the nodes in turns, up to a limit of each. A node that has none yet is not left
// without one.
void deal(std::uint32_t& left, std::vector<std::uint32_t>& counts,
          const std::vector<std::uint32_t>& limits, std::uint32_t turn) {
    while (left > 0) {
        std::uint64_t open = 0;
        std::uint32_t empty = 0;  // that are still to come in this round
        for (std::size_t i = 0; i < counts.size(); ++i) {
            if (counts[i] >= limits[i]) continue;
            ++open;
            if (counts[i] == 0) ++empty;
        }
        if (open == 0) return;
        const std::uint64_t rounds = std::max<std::uint64_t>(1, left / (open * turn));
        for (std::size_t i = 0; i < counts.size() && left > 0; ++i) {
            if (counts[i] >= limits[i]) continue;
            if (counts[i] == 0) --empty;
            const std::uint32_t spare = left > empty ? left - empty : counts[i] == 0 ? 1 : 0;
            const std::uint64_t more =
                std::min<std::uint64_t>({spare, limits[i] - counts[i], rounds * turn});
            counts[i] += static_cast<std::uint32_t>(more);
            left -= static_cast<std::uint32_t>(more);
        }
    }
}

}  // namespace

Result<std::string> parse_distribution(std::string_view given) {
    const std::string text = to_lower(given);
    if (text.starts_with("plane")) {
        std::optional<std::uint64_t> size;
        if (text.starts_with(kPlane)) size = to_number(text.substr(kPlane.size()));
        if (!size || *size == 0 || *size > std::numeric_limits<std::int32_t>::max()) {
            return wrong_plane();
        }
        return text;
    }
    const std::size_t comma = std::min(text.find(','), text.size());
    std::vector<std::string_view> parts = split(std::string_view(text).substr(0, comma), ':');
    std::string packing = text.substr(comma);
    if (packing.empty() && parts.size() == 1 && is_among(parts[0], {"pack", "nopack"})) {
        packing = fmt::format(",{}", parts[0]);
        parts[0] = "*";
    }
    if (text == "arbitrary") return text;
    if (parts.size() > 1 && parts.back().empty()) parts.pop_back();
    bool is_valid = parts.size() <= 3 && is_among(parts[0], {"*", "block", "cyclic"}) &&
                    is_among(packing, {"", ",pack", ",nopack"});
    for (std::size_t i = 0; i < parts.size() && is_valid; ++i) {
        is_valid = is_among(parts[i], {"*", "block", "cyclic", "fcyclic"});
        if (parts[i] == "*") parts[i] = i == 0 ? "block" : i == 1 ? "cyclic" : parts[1];
    }
    if (!is_valid) return Error{ErrorCode::BadArgument, ""};
    return fmt::format("{}{}", fmt::join(parts, ":"), packing);
}

Distribution distribution_of(std::string_view normalized) {
    if (normalized.starts_with(kPlane)) {
        const std::uint64_t size = to_number(normalized.substr(kPlane.size())).value_or(1);
        return {Kind::Plane, static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
                                 size, 1, std::numeric_limits<std::int32_t>::max()))};
    }
    if (normalized.starts_with("cyclic")) return {Kind::Cyclic};
    return {normalized == "arbitrary" ? Kind::Arbitrary : Kind::Block};
}

std::string print_distribution(std::string_view normalized) {
    if (normalized.starts_with(kPlane)) return "Plane";
    if (normalized == "arbitrary") return "arbitrary task distribution";
    const std::size_t comma = std::min(normalized.find(','), normalized.size());
    const std::vector<std::string_view> parts = split(normalized.substr(0, comma), ':');
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i == 0 && parts.size() > 1) {
            text += parts[0] == "cyclic" ? "C" : "B";
        } else {
            text += parts[i] == "block" ? "Block" : parts[i] == "cyclic" ? "Cyclic" : "CFull";
        }
    }
    if (normalized.substr(comma) == ",pack") text += ",Pack";
    if (normalized.substr(comma) == ",nopack") text += ",NoPack";
    return text;
}

std::vector<std::uint32_t> spread_tasks(std::uint32_t tasks, const std::vector<TaskRoom>& rooms,
                                        const Distribution& distribution) {
    std::vector<std::uint32_t> counts(rooms.size()), with_cpus, most;
    for (const TaskRoom& room : rooms) {
        with_cpus.push_back(room.with_cpus);
        most.push_back(room.most);
    }
    if (std::accumulate(most.begin(), most.end(), std::uint64_t{0}) < tasks) return {};
    const std::uint32_t turn = turn_of(distribution);
    if (distribution.kind == Kind::Cyclic && !rooms.empty()) {
        // Compat: in the turn in which the largest node gets its last CPU, every node gets a task.
        const std::uint32_t largest = *std::max_element(with_cpus.begin(), with_cpus.end());
        for (std::uint32_t& each : with_cpus) each = std::min(each, std::max(largest, 1u) - 1);
    }
    deal(tasks, counts, with_cpus, turn);
    deal(tasks, counts, most, distribution.kind == Kind::Plane ? turn : 1);
    return counts;
}

std::vector<std::vector<std::uint32_t>> number_tasks(const std::vector<std::uint32_t>& counts,
                                                     const Distribution& distribution) {
    std::vector<std::vector<std::uint32_t>> numbers(counts.size());
    const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    const std::uint32_t turn = turn_of(distribution);
    std::uint32_t task = 0;
    while (task < total) {
        for (std::size_t node = 0; node < counts.size(); ++node) {
            std::vector<std::uint32_t>& here = numbers[node];
            const std::size_t more = std::min<std::size_t>(turn, counts[node] - here.size());
            for (std::size_t i = 0; i < more; ++i) here.push_back(task++);
        }
    }
    return numbers;
}

}  // namespace sluice
