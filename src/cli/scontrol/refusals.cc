// cli/scontrol/refusals.cc
//
// What was wrong with a field of update or create. The error names field and value, and what would
// be right ("MaxNodes=many: a number or UNLIMITED is needed"); the first line is Slurm's, whose
// words differ from field to field.
#include "base/text.h"
#include "cli/scontrol/session.h"
#include "model/errors.h"
#include "model/times.h"

namespace sluice {

namespace {

struct Wording {
    wire::Update::Entity entity;
    std::string_view key;
    std::string_view text;  // {0}: the field, {1}: its value, {2}: both as they were typed
};

constexpr std::string_view kUsual = "Invalid {0} value: {1}";
constexpr std::string_view kInput = "Invalid input: {2}";

// clang-format off
constexpr Wording kWordings[] = {
    {wire::Update::JOB, "NumNodes",              "Invalid numeric value \"{1}\" for requested node count."},
    {wire::Update::JOB, "ReqNodes",              "Invalid numeric value \"{1}\" for requested node count."},
    {wire::Update::JOB, "ReqProcs",              "Invalid NumTasks value: {1}"},
    {wire::Update::JOB, "Shared",                "Invalid OverSubscribe value: {1}"},
    {wire::Update::JOB, "TimeLimit",             "Invalid TimeLimit value"},
    {wire::Update::JOB, "TimeMin",               "Invalid TimeMin value"},
    {wire::Update::NODE, "Weight",               "Weight value ({1}) is not a valid number"},
    {wire::Update::PARTITION, "Default",         kInput},
    {wire::Update::PARTITION, "DefaultTime",     "Invalid input {2}"},
    {wire::Update::PARTITION, "DisableRootJobs", kInput},
    {wire::Update::PARTITION, "Exclusive",       kInput},
    {wire::Update::PARTITION, "ExclusiveUser",   kInput},
    {wire::Update::PARTITION, "Hidden",          kInput},
    {wire::Update::PARTITION, "LLN",             kInput},
    {wire::Update::PARTITION, "MaxNodes",        "Invalid numeric value \"{1}\" for MaxNodes."},
    {wire::Update::PARTITION, "MaxTime",         "Invalid input {2}"},
    {wire::Update::PARTITION, "MinNodes",        "\"{1}\" is not a valid node count"},
    {wire::Update::PARTITION, "OverSubscribe",   kInput},
    {wire::Update::PARTITION, "PreemptMode",     kInput},
    {wire::Update::PARTITION, "ReqResv",         kInput},
    {wire::Update::PARTITION, "RootOnly",        kInput},
    {wire::Update::PARTITION, "Shared",          kInput},
    {wire::Update::PARTITION, "State",           kInput},
};
// clang-format on

std::string_view wording_of(wire::Update::Entity entity, std::string_view key) {
    for (const Wording& each : kWordings) {
        if (each.entity == entity && equals_ignoring_case(each.key, key)) return each.text;
    }
    return kUsual;
}

struct WrongField {
    std::string key, value, typed;
    std::string right;  // the whole error; empty: nothing more
};

// The change that "Key=value" or "Key=value: what is needed" is about.
std::optional<WrongField> wrong_field(const UpdateWords& update, const std::string& detail) {
    const std::string_view text = detail;
    const std::string_view key = text.substr(0, text.find('='));
    if (key.size() == text.size()) return {};
    for (const auto& [typed, value] : update.changes) {
        std::string_view name = typed;
        while (name.ends_with('+') || name.ends_with('-')) name.remove_suffix(1);
        const std::string_view rest = text.substr(key.size() + 1);
        if (!equals_ignoring_case(name, key) || !rest.starts_with(value)) continue;
        return WrongField{std::string(key), value, fmt::format("{}={}", typed, value),
                          rest == value ? "" : detail};
    }
    return {};
}

// Compat: what is read as a moment is complained about as everywhere.
std::optional<std::string> no_moment(const Session& session, const WrongField& wrong) {
    for (std::string_view key :
         {"Deadline", "EligibleTime", "EndTime", "LastCheckpoint", "StartTime"}) {
        if (!equals_ignoring_case(wrong.key, key)) continue;
        Result<Time> moment = parse_moment(wrong.value, session.now);
        if (!moment) return moment.error().detail;
    }
    return {};
}

void print_wrong_value(Session& session, wire::Update::Entity entity, const WrongField& wrong) {
    std::optional<std::string> moment;
    if (entity == wire::Update::JOB) moment = no_moment(session, wrong);
    if (moment) {
        session.streams.err(fmt::format("{}\nNo changes specified\n", *moment));
    } else if (entity == wire::Update::NODE && equals_ignoring_case(wrong.key, "State")) {
        session.streams.err(fmt::format("Invalid input: {}\nRequest aborted\n", wrong.typed));
    } else {
        const auto text = fmt::runtime(wording_of(entity, wrong.key));
        print_error(session.streams, session.invocation,
                    fmt::format(text, wrong.key, wrong.value, wrong.typed));
    }
    if (!wrong.right.empty()) print_error(session.streams, session.invocation, wrong.right);
}

}  // namespace

bool refuse_field(Session& session, const UpdateWords& update, const Error& error) {
    if (error.code == ErrorCode::UnknownField) {
        const std::string text = to_string(error) + "\nRequest aborted";
        if (update.entity == wire::Update::PARTITION) {
            print_error(session.streams, session.invocation, text);
        } else {
            session.streams.err(text + "\n");
        }
        return true;
    }
    if (error.code != ErrorCode::BadArgument) return false;
    const std::optional<WrongField> wrong = wrong_field(update, error.detail);
    if (wrong) print_wrong_value(session, update.entity, *wrong);
    return wrong.has_value();
}

void refuse_word(Session& session, wire::Update::Entity entity, std::string_view word) {
    if (entity == wire::Update::JOB) {
        session.streams.err(fmt::format("Invalid input: {}\nRequest aborted\n", word));
    } else {
        print_error(session.streams, session.invocation,
                    fmt::format("Invalid input: {}  Request aborted", word));
    }
}

}  // namespace sluice
