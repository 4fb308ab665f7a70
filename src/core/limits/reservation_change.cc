// core/limits/reservation_change.cc
//
// scontrol create, update and delete reservation. All is worked out on a copy: a refusal changes
// nothing.
#include <fmt/format.h>

#include <algorithm>

#include "core/job/verbs.h"
#include "core/limits/reservations.h"
#include "core/schedule/planner.h"
#include "model/errors.h"
#include "model/features.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

constexpr Seconds kClockSlack{60};  // Compat: a start that has only just passed is fine

Error refuse(ErrorCode code, std::string detail = {}) { return Error{code, std::move(detail)}; }

// ---- who

template <typename Item>
Result<void> change_list(const std::optional<ListChange<Item>>& change, std::vector<Item>& list, bool& denied,
                         ErrorCode unknown) {
    if (!change) return {};
    using Verb = typename ListChange<Item>::Verb;
    auto add = [&](const Item& item) {
        if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    };
    if (change->verb == Verb::Replace) {
        list = change->items;
        denied = change->denied;
        return {};
    }
    // Somebody to be let in is struck off a list of those who are not, and the other way round.
    bool lets_in = change->verb == Verb::Add;
    if (list.empty()) denied = !lets_in;
    for (const Item& item : change->items) {
        if (lets_in != denied) {
            add(item);
        } else if (std::erase(list, item) == 0) {
            return refuse(unknown);
        }
    }
    return {};
}

Result<void> change_who(const ReservationChange& change, Reservation& draft) {
    TRY(change_list(change.users, draft.users, draft.users_denied, ErrorCode::UserUnknown));
    TRY(change_list(change.accounts, draft.accounts, draft.accounts_denied, ErrorCode::InvalidAccount));
    if (draft.users.empty() && draft.accounts.empty()) {
        return refuse(ErrorCode::InvalidAccount, "a reservation needs Users or Accounts");
    }
    return {};
}

// ---- when

Result<void> change_flags(const ReservationChange& change, Reservation& draft) {
    if (change.flags_replaced) draft.flags &= kResvSpecNodes | kResvAllNodes;
    if (change.flags_replaced || change.purge_cleared) draft.purge_after.reset();
    draft.flags = (draft.flags | change.flags_set) & ~change.flags_cleared;
    if (change.purge_after) draft.purge_after = change.purge_after;
    std::uint32_t repeats = draft.flags & kResvRepeats;
    if ((repeats & (repeats - 1)) != 0) {
        return refuse(ErrorCode::InvalidReservation, "it can repeat in one way only");
    }
    return {};
}

Result<void> change_times(const ReservationChange& change, Time now, const Reservation* before, Reservation& draft) {
    if (!before && !change.start) return refuse(ErrorCode::InvalidTime, "StartTime is missing");
    if (change.start) {
        if (before && before->is_active(now)) return refuse(ErrorCode::ReservationStarted);
        if (*change.start < now - kClockSlack) return refuse(ErrorCode::InvalidTime);
        draft.start = *change.start;
    }
    if (change.end) draft.end = *change.end;
    if (change.duration) draft.end = draft.start + *change.duration;
    if (draft.end <= draft.start || draft.end <= now) return refuse(ErrorCode::InvalidTime);
    if (draft.has(kResvRepeats) && draft.end > next_occurrence(draft.start, draft.flags)) {
        return refuse(ErrorCode::InvalidTime, "it would not be over when it repeats");
    }
    return {};
}

Result<void> skip_one(Reservation& draft) {
    if (!draft.has(kResvRepeats)) return refuse(ErrorCode::ReservationNotSkippable);
    Seconds length = draft.end - draft.start;
    draft.start = next_occurrence(draft.start, draft.flags);
    draft.end = draft.start + length;
    return {};
}

// ---- where

Result<FeatureExpression> features_of(const Cluster& cluster, const std::string& text) {
    FeatureExpression features = TRY(FeatureExpression::parse(text));
    if (!features.counted.empty() || !features.same.empty()) {
        return refuse(ErrorCode::NotSupported, fmt::format("Features={} of a reservation", text));
    }
    for (const std::string& name : features.names()) {
        bool known = false;
        for (std::uint32_t i = 0; i < cluster.node_count() && !known; ++i) {
            const std::vector<std::string>& has = cluster.node(NodeIndex{i}).config.features;
            known = std::find(has.begin(), has.end(), name) != has.end();
        }
        if (!known) return refuse(ErrorCode::InvalidFeature, fmt::format("no node has the feature {}", name));
    }
    return features;
}

