// See qos.h.
#include "core/limits/qos.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "core/job/verbs.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/times.h"

namespace sluice {

namespace {

const Qos* find_qos_in(const std::vector<Qos>& table, std::string_view name) {
    for (const Qos& qos : table) {
        if (qos.name == name) return &qos;
    }
    return nullptr;
}

Error invalid_qos_value(std::string_view key, const std::string& value) {
    return {ErrorCode::BadArgument, fmt::format("Invalid value for {} ({})", key, value)};
}

// One word of a change: "Preempt+=a,b" has the sign '+'.
struct QosWord {
    std::string_view key;
    char sign = 0;
    const std::string& value;
    const Cluster& cluster;
};
using SetQos = Result<void> (*)(Qos& qos, const QosWord& change);

bool is_unset_qos(const std::string& value) { return value == "-1"; }

Result<void> describe_qos(Qos& qos, const QosWord& change) {
    qos.description = change.value;
    return {};
}

Result<void> set_qos_priority(Qos& qos, const QosWord& change) {
    const std::optional<std::uint64_t> number = is_unset_qos(change.value) ? 0 : to_number(change.value);
    if (!number || *number > 0xfffffffd) return invalid_qos_value(change.key, change.value);
    qos.priority = static_cast<std::uint32_t>(*number);
    return {};
}

Result<void> set_qos_grace(Qos& qos, const QosWord& change) {
    const std::optional<std::uint64_t> seconds = is_unset_qos(change.value) ? 0 : to_number(change.value);
    if (!seconds || *seconds > 0xfffffffd) return invalid_qos_value(change.key, change.value);
    qos.grace_time = Seconds{static_cast<std::int64_t>(*seconds)};
    return {};
}

Result<void> set_qos_exempt_time(Qos& qos, const QosWord& change) {
    qos.exempt_time.reset();
    if (is_unset_qos(change.value)) return {};
    Result<TimeLimit> length = parse_time_limit(change.value);
    if (!length || length->unlimited()) return invalid_qos_value(change.key, change.value);
    qos.exempt_time = length->length();
    return {};
}

Result<void> set_preempted(Qos& qos, const QosWord& change) {
    if (change.sign == 0) qos.preempt.clear();
    for (std::string_view name : split(change.value, ',')) {
        if (name.empty()) continue;  // Preempt= alone: none
        const Qos* known = find_qos(change.cluster, to_lower(name));
        if (!known) {
            std::vector<std::string> names;
            for (const Qos& each : change.cluster.qos()) names.push_back(each.name);
            return Error{ErrorCode::BadArgument,
                         fmt::format("You gave a bad qos '{}'. Valid QOS's are {}", name, join(names, ","))};
        }
        std::erase(qos.preempt, known->name);
        if (change.sign != '-') qos.preempt.push_back(known->name);
    }
    return {};
}

// Compat: OFF and CLUSTER both mean that slurm.conf decides.
Result<void> set_qos_mode(Qos& qos, const QosWord& change) {
    std::vector<std::string> words;
    for (std::string_view word : split(change.value, ',')) {
        const std::string mode = to_upper(word);
        const bool is_known = mode == "CANCEL" || mode == "REQUEUE" || mode == "SUSPEND" || mode == "WITHIN";
        if (is_known) words.push_back(mode);
        else if (!mode.empty() && mode != "OFF" && mode != "CLUSTER") {
            return Error{ErrorCode::BadArgument,
                         fmt::format("Bad Preempt Mode given: {}={}: CLUSTER, CANCEL, REQUEUE, SUSPEND or WITHIN is needed",
                                     change.key, change.value)};
        }
    }
    if (has_preempt_word(join(words, ","), "SUSPEND") && !change.cluster.settings().preempt.gang) {
        return Error{ErrorCode::BadArgument, "PreemptMode=SUSPEND needs PreemptMode=...,GANG in slurm.conf"};
    }
    std::sort(words.rbegin(), words.rend());  // Compat: WITHIN comes first
    qos.preempt_mode = join(words, ",");
    return {};
}

struct QosKey {
    std::string_view key;
    SetQos set = nullptr;  // nullptr: Slurm has it, we do not
};

constexpr QosKey kQosKeys[] = {
    {"Description", describe_qos},
    {"GraceTime", set_qos_grace},
    {"Preempt", set_preempted},
    {"PreemptExemptTime", set_qos_exempt_time},
    {"PreemptMode", set_qos_mode},
    {"Priority", set_qos_priority},
    {"Flags"}, {"GrpJobs"}, {"GrpJobsAccrue"}, {"GrpSubmit"}, {"GrpSubmitJobs"}, {"GrpTRES"}, {"GrpTRESMins"},
    {"GrpTRESRunMins"}, {"GrpWall"}, {"LimitFactor"}, {"MaxJobsAccruePA"}, {"MaxJobsAccruePerAccount"},
    {"MaxJobsAccruePU"}, {"MaxJobsAccruePerUser"}, {"MaxJobs"}, {"MaxJobsPA"}, {"MaxJobsPerAccount"}, {"MaxJobsPU"},
    {"MaxJobsPerUser"}, {"MaxSubmitJobs"}, {"MaxSubmitJobsPA"}, {"MaxSubmitJobsPerAccount"}, {"MaxSubmitJobsPU"},
    {"MaxSubmitJobsPerUser"}, {"MaxSubmitPA"}, {"MaxSubmitPU"}, {"MaxTRES"}, {"MaxTRESMins"}, {"MaxTRESMinsPerJob"},
    {"MaxTRESPA"}, {"MaxTRESPerAccount"}, {"MaxTRESPJ"}, {"MaxTRESPerJob"}, {"MaxTRESPN"}, {"MaxTRESPerNode"},
    {"MaxTRESPU"}, {"MaxTRESPerUser"}, {"MaxTRESRunMinsPA"}, {"MaxTRESRunMinsPU"}, {"MaxWall"},
    {"MaxWallDurationPerJob"}, {"MinPrioThreshold"}, {"MinTRES"}, {"MinTRESPerJob"}, {"RawUsage"}, {"UsageFactor"},
    {"UsageThreshold"},
};

// Compat: any beginning that is long enough will do ("prio", "desc").
const QosKey* find_qos_key(std::string_view given) {
    for (const QosKey& row : kQosKeys) {
        if (equals_ignoring_case(row.key, given)) return &row;
    }
    for (const QosKey& row : kQosKeys) {
        if (given.size() >= 3 && starts_with_ignoring_case(row.key, given)) return &row;
    }
    return nullptr;
}

Result<void> set_qos_field(const Cluster& cluster, Qos& qos, std::string_view word, const std::string& value) {
    const char last = word.empty() ? ' ' : word.back();
    const char sign = last == '+' || last == '-' ? last : '\0';
    const QosKey* row = find_qos_key(word.substr(0, word.size() - (sign ? 1 : 0)));
    if (row && !row->set) return Error{ErrorCode::NotSupported, fmt::format("{} of a QOS", row->key)};
    if (!row || (sign && row->set != set_preempted)) {
        return Error{ErrorCode::NotFound, fmt::format("{}={}", word, value)};
    }
    return row->set(qos, {row->key, sign, value, cluster});
}

Result<void> set_qos_fields(const Cluster& cluster, Qos& qos, const Changes& changes) {
    for (const auto& [key, value] : changes) TRY(set_qos_field(cluster, qos, key, value));
    return {};
}

Result<std::vector<Qos>> qos_with_new(const Cluster& cluster, const UpdateQos& event) {
    std::vector<Qos> table = cluster.qos();
    for (const std::string& given : event.names) {
        const std::string name = to_lower(given);  // Compat
        if (name.empty() || name.find_first_of(",=|' \t\n") != std::string::npos) {
            return Error{ErrorCode::BadArgument, fmt::format("'{}' cannot be the name of a QOS", given)};
        }
        if (find_qos_in(table, name)) continue;
        Qos fresh;
        fresh.id = table.back().id + 1;
        fresh.name = fresh.description = name;
        TRY(set_qos_fields(cluster, fresh, event.changes));
        table.push_back(std::move(fresh));
    }
    return table;
}

bool names_qos(const UpdateQos& event, const std::string& name) {
    return std::any_of(event.names.begin(), event.names.end(),
                       [&](const std::string& each) { return equals_ignoring_case(each, name); });
}

Result<std::vector<Qos>> qos_with_changed(const Cluster& cluster, const UpdateQos& event) {
    std::vector<Qos> table = cluster.qos();
    for (Qos& qos : table) {
        if (names_qos(event, qos.name)) TRY(set_qos_fields(cluster, qos, event.changes));
    }
    return table;
}

Result<std::vector<Qos>> qos_without(const Cluster& cluster, const UpdateQos& event) {
    std::optional<Error> problem;
    if (names_qos(event, std::string(kDefaultQos))) {
        return Error{ErrorCode::BadArgument, fmt::format("{}: jobs that name no QOS are of it", kDefaultQos)};
    }
    cluster.jobs().for_each([&](const Job& job) {
        if (problem || is_over(job) || !names_qos(event, job.request->qos)) return;
        problem = Error{ErrorCode::BadArgument, fmt::format("QOS {} is in use by job {}", job.request->qos, job.id.value)};
    });
    if (problem) return *std::move(problem);
    std::vector<Qos> table = cluster.qos();
    std::erase_if(table, [&](const Qos& qos) { return names_qos(event, qos.name); });
    for (Qos& qos : table) {
        std::erase_if(qos.preempt, [&](const std::string& name) { return names_qos(event, name); });
    }
    return table;
}

Result<std::vector<Qos>> changed_qos(const Cluster& cluster, const UpdateQos& event) {
    switch (event.verb) {
        case UpdateQos::Verb::Create: return qos_with_new(cluster, event);
        case UpdateQos::Verb::Delete: return qos_without(cluster, event);
        case UpdateQos::Verb::Update: break;
    }
    return qos_with_changed(cluster, event);
}

}  // namespace

std::vector<Qos> first_qos() {
    Qos normal;
    normal.id = 1;
    normal.name = kDefaultQos;
    normal.description = "Normal QOS default";
    return {normal};
}

const Qos* find_qos(const Cluster& cluster, std::string_view name) { return find_qos_in(cluster.qos(), name); }

std::string qos_in_force(const Cluster& cluster, const std::string& named) {
    if (!cluster.settings().enforce_qos) return named;
    return named.empty() ? std::string(kDefaultQos) : to_lower(named);
}

Result<void> check_qos(const Cluster& cluster, std::string_view name) {
    if (!cluster.settings().enforce_qos || find_qos(cluster, name)) return {};
    return Error{ErrorCode::InvalidQos, {}};
}

void on_update_qos(Cluster& cluster, Time now, const UpdateQos& event, Effects& effects) {
    auto answer = [&](Answer what) { effects.push_back(Reply{event.request, std::move(what)}); };
    if (!is_privileged(cluster, event.caller)) return answer(Error{ErrorCode::AccessDenied, {}});
    Result<std::vector<Qos>> table = changed_qos(cluster, event);
    if (!table) return answer(std::move(table).error());
    if (*table != cluster.qos()) {
        cluster.set_qos(*std::move(table));
        reprioritize_all(cluster, now, true);
        unpark_all(cluster, now);
        cluster.schedule_wanted = true;
    }
    answer(Done{});
}

}  // namespace sluice
