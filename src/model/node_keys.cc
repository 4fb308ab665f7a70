#include "model/node_keys.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/errors.h"
#include "model/validate.h"

namespace sluice {

namespace {

// In the order of NodeCommand.
constexpr std::string_view kCommands[] = {"CANCEL_REBOOT",
                                          "DOWN",
                                          "DRAIN",
                                          "FAIL",
                                          "IDLE",
                                          "RESUME",
                                          "UNDRAIN",
                                          "POWER_DOWN",
                                          "POWER_DOWN_ASAP",
                                          "POWER_DOWN_FORCE",
                                          "POWER_UP"};

Error bad_value(std::string_view key, const std::string& value, std::string_view right) {
    return {ErrorCode::BadArgument, fmt::format("{}={}: {} is needed", key, value, right)};
}

Result<void> set_state(NodeChange& change, const std::string& value) {
    for (std::size_t i = 0; i < std::size(kCommands); ++i) {
        if (!equals_ignoring_case(kCommands[i], value)) continue;
        change.state = static_cast<NodeCommand>(i);
        return {};
    }
    return bad_value("State", value,
                     "CANCEL_REBOOT, DOWN, DRAIN, FAIL, IDLE, POWER_DOWN, POWER_DOWN_ASAP, "
                     "POWER_DOWN_FORCE, POWER_UP, RESUME or UNDRAIN");
}

Result<void> set_reason(NodeChange& change, const std::string& value) {
    change.reason = value;
    return {};
}

Result<void> set_comment(NodeChange& change, const std::string& value) {
    change.comment = value;
    return {};
}

Result<void> set_weight(NodeChange& change, const std::string& value) {
    const std::optional<std::uint64_t> weight = to_number(value);
    if (!weight || *weight > 0xffffffff)
        return bad_value("Weight", value, "a number up to 4294967295");
    change.weight = static_cast<std::uint32_t>(*weight);
    return {};
}

Result<void> set_features(NodeChange& change, const std::string& value) {
    change.features.emplace();
    for (std::string_view feature : split(value, ',')) {
        if (!feature.empty()) change.features->emplace_back(feature);
    }
    return {};
}

Result<void> set_gres(NodeChange& change, const std::string& value) {
    if (!value.empty()) TRY(parse_gres(value));
    change.gres = value;
    return {};
}

// Compat: INFINITE and -1 cancel it.
Result<void> set_resume_after(NodeChange& change, const std::string& value) {
    constexpr std::uint64_t kYear = 366 * 24 * 3600;
    const std::optional<std::uint64_t> seconds = to_number(value);
    const bool is_cancelled = value == "-1" || equals_ignoring_case(value, "INFINITE");
    if (!is_cancelled && (!seconds || *seconds > kYear))
        return bad_value("ResumeAfter", value, "a number of seconds or INFINITE");
    change.resume_after.emplace();
    if (!is_cancelled) change.resume_after.emplace(Seconds{static_cast<std::int64_t>(*seconds)});
    return {};
}

template <std::optional<std::string> NodeChange::*Member>
Result<void> set_host(NodeChange& change, const std::string& value) {
    change.*Member = value;
    return {};
}

// "gpu:0-1,3"
Result<void> check_devices(std::string_view key, const std::string& value) {
    const bool is_gpu = value.starts_with("gpu:");
    if (is_gpu && parse_numbers(std::string_view(value).substr(4), sizes::kNameCount)) return {};
    return bad_value(key, value, "gpu: with numbers, as in gpu:0-1,3,");
}

Result<void> set_gres_drain(NodeChange& change, const std::string& value) {
    TRY(check_devices("GresDrain", value));
    change.gres_drain = value;
    return {};
}

Result<void> set_gres_resume(NodeChange& change, const std::string& value) {
    TRY(check_devices("GresResume", value));
    change.gres_resume = value;
    return {};
}

struct NodeKey {
    std::string_view key;
    Result<void> (*set)(NodeChange& change, const std::string& value);
};

constexpr NodeKey kNodeKeys[] = {
    {"AvailableFeatures", set_features},
    {"Comment", set_comment},
    {"Features", set_features},
    {"Gres", set_gres},
    {"NodeAddr", set_host<&NodeChange::address>},
    {"NodeHostName", set_host<&NodeChange::hostname>},
    {"GresDrain", set_gres_drain},
    {"GresResume", set_gres_resume},
    {"Reason", set_reason},
    {"ResumeAfter", set_resume_after},
    {"State", set_state},
    {"Weight", set_weight},
};

}  // namespace

std::string_view print(NodeCommand command) {
    return kCommands[static_cast<std::size_t>(command)];
}

Result<NodeChange> parse_node_change(const KeyTexts& given) {
    NodeChange change;
    for (const auto& [name, value] : given) {
        const NodeKey* row = nullptr;
        for (const NodeKey& each : kNodeKeys) {
            if (equals_ignoring_case(each.key, name)) row = &each;
        }
        if (!row) return Error{ErrorCode::UnknownField, fmt::format("{}={}", name, value)};
        TRY(row->set(change, value));
    }
    TRY(validate(change));
    return change;
}

}  // namespace sluice