// A job is there that will not be gone when the reservation begins.
bool is_busy(const Cluster& cluster, Time now, NodeIndex node, const Reservation& draft) {
    if (draft.has(kResvIgnoreJobs)) return false;
    const std::vector<JobId>& jobs = cluster.node(node).jobs;
    return std::any_of(jobs.begin(), jobs.end(), [&](JobId id) {
        const Job& job = cluster.job(id);
        return job.reservation != draft.name && expected_end(cluster, job, now) > std::max(draft.start, now + Seconds{1});
    });
}

bool is_taken(const Cluster& cluster, const Reservation& draft) {
    if (draft.has(kResvMaint | kResvOverlap)) return false;
    return std::any_of(cluster.reservations().begin(), cluster.reservations().end(), [&](const Reservation& other) {
        return other.name != draft.name && !other.has(kResvMaint | kResvOverlap) && overlap(draft, other);
    });
}

Result<std::vector<NodeIndex>> named_nodes(const Cluster& cluster, const ListChange<std::string>& change,
                                           const Reservation& draft) {
    using Verb = ListChange<std::string>::Verb;
    std::set<NodeIndex> nodes;
    if (change.verb != Verb::Replace) nodes.insert(draft.nodes.begin(), draft.nodes.end());
    for (const std::string& name : change.items) {
        auto node = cluster.find_node(name);
        if (!node || cluster.node(*node).removed) return refuse(ErrorCode::InvalidNodeName, name);
        if (change.verb == Verb::Remove) nodes.erase(*node);
        else nodes.insert(*node);
    }
    if (nodes.empty()) return refuse(ErrorCode::InvalidNodeCount, "no node would be left");
    return std::vector<NodeIndex>(nodes.begin(), nodes.end());
}

std::vector<NodeIndex> all_nodes(const Cluster& cluster) {
    std::vector<NodeIndex> nodes;
    for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
        if (!cluster.node(NodeIndex{i}).removed) nodes.push_back(NodeIndex{i});
    }
    return nodes;
}

// So many nodes of the partition that can be had then: those it has already first, then by weight.
Result<void> choose_nodes(const Cluster& cluster, Time now, std::uint32_t count, Reservation& draft) {
    const Partition* partition =
        draft.partition.empty() ? cluster.default_partition() : cluster.find_partition(draft.partition);
    if (!partition) return refuse(ErrorCode::InvalidPartition);
    draft.partition = partition->config.name;
    FeatureExpression features = TRY(features_of(cluster, draft.features));
    std::vector<NodeIndex> candidates = draft.nodes;
    for (NodeIndex node : partition->nodes) {
        if (!draft.has_node(node)) candidates.push_back(node);
    }
    Reservation probe = draft;
    draft.nodes.clear();
    std::uint32_t possible = 0;
    for (NodeIndex node : candidates) {
        if (!features.matches(cluster.node(node).config.features)) continue;
        ++possible;
        probe.nodes = {node};
        bool free = may_take_jobs(cluster.node(node)) && !is_taken(cluster, probe) && !is_busy(cluster, now, node, draft);
        if (free && draft.nodes.size() < count) draft.nodes.push_back(node);
    }
    if (possible < count) return refuse(ErrorCode::NodeConfigUnavailable);
    if (draft.nodes.size() < count) return refuse(ErrorCode::NodesBusy);
    std::sort(draft.nodes.begin(), draft.nodes.end());
    draft.flags &= ~(kResvSpecNodes | kResvAllNodes);
    return {};
}

Result<void> take_named(const Cluster& cluster, const ReservationChange& change, Reservation& draft) {
    bool all = change.nodes->items == std::vector<std::string>{"ALL"};
    const Partition* partition = cluster.find_partition(draft.partition);
    if (draft.has(kResvPartNodes)) {
        if (!all || !partition) {
            return refuse(ErrorCode::InvalidReservation, "PART_NODES needs PartitionName and Nodes=ALL");
        }
        draft.nodes = partition->nodes;
        std::sort(draft.nodes.begin(), draft.nodes.end());
    } else {
        draft.nodes = all ? all_nodes(cluster) : TRY(named_nodes(cluster, *change.nodes, draft));
        draft.flags &= ~kResvAllNodes;
        if (all) draft.flags |= kResvAllNodes;
    }
    draft.flags |= kResvSpecNodes;
    FeatureExpression features = TRY(features_of(cluster, draft.features));
    for (NodeIndex node : draft.nodes) {
        const NodeConfig& config = cluster.node(node).config;
        if (!features.matches(config.features)) {
            return refuse(ErrorCode::InvalidFeature, fmt::format("node {} is not {}", config.name, draft.features));
        }
    }
    return {};
}

