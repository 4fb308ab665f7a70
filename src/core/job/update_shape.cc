#include "core/job/update_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "model/errors.h"
#include "model/features.h"
#include "model/times.h"

namespace sluice {

namespace {

struct Change {
    std::string_view key;
    const std::string& value;
};

Error bad(const Change& change) {
    return {ErrorCode::BadArgument, fmt::format("{}={}", change.key, change.value)};
}

Result<std::uint32_t> number(const Change& change, std::string_view text) {
    constexpr std::uint64_t kMost = 1u << 30;
    std::optional<std::uint64_t> value = to_number(text);
    if (!value || *value > kMost) return bad(change);
    return static_cast<std::uint32_t>(*value);
}

// Compat: zero removes the request.
template <std::optional<std::uint32_t> Shape::*Member>
Result<void> set_count(Shape& shape, const Change& change) {
    const std::uint32_t value = TRY(number(change, change.value));
    shape.*Member = value == 0 ? std::nullopt : std::optional(value);
    return {};
}

// "4" or "4-8". Compat: the job gets the minimum. Its tasks keep their CPUs; in Slurm they may lose
// them.
Result<void> set_cpus(Shape& shape, const Change& change) {
    const std::string_view text = change.value;
    const std::size_t dash = text.find('-');
    const std::uint32_t least = TRY(number(change, text.substr(0, dash)));
    const std::uint32_t most =
        dash == text.npos ? least : TRY(number(change, text.substr(dash + 1)));
    if (least == 0 || most < least) return bad(change);
    const std::uint64_t per_node = std::max(1u, shape.ntasks_per_node.value_or(1));
    const std::uint64_t tasks =
        shape.ntasks.value_or(0) > 0 ? *shape.ntasks : std::max(1u, shape.nodes_min) * per_node;
    if (least < tasks * shape.cpus_per_task) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("{}={}: NumTasks={} CPUsPerTask={} take more", change.key,
                                 change.value, tasks, shape.cpus_per_task)};
    }
    shape.cpus_min = least;
    return {};
}

template <bool Shape::*Member>
Result<void> set_yes_no(Shape& shape, const Change& change) {
    const bool yes = equals_ignoring_case(change.value, "yes") || change.value == "1";
    const bool no = equals_ignoring_case(change.value, "no") || change.value == "0";
    if (!yes && !no) return bad(change);
    shape.*Member = yes;
    return {};
}

Result<void> set_features(Shape& shape, const Change& change) {
    TRY(FeatureExpression::parse(change.value));
    shape.constraint = change.value;
    return {};
}

Result<void> set_prefer(Shape& shape, const Change& change) {
    Result<FeatureExpression> wish = FeatureExpression::parse(change.value);
    if (!wish || !wish->counted.empty()) return Error{ErrorCode::InvalidPrefer, change.value};
    shape.prefer = change.value;
    return {};
}

Result<void> set_threads(Shape& shape, const Change& change) {
    TRY(set_count<&Shape::threads_per_core>(shape, change));
    shape.one_thread_per_core = shape.threads_per_core == 1u;
    return {};
}

Result<void> set_tmp(Shape& shape, const Change& change) {
    Result<Megabytes> disk = parse_memory(change.value);
    if (!disk) return bad(change);
    shape.tmp_min = *disk;
    return {};
}

template <std::vector<GresCount> Shape::*Member>
Result<void> set_tres(Shape& shape, const Change& change) {
    shape.*Member = TRY(parse_gres(change.value));
    return {};
}

// "2" or "2@5:00"; zero switches remove the request.
Result<void> set_switches(Shape& shape, const Change& change) {
    constexpr Seconds kAsLongAsAllowed{365 * 24 * 3600};
    const std::size_t at = change.value.find('@');
    const std::uint32_t most = TRY(number(change, std::string_view(change.value).substr(0, at)));
    Seconds wait = kAsLongAsAllowed;
    if (at != std::string::npos) {
        Result<TimeLimit> limit = parse_time_limit(std::string_view(change.value).substr(at + 1));
        if (!limit) return bad(change);
        if (!limit->unlimited()) wait = limit->length();
    }
    shape.switches_max = most == 0 ? std::nullopt : std::optional(most);
    shape.switches_wait = most == 0 ? Seconds{0} : wait;
    return {};
}

Result<void> set_switches_wait(Shape& shape, const Change& change) {
    shape.switches_wait = Seconds{TRY(number(change, change.value))};
    return {};
}

// Cores or threads, not both.
template <auto Member, auto Other>
Result<void> set_spec(Shape& shape, const Change& change) {
    TRY(set_count<Member>(shape, change));
    (shape.*Other).reset();
    return {};
}

struct ShapeField {
    std::string_view key;
    Result<void> (*set)(Shape&, const Change&);
};

constexpr ShapeField kShapeFields[] = {
    {"Contiguous", set_yes_no<&Shape::contiguous>},
    {"CoreSpec", set_spec<&Shape::core_spec, &Shape::thread_spec>},
    {"ThreadSpec", set_spec<&Shape::thread_spec, &Shape::core_spec>},
    {"Features", set_features},
    {"MinCPUsNode", set_count<&Shape::cpus_min_per_node>},
    {"MinTmpDiskNode", set_tmp},
    {"NumCPUs", set_cpus},
    {"OverSubscribe", set_yes_no<&Shape::oversubscribe>},
    {"Prefer", set_prefer},
    {"ReqCores", set_count<&Shape::cores_per_socket>},
    {"ReqSockets", set_count<&Shape::sockets_per_node>},
    {"ReqThreads", set_threads},
    {"Shared", set_yes_no<&Shape::oversubscribe>},
    {"Switches", set_switches},
    {"TasksPerNode", set_count<&Shape::ntasks_per_node>},
    {"TresPerJob", set_tres<&Shape::gpus>},
    {"TresPerSocket", set_tres<&Shape::gpus_per_socket>},
    {"wait-for-switch", set_switches_wait},
};

const ShapeField* find_row(std::string_view key) {
    for (const ShapeField& row : kShapeFields) {
        if (equals_ignoring_case(row.key, key)) return &row;
    }
    return nullptr;
}

}  // namespace

bool is_shape_field(std::string_view key) {
    return find_row(key) != nullptr;
}

Result<void> update_shape(Shape& shape, std::string_view key, const std::string& value) {
    const ShapeField* row = find_row(key);
    CHECK(row != nullptr, key);
    return row->set(shape, Change{row->key, value});
}

}  // namespace sluice
