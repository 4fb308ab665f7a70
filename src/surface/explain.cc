#include "surface/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/times.h"
#include "os/user.h"

namespace sluice {

namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kDatasetOn = "dataset/";  // and the node that has so many

std::string user_name(std::uint32_t uid) {
    std::optional<User> user = find_user(uid);
    return user ? user->name : fmt::format("{}", uid);
}

void add(Lines& lines, std::string_view topic, std::string_view text) {
    lines.push_back(fmt::format("{:<9} {}", topic, text));
}

// "12_[3-5%2]" is written as its array's number in commands.
std::string_view number_of(const Explanation& explanation) {
    return std::string_view(explanation.job).substr(0, explanation.job.find("_["));
}

// The hour is enough for today; other days are named.
std::string clock_text(Time time, Time now) {
    const std::string moment = print_moment(time);
    const std::string today = print_moment(now);
    if (moment.substr(0, 10) == today.substr(0, 10)) return moment.substr(11, 5);
    return moment.substr(0, 16);
}

std::string plural(std::uint64_t count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

// "4 GPUs (h100)", "16 CPUs", "32G memory", "2 matlab licenses".
std::string amount_text(std::string_view what, std::uint64_t count) {
    if (what == "cpu") return plural(count, "CPU");
    if (what == "mem") return print_memory(count) + " memory";
    if (what.starts_with("license/")) {
        return plural(count, fmt::format("{} license", what.substr(8)));
    }
    if (!what.starts_with("gres/")) return plural(count, what);
    what.remove_prefix(5);
    const std::size_t colon = what.find(':');
    const std::string_view name = what.substr(0, colon);
    std::string text = plural(count, name == "gpu" ? "GPU" : name);
    if (colon != std::string_view::npos) text += fmt::format(" ({})", what.substr(colon + 1));
    return text;
}

std::string amounts_text(const Tres& amounts) {
    std::string devices, rest;
    for (const auto& [what, count] : amounts) {
        if (what == "node" || what.starts_with(kDatasetOn)) continue;
        std::string& text = what.starts_with("gres/") ? devices : rest;
        text += (text.empty() ? "" : ", ") + amount_text(what, count);
    }
    return devices + (devices.empty() || rest.empty() ? "" : ", ") + rest;
}

std::string holder_text(const Explanation::Holder& holder, Time now) {
    std::string text = holder.job.empty()
                           ? "a job of another user"
                           : fmt::format("job {} ({})", holder.job, user_name(holder.user.value));
    const std::string amounts = amounts_text(holder.amounts);
    if (!amounts.empty()) text += " " + amounts;
    if (!holder.nodes.empty()) text += " on " + holder.nodes;
    if (holder.waits && holder.start) return text + " from " + clock_text(*holder.start, now);
    if (holder.end) text += " until " + clock_text(*holder.end, now);
    return text;
}

void add_holders(Lines& lines, std::string_view topic,
                 const std::vector<Explanation::Holder>& holders, std::uint32_t more, Time now) {
    for (const Explanation::Holder& holder : holders) {
        add(lines, topic, holder_text(holder, now));
        topic = "";
    }
    if (more > 0) add(lines, "", fmt::format("and {} more", plural(more, "job")));
}

void add_needs(const Explanation& explanation, Lines& lines) {
    if (explanation.needs.empty()) return;
    std::string text = amounts_text(explanation.needs);
    auto nodes = explanation.needs.find("node");
    if (nodes != explanation.needs.end()) text += " on " + plural(nodes->second, "node");
    if (!explanation.time_limit.unlimited()) {
        text += " for " + print_time_limit(explanation.time_limit);
    }
    add(lines, "needs", text);
    const auto datasets = explanation.needs.find("dataset");
    for (const auto& [what, count] : explanation.needs) {
        if (datasets == explanation.needs.end() || !what.starts_with(kDatasetOn)) continue;
        add(lines, "data",
            fmt::format("{} of {} on {}, which is preferred", count,
                        plural(datasets->second, "dataset"), what.substr(kDatasetOn.size())));
    }
}

void add_awaited(const Explanation& explanation, Time now, Lines& lines) {
    std::string_view topic = "waits for";
    for (const Explanation::Awaited& awaited : explanation.awaited) {
        std::string text = awaited.condition;
        if (awaited.condition == "singleton") text += fmt::format(" (job {})", awaited.job);
        text += awaited.state.empty() ? ": not known any more" : ": " + awaited.state;
        if (awaited.failed)
            text += ", can never be fulfilled";
        else if (awaited.due)
            text += " until " + clock_text(*awaited.due, now) + " at the latest";
        add(lines, topic, text);
        topic = explanation.any_awaited ? "or" : "and";
    }
    if (explanation.awaited.empty()) return;
    const auto never = [](const Explanation::Awaited& awaited) { return awaited.failed; };
    const auto& all = explanation.awaited;
    const bool hopeless = explanation.any_awaited ? std::all_of(all.begin(), all.end(), never)
                                                  : std::any_of(all.begin(), all.end(), never);
    add(lines, "released",
        fmt::format("{}: scontrol update JobId={} Dependency=",
                    hopeless ? "only without" : "then, or at once without",
                    number_of(explanation)));
}

// From when to when, the day named where it is another.
std::string span_text(const std::optional<Time>& start, const std::optional<Time>& end, Time now) {
    std::string text;
    if (start && *start > now) text += " from " + clock_text(*start, now);
    if (end) text += " until " + clock_text(*end, now);
    return text;
}

void add_reservations(const Explanation& explanation, Time now, Lines& lines) {
    using State = Explanation::ReservationState;
    std::string_view topic = "reserved";
    for (const Explanation::ReservationDemand& demand : explanation.reservations) {
        std::string text = demand.name;
        if (demand.state == State::Gone) text += ": there is no such reservation any more";
        if (demand.state == State::NotAllowed) text += ": it is not for this user and account";
        if (demand.state == State::NotBegun) text += ": it has not begun";
        if (!demand.nodes.empty()) text += fmt::format(", {}", demand.nodes);
        if (demand.state != State::Gone) text += span_text(demand.start, demand.end, now);
        add(lines, topic, text);
        topic = "or";
    }
}

void add_hold(const Explanation& explanation, Lines& lines) {
    const std::string_view id = number_of(explanation);
    if (explanation.hold == Reason::JobHeldAdmin) {
        add(lines, "held",
            fmt::format("by an administrator, who must release it: scontrol release {}", id));
    } else if (explanation.hold == Reason::ReservationDeleted) {
        add(lines, "held",
            fmt::format("its reservation is over; to run without: scontrol release {}", id));
    } else if (explanation.hold == Reason::BadConstraints) {
        add(lines, "held",
            fmt::format("no nodes will do any more; change the job, or once there are some: "
                        "scontrol release {}",
                        id));
    } else if (explanation.hold != Reason::None) {
        add(lines, "held", fmt::format("release it with: scontrol release {}", id));
    }
}

void add_rules(const Explanation& explanation, Time now, Lines& lines) {
    add_hold(explanation, lines);
    if (explanation.begin) {
        add(lines, "begins",
            fmt::format("not before {}; at once with: scontrol update JobId={} StartTime=now",
                        clock_text(*explanation.begin, now), number_of(explanation)));
    }
    if (explanation.deadline) {
        add(lines, "deadline", clock_text(*explanation.deadline, now) + ": then it is cancelled");
    }
    add_awaited(explanation, now, lines);
    if (explanation.array_limit > 0) {
        add(lines, "array",
            fmt::format("{} of its tasks run, {} may at once; more with: scontrol update JobId={} "
                        "ArrayTaskThrottle=",
                        explanation.array_running, explanation.array_limit,
                        number_of(explanation)));
    }
    for (const Explanation::LicenseShortage& license : explanation.licenses) {
        add(lines, "licenses",
            fmt::format("{} {} wanted, {} of {} are in use", license.wanted, license.name,
                        license.used, license.total));
        add_holders(lines, "held by", license.holders, 0, now);
        for (const auto& kept : license.kept) {
            add(lines, "kept by",
                fmt::format("reservation{}{}: {} {}{}", kept.reservation.empty() ? "" : " ",
                            kept.reservation, kept.count, license.name,
                            span_text(kept.start, kept.end, now)));
        }
    }
    for (const Explanation::PartitionObstacle& obstacle : explanation.partitions) {
        add(lines, "partition", fmt::format("{}: {}", obstacle.partition, obstacle.text));
        add_holders(lines, "held by", obstacle.holders, 0, now);
    }
    add_reservations(explanation, now, lines);
}

void add_shortages(const Explanation::Place& place, Lines& lines) {
    std::string_view topic = "short of";
    for (const Explanation::Shortage& shortage : place.short_of) {
        const std::string missing = amount_text(shortage.what, shortage.wanted - shortage.free);
        const std::string free =
            shortage.what == "mem" ? print_memory(shortage.free) : fmt::format("{}", shortage.free);
        if (!shortage.node.empty()) {
            add(lines, topic,
                fmt::format("{}: best node {} has {} free", missing, shortage.node, free));
        } else if (shortage.what == "task") {
            add(lines, topic,
                fmt::format("room for {}: {} of {} would fit", missing, free, shortage.wanted));
        } else {
            add(lines, topic,
                fmt::format("{}: {} of {} could be had", missing, free, shortage.wanted));
        }
        topic = "";
    }
}

void add_unusable(const Explanation::Place& place, Time now, Lines& lines) {
    std::string_view topic = "unusable";
    for (const Explanation::UnusableNodes& nodes : place.unusable) {
        std::string text =
            fmt::format("{} {} {}", nodes.nodes, nodes.count == 1 ? "is" : "are", nodes.state);
        if (!nodes.reason.empty()) text += ": " + nodes.reason;
        add(lines, topic, text);
        topic = "";
    }
    topic = "kept by";
    for (const Explanation::ReservedNodes& nodes : place.reserved) {
        add(lines, topic,
            fmt::format("reservation{}{}{}: {}{}", nodes.reservation.empty() ? "" : " ",
                        nodes.reservation, nodes.maintenance ? " (maintenance)" : "", nodes.nodes,
                        span_text(nodes.start, nodes.end, now)));
        topic = "";
    }
}

// What is missing in each partition that is open to it; of several each under its name.
void add_places(const Explanation& explanation, Time now, Lines& lines) {
    for (const Explanation::Place& place : explanation.places) {
        Lines here;
        add_shortages(place, here);
        add_unusable(place, now, here);
        const bool promised = !place.holders.empty() && place.holders.front().waits;
        add_holders(here, promised ? "kept for" : "held by", place.holders, place.holders_more,
                    now);
        const bool alone = explanation.places.size() == 1 && explanation.partitions.empty();
        if (!alone) {
            std::string name = place.partition;
            if (!place.reservation.empty()) name += ", reservation " + place.reservation;
            if (here.empty()) name += ": nothing is missing there";
            add(lines, "partition", name);
        }
        for (const std::string& line : here) lines.push_back((alone ? "" : "  ") + line);
    }
}

void add_room_now(const Explanation& explanation, Lines& lines) {
    if (!explanation.room_now) return;
    const bool kept = explanation.hold != Reason::None || explanation.begin ||
                      explanation.array_limit > 0 || !explanation.licenses.empty();
    add(lines, "room",
        kept ? "there is room for it now"
             : "there is room for it now: it starts with the next pass");
}

void add_changes(const Explanation& explanation, Lines& lines) {
    if (explanation.now_if.empty()) return;
    std::string text;
    for (const Explanation::Change& change : explanation.now_if) {
        text += (text.empty() ? "" : "   or   ") + change.option;
    }
    add(lines, "now if", text);
}

void write_moment(Json& json, std::string_view key, const std::optional<Time>& time) {
    if (time)
        json.number(key, to_unix(*time));
    else
        json.null(key);
}

void write_amounts(Json& json, std::string_view key, const Tres& amounts) {
    json.open_object(key);
    for (const auto& [what, count] : amounts) json.number(what, static_cast<std::int64_t>(count));
    json.close();
}

void write_holders(Json& json, const std::vector<Explanation::Holder>& holders) {
    json.open_list("holders");
    for (const Explanation::Holder& holder : holders) {
        json.open_object();
        json.text("job_id", holder.job);
        json.text("user_name", holder.job.empty() ? "" : user_name(holder.user.value));
        json.text("partition", holder.partition);
        json.text("nodes", holder.nodes);
        write_amounts(json, "tres", holder.amounts);
        json.boolean("pending", holder.waits);
        write_moment(json, "start_time", holder.start);
        write_moment(json, "end_time", holder.end);
        json.close();
    }
    json.close();
}

void write_rules(Json& json, const Explanation& explanation) {
    json.text("hold", explanation.hold == Reason::None ? "" : reason_name(explanation.hold));
    write_moment(json, "eligible_time", explanation.begin);
    write_moment(json, "deadline", explanation.deadline);
    json.open_list("dependencies");
    for (const Explanation::Awaited& awaited : explanation.awaited) {
        json.open_object();
        json.text("condition", awaited.condition);
        json.text("job_id", awaited.job);
        json.text("job_state", awaited.state);
        json.boolean("never", awaited.failed);
        write_moment(json, "expected", awaited.due);
        json.close();
    }
    json.close();
    json.number("array_limit", explanation.array_limit);
    json.number("array_running", explanation.array_running);
    json.open_list("licenses");
    for (const Explanation::LicenseShortage& license : explanation.licenses) {
        json.open_object();
        json.text("name", license.name);
        json.number("wanted", license.wanted);
        json.number("total", license.total);
        json.number("used", license.used);
        write_holders(json, license.holders);
        json.open_list("reservations");
        for (const auto& kept : license.kept) {
            json.open_object();
            json.text("name", kept.reservation);
            json.number("count", kept.count);
            write_moment(json, "start_time", kept.start);
            write_moment(json, "end_time", kept.end);
            json.close();
        }
        json.close();
        json.close();
    }
    json.close();
    json.open_list("partition_obstacles");
    for (const Explanation::PartitionObstacle& obstacle : explanation.partitions) {
        json.open_object();
        json.text("partition", obstacle.partition);
        json.text("reason", reason_name(obstacle.reason));
        json.text("description", obstacle.text);
        write_holders(json, obstacle.holders);
        json.close();
    }
    json.close();
    constexpr std::string_view kStates[] = {"OPEN", "NOT_BEGUN", "GONE", "NOT_ALLOWED"};
    json.open_list("reservations");
    for (const Explanation::ReservationDemand& demand : explanation.reservations) {
        json.open_object();
        json.text("name", demand.name);
        json.text("state", kStates[static_cast<int>(demand.state)]);
        json.text("nodes", demand.nodes);
        write_moment(json, "start_time", demand.start);
        write_moment(json, "end_time", demand.end);
        json.close();
    }
    json.close();
}

void write_place(Json& json, const Explanation::Place& place) {
    json.open_object();
    json.text("partition", place.partition);
    json.text("reservation", place.reservation);
    json.open_list("unusable_nodes");
    for (const Explanation::UnusableNodes& nodes : place.unusable) {
        json.open_object();
        json.text("nodes", nodes.nodes);
        json.number("count", nodes.count);
        json.text("state", nodes.state);
        json.text("reason", nodes.reason);
        json.close();
    }
    json.close();
    json.open_list("reserved_nodes");
    for (const Explanation::ReservedNodes& nodes : place.reserved) {
        json.open_object();
        json.text("nodes", nodes.nodes);
        json.number("count", nodes.count);
        json.text("reservation", nodes.reservation);
        json.boolean("maintenance", nodes.maintenance);
        write_moment(json, "start_time", nodes.start);
        write_moment(json, "end_time", nodes.end);
        json.close();
    }
    json.close();
    json.open_list("short_of");
    for (const Explanation::Shortage& shortage : place.short_of) {
        json.open_object();
        json.text("tres", shortage.what);
        json.number("wanted", static_cast<std::int64_t>(shortage.wanted));
        json.number("free", static_cast<std::int64_t>(shortage.free));
        json.text("best_node", shortage.node);
        json.close();
    }
    json.close();
    write_holders(json, place.holders);
    json.number("holders_more", place.holders_more);
    json.close();
}

void write_room(Json& json, const Explanation& explanation) {
    json.open_list("places");
    for (const Explanation::Place& place : explanation.places) write_place(json, place);
    json.close();
    json.boolean("room_now", explanation.room_now);
    json.number("jobs_ahead", explanation.ahead);
    json.texts("first_jobs_ahead", explanation.first_ahead);
}

}  // namespace

std::string explanation_title(const Explanation& explanation) {
    std::string title = fmt::format("Job {} ({}, {})", explanation.job, explanation.name,
                                    user_name(explanation.user.value));
    if (explanation.state != JobState::Pending) {
        title += fmt::format(" does not wait: {}", state_name(explanation.state));
        if (!explanation.running_on.empty()) title += " on " + explanation.running_on;
        return title;
    }
    return title + fmt::format(" waits in partition {}: {}", explanation.partition,
                               print_reason(explanation.reason, explanation.reason_detail));
}

std::vector<std::string> explanation_lines(const Explanation& explanation, Time now) {
    Lines lines;
    if (explanation.state != JobState::Pending) return lines;
    add_needs(explanation, lines);
    add_rules(explanation, now, lines);
    add_places(explanation, now, lines);
    add_room_now(explanation, lines);
    if (explanation.ahead > 0) {
        const bool many = explanation.ahead >= Explanation::kAheadMost;
        std::string text =
            (many ? "at least " : "") + plural(explanation.ahead, "job") + " with higher priority";
        if (!explanation.first_ahead.empty()) {
            text += ": " + join(explanation.first_ahead, ", ");
            if (explanation.ahead > explanation.first_ahead.size()) text += ", ...";
        }
        add(lines, "behind", text);
    }
    if (explanation.start) {
        std::string text = "about " + clock_text(*explanation.start, now);
        if (!explanation.start_nodes.empty()) text += " on " + explanation.start_nodes;
        add(lines, "starts", text);
    }
    add_changes(explanation, lines);
    return lines;
}

std::optional<std::string> smaller_request(const Explanation& explanation, Time now) {
    constexpr Seconds kSoon{60};
    constexpr std::size_t kShownMost = 2;
    if (explanation.now_if.empty() || explanation.room_now) return std::nullopt;
    if (explanation.start && *explanation.start < now + kSoon) return std::nullopt;
    std::string changes;
    const std::size_t shown = std::min(kShownMost, explanation.now_if.size());
    for (std::size_t i = 0; i < shown; ++i) {
        changes.append(i == 0 ? "" : " or ").append(explanation.now_if[i].option);
    }
    const std::string& job = explanation.job;
    if (!explanation.start) {
        return fmt::format("job {0} would start now if {1} (swhy {0})", job, changes);
    }
    return fmt::format("job {0} starts about {1}; now if {2} (swhy {0})", job,
                       clock_text(*explanation.start, now), changes);
}

void write_explanation(const Explanation& explanation, Json& json) {
    json.open_object();
    json.text("job_id", explanation.job);
    json.text("name", explanation.name);
    json.text("user_name", user_name(explanation.user.value));
    json.text("partition", explanation.partition);
    json.text("job_state", state_name(explanation.state));
    json.text("state_reason", reason_name(explanation.reason));
    json.text("state_description", explanation.reason_detail);
    write_amounts(json, "needs", explanation.needs);
    json.number("time_limit_seconds",
                explanation.time_limit.unlimited() ? -1 : explanation.time_limit.length().count());
    write_rules(json, explanation);
    write_room(json, explanation);
    write_moment(json, "start_time", explanation.start);
    json.text("scheduled_nodes", explanation.start_nodes);
    json.open_list("starts_now_if");
    for (const Explanation::Change& change : explanation.now_if) {
        json.open_object();
        json.text("option", change.option);
        json.text("partition", change.partition);
        json.text("nodes", change.nodes);
        json.close();
    }
    json.close();
    json.close();
}

}  // namespace sluice
