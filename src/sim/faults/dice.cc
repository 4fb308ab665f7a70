// A trace is a text: "key value" lines, then one line per stream, "name: 0*12 3 1". "3*12": twelve
// times 3. Lines with # are comments.
#include "sim/faults/dice.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

std::string print_rolls(const std::vector<std::uint64_t>& rolls) {
    std::string text;
    for (std::size_t i = 0; i < rolls.size();) {
        std::size_t count = 1;
        while (i + count < rolls.size() && rolls[i + count] == rolls[i]) ++count;
        text += fmt::format(" {}", rolls[i]);
        if (count > 1) text += fmt::format("*{}", count);
        i += count;
    }
    return text;
}

Error no_trace(std::string_view line) {
    return {ErrorCode::ProtocolError, fmt::format("no line of a trace: '{}'", line)};
}

Result<std::uint64_t> number_in(std::string_view text, std::string_view line) {
    const std::optional<std::uint64_t> number = to_number(text);
    if (!number) return no_trace(line);
    return *number;
}

Result<void> add_rolls(std::string_view words_of_line, std::string_view line,
                       std::vector<std::uint64_t>& rolls) {
    constexpr std::size_t kRollsMost = 10'000'000;
    for (const std::string_view word : words(words_of_line)) {
        const std::size_t star = word.find('*');
        const std::uint64_t value = TRY(number_in(word.substr(0, star), line));
        std::uint64_t count = 1;
        if (star != std::string_view::npos) count = TRY(number_in(word.substr(star + 1), line));
        if (count > kRollsMost - rolls.size()) return no_trace(line);
        rolls.insert(rolls.end(), count, value);
    }
    return {};
}

Result<void> set_key(FaultTrace& trace, std::string_view key, std::uint64_t value,
                     std::string_view line) {
    if (key == "seed")
        trace.seed = value;
    else if (key == "nodes")
        trace.nodes = static_cast<std::uint32_t>(value);
    else if (key == "jobs")
        trace.jobs = static_cast<std::uint32_t>(value);
    else if (key == "controllers")
        trace.controllers = static_cast<std::uint32_t>(value);
    else if (key == "preemption")
        trace.with_preemption = value != 0;
    else if (key == "qos")
        trace.by_qos = value != 0;
    else if (key == "wide")
        trace.wide = value != 0;
    else
        return no_trace(line);
    return {};
}

}  // namespace

std::string print_fault_trace(const FaultTrace& trace) {
    std::string text = fmt::format(
        "seed {}\nnodes {}\njobs {}\ncontrollers {}\npreemption {:d}\nqos {:d}\nwide {:d}\n",
        trace.seed, trace.nodes, trace.jobs, trace.controllers, trace.with_preemption, trace.by_qos,
        trace.wide);
    for (const auto& [name, rolls] : trace.rolls) {
        if (!rolls.empty()) text += fmt::format("{}:{}\n", name, print_rolls(rolls));
    }
    return text;
}

Result<FaultTrace> parse_fault_trace(std::string_view text) {
    FaultTrace trace;
    for (const std::string_view line : split(text, '\n')) {
        if (line.empty() || line.starts_with('#')) continue;
        if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
            auto& rolls = trace.rolls[std::string(line.substr(0, colon))];
            TRY(add_rolls(line.substr(colon + 1), line, rolls));
            continue;
        }
        const std::vector<std::string_view> pair = words(line);
        if (pair.size() != 2) return no_trace(line);
        const std::uint64_t value = TRY(number_in(pair[1], line));
        TRY(set_key(trace, pair[0], value, line));
    }
    constexpr std::uint32_t kMost = 10'000;
    if (trace.nodes == 0 || trace.nodes > kMost || trace.jobs > kMost)
        return no_trace("nodes, jobs");
    if (trace.controllers < 1 || trace.controllers > 2) return no_trace("controllers");
    return trace;
}

}  // namespace sluice