Result<void> change_nodes(const Cluster& cluster, Time now, const ReservationChange& change, const Reservation* before,
                          Reservation& draft) {
    if (change.partition) draft.partition = *change.partition;
    if (change.features) draft.features = *change.features;
    const Partition* partition = cluster.find_partition(draft.partition);
    if (!draft.partition.empty() && !partition) return refuse(ErrorCode::InvalidPartition);
    TRY(features_of(cluster, draft.features));
    bool named = change.nodes && !change.nodes->items.empty();
    if (named) TRY(take_named(cluster, change, draft));
    auto count = change.node_count;
    if (!named && !count && change.nodes) count = static_cast<std::uint32_t>(draft.nodes.size());
    if (!named && !count && !before && partition) count = static_cast<std::uint32_t>(partition->nodes.size());
    if (count) {
        if (*count == 0) return refuse(ErrorCode::InvalidNodeCount, "NodeCnt=0");
        if (named && draft.nodes.size() > *count) draft.nodes.resize(*count);
        else if (!named || draft.nodes.size() < *count) TRY(choose_nodes(cluster, now, *count, draft));
    }
    if (draft.nodes.empty()) return refuse(ErrorCode::InvalidReservation, "no nodes are asked for");
    if (is_taken(cluster, draft)) return refuse(ErrorCode::ReservationOverlap);
    for (NodeIndex node : draft.nodes) {
        bool is_new = !before || !before->has_node(node) || draft.start < before->start;
        if (is_new && is_busy(cluster, now, node, draft)) return refuse(ErrorCode::NodesBusy);
    }
    return {};
}

void write_names(const Cluster& cluster, Reservation& draft) {
    std::vector<std::string> names;
    for (NodeIndex node : draft.nodes) names.push_back(cluster.node(node).config.name);
    draft.node_names = Hostlist(names).to_string();
}

// ---- all of it

std::uint32_t next_number(const Cluster& cluster) {
    std::uint32_t number = 1;
    for (const Reservation& each : cluster.reservations()) number = std::max(number, each.number + 1);
    return number;
}

Result<std::string> name_for(const Cluster& cluster, const ReservationChange& change) {
    if (!change.name.empty()) {
        if (change.name.find_first_of(", \t\n'\"") != std::string::npos) {
            return refuse(ErrorCode::InvalidReservation, fmt::format("ReservationName={}", change.name));
        }
        if (find_reservation(cluster, change.name)) return refuse(ErrorCode::ReservationName);
        return change.name;
    }
    std::uint32_t number = next_number(cluster);
    std::string base = change.name_base.empty() ? "resv" : change.name_base;
    while (find_reservation(cluster, fmt::format("{}_{}", base, number))) ++number;
    return fmt::format("{}_{}", base, number);
}

Result<Reservation> changed(const Cluster& cluster, Time now, const ReservationChange& change,
                            const Reservation* before) {
    Reservation draft = before ? *before : Reservation{};
    if (!before) {
        draft.name = TRY(name_for(cluster, change));
        draft.number = next_number(cluster);
    }
    TRY(change_flags(change, draft));
    TRY(change_times(change, now, before, draft));
    if (change.skip) TRY(skip_one(draft));
    TRY(change_who(change, draft));
    TRY(change_nodes(cluster, now, change, before, draft));
    write_names(cluster, draft);
    return draft;
}

Result<void> delete_reservation(Cluster& cluster, const Reservation& reservation) {
    bool in_use = false;
    cluster.jobs().for_each([&](const Job& job) {
        in_use = in_use || (!is_finished(job.state) && uses(job, reservation));
    });
    if (in_use) return refuse(ErrorCode::ReservationInUse);
    cluster.drop_reservation(reservation.name);
    return {};
}

Result<std::string> perform(Cluster& cluster, Time now, const ChangeReservation& event) {
    const ReservationChange& change = event.change;
    // Compat: that is how somebody without the right is told.
    if (!is_privileged(cluster, event.caller)) return refuse(ErrorCode::UserUnknown);
    const Reservation* before = nullptr;
    if (change.verb != ReservationChange::Verb::Create) {
        before = find_reservation(cluster, change.name);
        if (!before) return refuse(ErrorCode::InvalidReservation);
    }
    if (change.verb == ReservationChange::Verb::Delete) {
        TRY(delete_reservation(cluster, *before));
        return change.name;
    }
    Reservation draft = TRY(changed(cluster, now, change, before));
    std::string name = draft.name;
    cluster.put_reservation(std::move(draft));
    return name;
}

}  // namespace

void on_change_reservation(Cluster& cluster, Time now, const ChangeReservation& event, Effects& effects) {
    cluster.refresh_layout();
    Result<std::string> name = perform(cluster, now, event);
    if (!name) {
        effects.push_back(Reply{event.request, std::move(name).error()});
        return;
    }
    reservations_have_changed(cluster, now);
    effects.push_back(Reply{event.request, ReservationNamed{*std::move(name)}});
}

}  // namespace sluice
