// config/power.cc
//
// Power saving: the keys Suspend* and Resume*, and their words in SlurmctldParameters.
#include <fmt/format.h>

#include "base/text.h"
#include "config/settings.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "model/states.h"

namespace sluice {

namespace {

Error bad_value(std::string_view key, std::string_view value, std::string_view right) {
    return {ErrorCode::ConfigInvalid, fmt::format("{}={}: {} is needed", key, value, right)};
}

// Compat: SuspendExcStates knows more words; nodes are never in the others.
struct ExceptState {
    std::string_view word;
    std::uint32_t flag;
};
constexpr ExceptState kExceptStates[] = {
    {"CLOUD", kNodeCloud},
    {"DRAIN", kNodeDrain},
    {"DYNAMIC_FUTURE", kNodeDynamicFuture},
    {"DYNAMIC_NORM", kNodeDynamic},
    {"FAIL", kNodeFail},
    {"INVALID_REG", kNodeInvalidReg},
    {"MAINTENANCE", kNodeMaint},
    {"NOT_RESPONDING", kNodeNoRespond},
    {"PLANNED", kNodePlanned},
    {"RESERVED", kNodeReserved},
};

Result<void> take_except_state(std::string_view word, std::string_view all, PowerSettings& power) {
    if (equals_ignoring_case(word, "DOWN")) {
        power.except_down = true;
        return {};
    }
    for (const ExceptState& state : kExceptStates) {
        if (!equals_ignoring_case(state.word, word)) continue;
        power.except_states |= state.flag;
        return {};
    }
    return bad_value("SuspendExcStates", all,
                     "a list of CLOUD, DOWN, DRAIN, DYNAMIC_FUTURE, DYNAMIC_NORM, FAIL, "
                     "INVALID_REG, MAINTENANCE, NOT_RESPONDING, PLANNED and RESERVED");
}

// "n[1-10]:4" of "n[1-10]:4,m1".
Result<PowerException> parse_exception(std::string_view text, std::string_view all) {
    PowerException exception;
    const std::size_t colon = text.rfind(':');
    if (colon != std::string_view::npos) {
        const auto count = to_number(text.substr(colon + 1));
        if (!count || *count > kHostlistSizeMax)
            return bad_value("SuspendExcNodes", all, "a list such as n[1-10]:4,m1");
        exception.count = static_cast<std::uint32_t>(*count);
        text = text.substr(0, colon);
    }
    const Result<Hostlist> hosts = Hostlist::parse(text);
    if (!hosts || hosts->empty())
        return bad_value("SuspendExcNodes", all, "a list such as n[1-10]:4,m1");
    exception.nodes = hosts->names();
    return exception;
}

// At commas outside of brackets.
std::vector<std::string_view> split_hosts(std::string_view text) {
    std::vector<std::string_view> pieces;
    std::size_t start = 0;
    bool is_inside = false;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ',';
        if (c == '[' || c == ']') is_inside = c == '[';
        if (c != ',' || (is_inside && i < text.size())) continue;
        const std::string_view piece = trim(text.substr(start, i - start));
        if (!piece.empty()) pieces.push_back(piece);
        start = i + 1;
    }
    return pieces;
}

Result<void> take_interval(const Config& config, std::string_view name, Seconds& interval) {
    constexpr std::uint64_t kDay = 24 * 3600;
    const auto text = find_parameter(config.slurmctld_parameters, name);
    if (!text) return {};
    const auto seconds = to_number(*text);
    if (!seconds || *seconds > kDay) {
        return bad_value("SlurmctldParameters", fmt::format("{}={}", name, *text),
                         "a number of seconds");
    }
    interval = Seconds{static_cast<std::int64_t>(*seconds)};
    return {};
}

}  // namespace

Result<PowerSettings> power_settings(const Config& config) {
    PowerSettings power;
    power.enabled = !config.suspend_program.empty() && !config.resume_program.empty();
    power.has_resume_fail_program = !config.resume_fail_program.empty();
    power.suspend_time = config.suspend_time;
    power.suspend_timeout = config.suspend_timeout;
    power.suspend_rate = config.suspend_rate;
    power.resume_rate = config.resume_rate;
    TRY(take_interval(config, "power_save_interval", power.interval));
    TRY(take_interval(config, "power_save_min_interval", power.min_interval));
    if (power.interval == Seconds{0}) {
        return bad_value("SlurmctldParameters", "power_save_interval=0", "at least one second");
    }
    for (std::string_view piece : split_hosts(config.suspend_exc_nodes)) {
        PowerException exception = TRY(parse_exception(piece, config.suspend_exc_nodes));
        power.except_nodes.push_back(std::move(exception));
    }
    for (std::string_view name : split(config.suspend_exc_parts, ',')) {
        if (trim(name).empty()) continue;
        if (!config.find_partition(trim(name)))
            return bad_value("SuspendExcParts", config.suspend_exc_parts, "a list of partitions");
        power.except_partitions.emplace_back(trim(name));
    }
    for (std::string_view word : split(config.suspend_exc_states, ',')) {
        if (!trim(word).empty())
            TRY(take_except_state(trim(word), config.suspend_exc_states, power));
    }
    power.idle_on_suspend = config.has_flag(config.slurmctld_parameters, "idle_on_node_suspend");
    return power;
}

}  // namespace sluice
