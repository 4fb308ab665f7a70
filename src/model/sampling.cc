// model/sampling.cc
#include "model/sampling.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::uint64_t kIntervalMost = 365 * 24 * 3600;
constexpr std::string_view kOtherKinds[] = {"energy", "network", "filesystem"};

bool is_other_kind(std::string_view name) {
    for (std::string_view each : kOtherKinds) {
        if (equals_ignoring_case(each, name)) return true;
    }
    return false;
}

}  // namespace

Result<std::optional<Seconds>> parse_task_sampling(std::string_view text) {
    const Error bad{ErrorCode::BadArgument,
                    fmt::format("Invalid --acctg-freq specification: {}", text)};
    std::optional<Seconds> task;
    if (text.empty()) return task;
    for (std::string_view part : split(text, ',')) {
        const std::size_t equals = part.find('=');
        const std::string_view name =
            equals == std::string_view::npos ? "task" : part.substr(0, equals);
        const std::string_view number =
            equals == std::string_view::npos ? part : part.substr(equals + 1);
        const std::optional<std::uint64_t> seconds = to_number(number);
        if (!seconds || *seconds > kIntervalMost) return bad;
        if (equals_ignoring_case(name, "task")) {
            task = Seconds{static_cast<std::int64_t>(*seconds)};
        } else if (!is_other_kind(name)) {
            return bad;
        }
    }
    return task;
}

}  // namespace sluice
