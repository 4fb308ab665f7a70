#include "cli/common/limits.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

struct Limit {
    std::string_view name;
    __rlimit_resource resource;
};
constexpr Limit kLimits[] = {
    {"CPU", RLIMIT_CPU},         {"FSIZE", RLIMIT_FSIZE},   {"DATA", RLIMIT_DATA},
    {"STACK", RLIMIT_STACK},     {"CORE", RLIMIT_CORE},     {"RSS", RLIMIT_RSS},
    {"NPROC", RLIMIT_NPROC},     {"NOFILE", RLIMIT_NOFILE}, {"AS", RLIMIT_AS},
    {"MEMLOCK", RLIMIT_MEMLOCK},
};

// Names may carry RLIMIT_ in front.
bool is_in(std::string_view list, std::string_view name) {
    for (std::string_view word : split(list, ',')) {
        if (starts_with_ignoring_case(word, "RLIMIT_")) word.remove_prefix(7);
        if (equals_ignoring_case(word, "ALL") || equals_ignoring_case(word, name)) return true;
    }
    return false;
}

bool is_known(std::string_view word) {
    return equals_ignoring_case(word, "ALL") || equals_ignoring_case(word, "NONE") ||
           std::any_of(std::begin(kLimits), std::end(kLimits),
                       [&](const Limit& limit) { return is_in(word, limit.name); });
}

}  // namespace

Result<std::vector<std::pair<std::string, std::uint64_t>>> limits_to_propagate(
    std::string_view propagate, std::string_view except) {
    for (std::string_view word : split(propagate, ',')) {
        if (is_known(word)) continue;
        return Error{
            ErrorCode::NotSupported,
            fmt::format("Bad rlimit name: {}\n--propagate={} is not valid.", word, propagate)};
    }
    std::vector<std::pair<std::string, std::uint64_t>> limits;
    for (const Limit& limit : kLimits) {
        if (!is_in(propagate, limit.name) || is_in(except, limit.name)) continue;
        rlimit value{};
        if (getrlimit(limit.resource, &value) == 0) limits.emplace_back(limit.name, value.rlim_cur);
    }
    return limits;
}

}  // namespace sluice
