// See gpu_freq.h.
#include "model/gpu_freq.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::string_view kGpu = "gpu:";

constexpr std::pair<std::string_view, GpuClock::Kind> kWords[] = {
    {"low", GpuClock::Kind::Low},
    {"medium", GpuClock::Kind::Medium},
    {"high", GpuClock::Kind::High},
    {"highm1", GpuClock::Kind::HighMinusOne},
};

std::optional<GpuClock> parse_clock(std::string_view text) {
    for (const auto& [word, kind] : kWords) {
        if (text == word) return GpuClock{kind, 0};
    }
    std::optional<std::uint64_t> number = to_number(text);
    if (!number) return {};
    // Compat: any number is accepted, since the nearest possible one is used.
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    return GpuClock{GpuClock::Kind::Megahertz,
                    static_cast<std::uint32_t>(std::min(*number, kMost))};
}

}  // namespace

Result<GpuFreq> parse_gpu_freq(std::string_view text) {
    const Error bad{ErrorCode::BadArgument,
                    fmt::format("Invalid --gpu-freq argument: {}{}", kGpu, text)};
    GpuFreq freq;
    bool any = false;
    for (std::string_view part : split(text, ',')) {
        if (part.empty()) continue;
        any = true;
        if (part == "verbose") {
            freq.verbose = true;
            continue;
        }
        const std::size_t equals = part.find('=');
        const bool has_type = equals != std::string_view::npos;
        const std::string_view type = has_type ? part.substr(0, equals) : "graphics";
        if (type != "graphics" && type != "memory") return bad;
        std::optional<GpuClock> clock = parse_clock(has_type ? part.substr(equals + 1) : part);
        if (!clock) return bad;
        (type == "memory" ? freq.memory : freq.graphics) = clock;
    }
    if (!any) return bad;
    return freq;
}

Result<GpuFreq> parse_tres_freq(std::string_view text) {
    if (!text.starts_with(kGpu)) {
        return Error{ErrorCode::BadArgument, fmt::format("Invalid --gpu-freq argument: {}", text)};
    }
    return parse_gpu_freq(text.substr(kGpu.size()));
}

std::uint32_t nearest_clock(const GpuClock& demand, std::vector<std::uint32_t> possible) {
    std::sort(possible.begin(), possible.end());
    possible.erase(std::unique(possible.begin(), possible.end()), possible.end());
    const std::size_t last = possible.size() - 1;
    switch (demand.kind) {
        case GpuClock::Kind::Low:
            return possible.front();
        case GpuClock::Kind::Medium:
            return possible[last / 2];
        case GpuClock::Kind::High:
            return possible.back();
        case GpuClock::Kind::HighMinusOne:
            return possible[last > 0 ? last - 1 : 0];
        case GpuClock::Kind::Megahertz:
            break;
    }
    auto distance = [&](std::uint32_t clock) {
        return clock > demand.megahertz ? clock - demand.megahertz : demand.megahertz - clock;
    };
    return *std::min_element(
        possible.begin(), possible.end(),
        [&](std::uint32_t a, std::uint32_t b) { return distance(a) < distance(b); });
}

}  // namespace sluice
