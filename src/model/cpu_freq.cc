#include "model/cpu_freq.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::string_view kGovernors[] = {"Conservative", "OnDemand",  "Performance",
                                           "PowerSave",    "SchedUtil", "UserSpace"};
constexpr std::pair<std::string_view, CpuClock::Kind> kClockWords[] = {
    {"low", CpuClock::Kind::Low},
    {"medium", CpuClock::Kind::Medium},
    {"highm1", CpuClock::Kind::HighMinusOne},
    {"high", CpuClock::Kind::High}};
constexpr const char* kClocks = "a number of kilohertz, low, medium, highm1 or high";
constexpr const char* kForms =
    "P1[-P2[:GOVERNOR]] or GOVERNOR; P is a number of kilohertz, low, medium, highm1 or high";

Error expected(std::string what) {
    return {ErrorCode::BadArgument, std::move(what)};
}

std::optional<CpuClock> parse_clock(std::string_view text) {
    for (const auto& [word, kind] : kClockWords) {
        if (equals_ignoring_case(word, text)) return CpuClock{kind};
    }
    const std::optional<std::uint64_t> number = to_number(text);
    if (!number || *number == 0 || *number > std::numeric_limits<std::uint32_t>::max()) return {};
    return CpuClock{CpuClock::Kind::Kilohertz, static_cast<std::uint32_t>(*number)};
}

std::string_view find_governor(std::string_view text) {
    for (std::string_view each : kGovernors) {
        if (equals_ignoring_case(each, text)) return each;
    }
    return {};
}

// As far as it can be seen before the frequencies of the CPU are known.
bool is_below(const CpuClock& a, const CpuClock& b) {
    using Kind = CpuClock::Kind;
    if (a.kind == Kind::Kilohertz && b.kind == Kind::Kilohertz) return a.kilohertz < b.kilohertz;
    if (a.kind == Kind::Kilohertz || b.kind == Kind::Kilohertz)
        return b.kind != Kind::Low && a.kind != Kind::High;
    return a.kind < b.kind;
}

}  // namespace

Result<CpuFreq> parse_cpu_freq(std::string_view text) {
    CpuFreq freq;
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos) {
        freq.governor = find_governor(text);
        if (!freq.governor.empty()) return freq;
        freq.speed = parse_clock(text);
        if (!freq.speed) return expected(kForms);
        freq.governor = "UserSpace";
        return freq;
    }
    std::string_view second = text.substr(dash + 1);
    if (const std::size_t colon = second.find(':'); colon != std::string_view::npos) {
        freq.governor = find_governor(second.substr(colon + 1));
        if (freq.governor.empty())
            return expected(
                "a governor after the colon: Conservative, OnDemand, Performance, "
                "PowerSave, SchedUtil or UserSpace");
        second = second.substr(0, colon);
    }
    freq.least = parse_clock(text.substr(0, dash));
    freq.most = parse_clock(second);
    if (!freq.least || !freq.most) return expected(kClocks);
    if (!is_below(*freq.least, *freq.most)) return expected("a second frequency above the first");
    return freq;
}

std::string forbidden_governor(const CpuFreq& freq, std::string_view allowed) {
    if (freq.governor.empty()) return {};
    for (std::string_view each : split(allowed, ',')) {
        if (equals_ignoring_case(trim(each), freq.governor)) return {};
    }
    return freq.governor;
}

std::uint32_t nearest_frequency(const CpuClock& demand, std::vector<std::uint32_t> possible) {
    std::sort(possible.begin(), possible.end());
    switch (demand.kind) {
        case CpuClock::Kind::Low:
            return possible.front();
        case CpuClock::Kind::Medium:
            return possible[(possible.size() - 1) / 2];
        case CpuClock::Kind::HighMinusOne:
            return possible[possible.size() - std::min<std::size_t>(2, possible.size())];
        case CpuClock::Kind::High:
            return possible.back();
        case CpuClock::Kind::Kilohertz:
            break;
    }
    return *std::min_element(
        possible.begin(), possible.end(), [&](std::uint32_t a, std::uint32_t b) {
            const auto distance = [&](std::uint32_t each) {
                return each > demand.kilohertz ? each - demand.kilohertz : demand.kilohertz - each;
            };
            return distance(a) < distance(b);
        });
}

}  // namespace sluice
