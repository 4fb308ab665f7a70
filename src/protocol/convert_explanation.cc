// protocol/convert_explanation.cc: why a job waits.
#include "protocol/checks.h"
#include "protocol/convert.h"

namespace sluice {
namespace {

using WireAmounts = google::protobuf::RepeatedPtrField<wire::Amount>;
using WireHolders = google::protobuf::RepeatedPtrField<wire::Holder>;
using Holder = Explanation::Holder;

void to_wire(const Tres& amounts, WireAmounts& out) {
    for (const auto& [what, count] : amounts) {
        wire::Amount& amount = *out.Add();
        amount.set_what(what);
        amount.set_count(count);
    }
}

Tres from_wire(const WireAmounts& amounts) {
    Tres out;
    for (const wire::Amount& amount : amounts) out[amount.what()] = amount.count();
    return out;
}

void to_wire(const std::vector<Holder>& holders, WireHolders& out) {
    for (const Holder& holder : holders) {
        wire::Holder& message = *out.Add();
        message.set_job(holder.job);
        message.set_user(holder.user.value);
        message.set_partition(holder.partition);
        message.set_nodes(holder.nodes);
        to_wire(holder.amounts, *message.mutable_amounts());
        message.set_waits(holder.waits);
        if (holder.start) message.set_start(to_unix(*holder.start));
        if (holder.end) message.set_end(to_unix(*holder.end));
    }
}

Result<std::optional<Time>> moment(std::string_view field, bool present, std::int64_t value) {
    if (!present) return std::optional<Time>{};
    return std::optional(from_unix(TRY(checks::number(field, value, sizes::kSeconds))));
}

Result<std::vector<Holder>> from_wire(const WireHolders& holders) {
    std::vector<Holder> out;
    for (const wire::Holder& message : holders) {
        out.push_back({.job = message.job(),
                       .user = UserId{message.user()},
                       .partition = message.partition(),
                       .nodes = message.nodes(),
                       .amounts = from_wire(message.amounts()),
                       .waits = message.waits()});
        out.back().start = TRY(moment("start", message.has_start(), message.start()));
        out.back().end = TRY(moment("end", message.has_end(), message.end()));
    }
    return out;
}

Result<Reason> reason_from(std::string_view field, std::uint32_t value) {
    return checks::one_of(field, value, static_cast<Reason>(kReasonCount - 1));
}

// What keeps the job, other than a lack of room.
void put_obstacles(const Explanation& explanation, wire::Explanation& out) {
    for (const Explanation::Awaited& awaited : explanation.awaited) {
        wire::AwaitedJob& message = *out.add_awaited();
        message.set_condition(awaited.condition);
        message.set_job(awaited.job);
        message.set_state(awaited.state);
        message.set_failed(awaited.failed);
        if (awaited.due) message.set_due(to_unix(*awaited.due));
    }
    for (const Explanation::LicenseShortage& license : explanation.licenses) {
        wire::LicenseShortage& message = *out.add_licenses();
        message.set_name(license.name);
        message.set_wanted(license.wanted);
        message.set_total(license.total);
        message.set_used(license.used);
        to_wire(license.holders, *message.mutable_holders());
        for (const auto& kept : license.kept) {
            wire::LicenseShortage::Kept& entry = *message.add_kept();
            entry.set_reservation(kept.reservation);
            entry.set_count(kept.count);
            entry.set_start(to_unix(kept.start));
            entry.set_end(to_unix(kept.end));
        }
    }
    for (const Explanation::PartitionObstacle& obstacle : explanation.partitions) {
        wire::PartitionObstacle& message = *out.add_partitions();
        message.set_partition(obstacle.partition);
        message.set_reason(static_cast<std::uint32_t>(obstacle.reason));
        message.set_text(obstacle.text);
        to_wire(obstacle.holders, *message.mutable_holders());
    }
    for (const Explanation::ReservationDemand& demand : explanation.reservations) {
        wire::ReservationDemand& message = *out.add_reservations();
        message.set_name(demand.name);
        message.set_state(static_cast<std::uint32_t>(demand.state));
        message.set_nodes(demand.nodes);
        if (demand.start) message.set_start(to_unix(*demand.start));
        if (demand.end) message.set_end(to_unix(*demand.end));
    }
}

void to_wire(const Explanation::Place& place, wire::JobPlace& out) {
    out.set_partition(place.partition);
    out.set_reservation(place.reservation);
    for (const Explanation::UnusableNodes& nodes : place.unusable) {
        wire::UnusableNodes& message = *out.add_unusable();
        message.set_nodes(nodes.nodes);
        message.set_count(nodes.count);
        message.set_state(nodes.state);
        message.set_reason(nodes.reason);
    }
    for (const Explanation::ReservedNodes& nodes : place.reserved) {
        wire::ReservedNodes& message = *out.add_reserved();
        message.set_nodes(nodes.nodes);
        message.set_count(nodes.count);
        message.set_reservation(nodes.reservation);
        message.set_maintenance(nodes.maintenance);
        message.set_start(to_unix(nodes.start));
        message.set_end(to_unix(nodes.end));
    }
    for (const Explanation::Shortage& shortage : place.short_of) {
        wire::Shortage& message = *out.add_short_of();
        message.set_what(shortage.what);
        message.set_wanted(shortage.wanted);
        message.set_free(shortage.free);
        message.set_node(shortage.node);
    }
    to_wire(place.holders, *out.mutable_holders());
    out.set_holders_more(place.holders_more);
}

Result<Explanation::Place> from_wire(const wire::JobPlace& message) {
    Explanation::Place out{.partition = message.partition(),
                           .reservation = message.reservation(),
                           .holders_more = message.holders_more()};
    out.holders = TRY(from_wire(message.holders()));
    for (const wire::UnusableNodes& nodes : message.unusable()) {
        out.unusable.push_back({nodes.nodes(), nodes.count(), nodes.state(), nodes.reason()});
    }
    for (const wire::ReservedNodes& nodes : message.reserved()) {
        Time start = from_unix(TRY(checks::number("start", nodes.start(), sizes::kSeconds)));
        Time end = from_unix(TRY(checks::number("end", nodes.end(), sizes::kSeconds)));
        out.reserved.push_back(
            {nodes.nodes(), nodes.count(), nodes.reservation(), nodes.maintenance(), start, end});
    }
    for (const wire::Shortage& shortage : message.short_of()) {
        out.short_of.push_back(
            {shortage.what(), shortage.wanted(), shortage.free(), shortage.node()});
    }
    return out;
}

Result<void> get_obstacles(const wire::Explanation& message, Explanation& out) {
    for (const wire::AwaitedJob& awaited : message.awaited()) {
        std::optional<Time> due = TRY(moment("due", awaited.has_due(), awaited.due()));
        out.awaited.push_back(
            {awaited.condition(), awaited.job(), awaited.state(), awaited.failed(), due});
    }
    for (const wire::LicenseShortage& license : message.licenses()) {
        out.licenses.push_back({license.name(), license.wanted(), license.total(), license.used()});
        out.licenses.back().holders = TRY(from_wire(license.holders()));
        for (const wire::LicenseShortage::Kept& kept : license.kept()) {
            Time start = TRY(checks::moment("start", kept.start()));
            Time end = TRY(checks::moment("end", kept.end()));
            out.licenses.back().kept.push_back({kept.reservation(), kept.count(), start, end});
        }
    }
    for (const wire::PartitionObstacle& obstacle : message.partitions()) {
        Reason reason = TRY(reason_from("partitions.reason", obstacle.reason()));
        std::vector<Explanation::Holder> holders = TRY(from_wire(obstacle.holders()));
        out.partitions.push_back(
            {obstacle.partition(), reason, obstacle.text(), std::move(holders)});
    }
    for (const wire::ReservationDemand& demand : message.reservations()) {
        using State = Explanation::ReservationState;
        State state = TRY(checks::one_of("reservation state", demand.state(), State::NotAllowed));
        std::optional<Time> start = TRY(moment("start", demand.has_start(), demand.start()));
        std::optional<Time> end = TRY(moment("end", demand.has_end(), demand.end()));
        out.reservations.push_back({demand.name(), state, demand.nodes(), start, end});
    }
    return {};
}

}  // namespace

wire::Explanation to_wire(const Explanation& explanation) {
    wire::Explanation out;
    out.set_job(explanation.job);
    out.set_name(explanation.name);
    out.set_user(explanation.user.value);
    out.set_partition(explanation.partition);
    out.set_state(static_cast<std::uint32_t>(explanation.state));
    out.set_reason(static_cast<std::uint32_t>(explanation.reason));
    out.set_reason_detail(explanation.reason_detail);
    out.set_running_on(explanation.running_on);
    to_wire(explanation.needs, *out.mutable_needs());
    *out.mutable_time_limit() = to_wire(explanation.time_limit);
    out.set_hold(static_cast<std::uint32_t>(explanation.hold));
    if (explanation.begin) out.set_begin(to_unix(*explanation.begin));
    if (explanation.deadline) out.set_deadline(to_unix(*explanation.deadline));
    out.set_any_awaited(explanation.any_awaited);
    out.set_array_limit(explanation.array_limit);
    out.set_array_running(explanation.array_running);
    put_obstacles(explanation, out);
    for (const Explanation::Place& place : explanation.places) to_wire(place, *out.add_places());
    out.set_ahead(explanation.ahead);
    for (const std::string& job : explanation.first_ahead) out.add_first_ahead(job);
    if (explanation.start) out.set_start(to_unix(*explanation.start));
    out.set_start_nodes(explanation.start_nodes);
    out.set_room_now(explanation.room_now);
    for (const Explanation::Change& change : explanation.now_if) {
        wire::RequestChange& message = *out.add_now_if();
        message.set_option(change.option);
        message.set_partition(change.partition);
        message.set_nodes(change.nodes);
    }
    return out;
}

Result<Explanation> from_wire(const wire::Explanation& message) {
    Explanation out{.job = message.job(),
                    .name = message.name(),
                    .user = UserId{message.user()},
                    .partition = message.partition(),
                    .reason_detail = message.reason_detail(),
                    .running_on = message.running_on(),
                    .needs = from_wire(message.needs()),
                    .any_awaited = message.any_awaited(),
                    .array_limit = message.array_limit(),
                    .array_running = message.array_running(),
                    .ahead = message.ahead(),
                    .first_ahead = {message.first_ahead().begin(), message.first_ahead().end()},
                    .start_nodes = message.start_nodes(),
                    .room_now = message.room_now()};
    out.state =
        TRY(checks::one_of("state", message.state(), static_cast<JobState>(kJobStateCount - 1)));
    out.reason = TRY(reason_from("reason", message.reason()));
    out.time_limit = TRY(from_wire(message.time_limit()));
    out.hold = TRY(reason_from("hold", message.hold()));
    out.begin = TRY(moment("begin", message.has_begin(), message.begin()));
    out.deadline = TRY(moment("deadline", message.has_deadline(), message.deadline()));
    out.start = TRY(moment("start", message.has_start(), message.start()));
    TRY(get_obstacles(message, out));
    for (const wire::JobPlace& place : message.places()) {
        out.places.push_back(TRY(from_wire(place)));
    }
    for (const wire::RequestChange& change : message.now_if()) {
        out.now_if.push_back({change.option(), change.partition(), change.nodes()});
    }
    return out;
}

}  // namespace sluice
