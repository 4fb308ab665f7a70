// See qos.h.
#include "core/limits/qos.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/job/verbs.h"
#include "core/limits/limit_book.h"
#include "core/permission.h"
#include "core/schedule/priority.h"
#include "core/schedule/queue.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "model/validate.h"

namespace sluice {

namespace {

const Qos* find_qos_in(const std::vector<Qos>& table, std::string_view name) {
    for (const Qos& qos : table) {
        if (qos.name == name) return &qos;
    }
    return nullptr;
}

bool is_known_tres(const Cluster& cluster, std::string_view name) {
    if (name == "cpu" || name == "mem" || name == "node" || name == "billing") return true;
    if (!name.starts_with("gres/")) return false;
    name.remove_prefix(5);
    const std::string_view device = name.substr(0, name.find(':'));
    const std::vector<std::string>& types = cluster.settings().gres_types;
    if (std::find(types.begin(), types.end(), device) != types.end()) return true;
    for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
        for (const GresPool& pool : cluster.node(NodeIndex{i}).gres) {
            if (pool.name == device) return true;
        }
    }
    return false;
}

// The QOS and devices that a change names must exist.
Result<void> check_names(const Cluster& cluster, const QosChange& change) {
    for (const auto* list : {&change.preempt_added, &change.preempt_removed}) {
        for (const std::string& name : *list) {
            if (find_qos_in(cluster.qos(), name)) continue;
            std::vector<std::string> names;
            for (const Qos& each : cluster.qos()) names.push_back(each.name);
            return Error{
                ErrorCode::BadArgument,
                fmt::format("You gave a bad qos '{}'. Valid QOS's are {}", name, join(names, ","))};
        }
    }
    for (const TresChange* tres :
         {&change.max_per_job, &change.max_per_node, &change.min_per_job, &change.of_all.tres,
          &change.of_user.tres, &change.of_account.tres}) {
        for (const auto& [name, count] : *tres) {
            if (is_known_tres(cluster, name)) continue;
            return Error{ErrorCode::BadArgument, fmt::format("no TRES known by type {}", name)};
        }
    }
    return {};
}

Result<void> check_change(const Cluster& cluster, const QosChange& change) {
    const bool suspends = change.preempt_mode && change.preempt_mode->mode == PreemptMode::Suspend;
    if (suspends && !cluster.settings().preempt.gang) {
        return Error{ErrorCode::BadArgument,
                     "PreemptMode=SUSPEND needs PreemptMode=...,GANG in slurm.conf"};
    }
    return check_names(cluster, change);
}

Result<std::vector<Qos>> qos_with_new(const Cluster& cluster, const UpdateQos& event) {
    std::vector<Qos> table = cluster.qos();
    for (const std::string& given : event.names) {
        const std::string name = to_lower(given);  // Compat
        if (name.empty() || name.find_first_of(",=|' \t\n") != std::string::npos) {
            return Error{ErrorCode::BadArgument,
                         fmt::format("'{}' cannot be the name of a QOS", given)};
        }
        if (find_qos_in(table, name)) continue;
        Qos fresh;
        fresh.id = table.back().id + 1;
        fresh.name = fresh.description = name;
        event.change.apply_to(fresh);
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
        if (names_qos(event, qos.name)) event.change.apply_to(qos);
    }
    return table;
}

Result<std::vector<Qos>> qos_without(const Cluster& cluster, const UpdateQos& event) {
    std::optional<Error> problem;
    if (names_qos(event, std::string(kDefaultQos))) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("{}: jobs that name no QOS are of it", kDefaultQos)};
    }
    cluster.jobs().for_each([&](const Job& job) {
        if (problem || is_over(job) || !names_qos(event, job.request->qos)) return;
        problem = Error{ErrorCode::BadArgument,
                        fmt::format("QOS {} is in use by job {}", job.request->qos, job.id.value)};
    });
    for (const Partition& partition : cluster.partitions()) {
        if (!names_qos(event, partition.config.qos)) continue;
        problem =
            Error{ErrorCode::BadArgument, fmt::format("QOS {} is that of partition {}",
                                                      partition.config.qos, partition.config.name)};
    }
    if (problem) return *std::move(problem);
    std::vector<Qos> table = cluster.qos();
    std::erase_if(table, [&](const Qos& qos) { return names_qos(event, qos.name); });
    for (Qos& qos : table) {
        std::erase_if(qos.preempt, [&](const std::string& name) { return names_qos(event, name); });
    }
    return table;
}

Result<std::vector<Qos>> changed_qos(const Cluster& cluster, const UpdateQos& event) {
    TRY(validate_texts("QOS", event.names, sizes::kWord, sizes::kNameCount));
    TRY(check_change(cluster, event.change));
    switch (event.verb) {
        case UpdateQos::Verb::Create:
            return qos_with_new(cluster, event);
        case UpdateQos::Verb::Delete:
            return qos_without(cluster, event);
        case UpdateQos::Verb::Update:
            break;
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

const Qos* find_qos(const Cluster& cluster, std::string_view name) {
    return find_qos_in(cluster.qos(), name);
}

std::string qos_in_force(const Cluster& cluster, const std::string& named) {
    if (!cluster.settings().enforce_qos) return named;
    return named.empty() ? std::string(kDefaultQos) : to_lower(named);
}

Result<void> check_qos(const Cluster& cluster, const JobTerms& demand) {
    if (!cluster.settings().enforce_qos) return {};
    const Qos* qos = find_qos(cluster, demand.qos);
    if (!qos) return Error{ErrorCode::InvalidQos, {}};
    if (!qos->has(kQosRequiresReservation) || !demand.reservation.empty()) return {};
    return Error{ErrorCode::InvalidQos, {}, fmt::format("QOS {} needs --reservation", qos->name)};
}

void on_update_qos(Cluster& cluster, Time now, const UpdateQos& event, Effects& effects) {
    auto answer = [&](Answer what) { effects.push_back(Reply{event.request, std::move(what)}); };
    auto allowed = permit(role_in(cluster, event.caller), Action::UpdateQos);
    if (!allowed) return answer(allowed.error());
    Result<std::vector<Qos>> table = changed_qos(cluster, event);
    if (!table) return answer(std::move(table).error());
    for (const Qos& qos : *table) {
        if (Result<void> valid = validate(qos); !valid) return answer(valid.error());
    }
    if (*table != cluster.qos()) {
        cluster.set_qos(*std::move(table));
        count_anew(cluster);
        cluster.layout_has_changed();  // it may bound what jobs need
        reprioritize_all(cluster, now, true);
        unpark_all(cluster, now);
        cluster.want_pass();
    }
    answer(Done{});
}

}  // namespace sluice
