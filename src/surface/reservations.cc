#include "surface/reservations.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/columns.h"
#include "surface/record.h"

namespace sluice {

namespace {

using C = ReservationColumn;

// "root,daemon"; "-daemon" for all users but that one.
std::string users_text(const SheetRow& reservation) {
    std::vector<std::string> words;
    const std::string_view mark = reservation.number(C::UsersDenied) == 1 ? "-" : "";
    for (std::string_view id : split(reservation.text(C::Users), ',')) {
        if (id.empty()) continue;
        const auto number = static_cast<std::int64_t>(to_number(id).value_or(0));
        words.push_back(fmt::format("{}{}", mark, reservation.sheet->user_name(number)));
    }
    return join(words, ",");
}

std::string names_text(const SheetRow& reservation, C names, C denied) {
    std::vector<std::string> words;
    const std::string_view mark = reservation.number(denied) == 1 ? "-" : "";
    for (std::string_view name : split(reservation.text(names), ',')) {
        if (!name.empty()) words.push_back(fmt::format("{}{}", mark, name));
    }
    return join(words, ",");
}

std::string accounts_text(const SheetRow& reservation) {
    return names_text(reservation, C::Accounts, C::AccountsDenied);
}

std::string qos_text(const SheetRow& reservation) {
    return names_text(reservation, C::Qos, C::QosDenied);
}

std::string partitions_text(const SheetRow& reservation) {
    return names_text(reservation, C::AllowedPartitions, C::PartitionsDenied);
}

std::string_view state_text(const SheetRow& reservation) {
    return reservation.number(C::IsActive) == 1 ? "ACTIVE" : "INACTIVE";
}

std::string moment_of(const SheetRow& reservation, C column) {
    return moment_text(reservation.number(column), "Unknown", reservation.looks());
}

std::string length_of(const SheetRow& reservation) {
    return long_duration_text(reservation.number(C::EndTime) - reservation.number(C::StartTime),
                              "");
}

// "NodeName=n1 CoreIDs=0-1", of each node of a reservation of certain cores.
std::vector<std::string_view> core_lines(const SheetRow& reservation) {
    const std::string_view text = reservation.text(C::CoreIds);
    return text.empty() ? std::vector<std::string_view>{} : split(text, '\n');
}

void write_json(const SheetRow& reservation, Json& json) {
    json.open_object();
    json.text("accounts", accounts_text(reservation));
    json.text("allowed_partitions", partitions_text(reservation));
    json.text("burst_buffer", "");
    json.text("comment", reservation.text(C::Comment));
    json.number("core_count", reservation.number(C::CoreCount));
    json.open_list("core_specializations");
    for (std::string_view line : core_lines(reservation)) {
        json.open_object();
        json.text("node", word_value(line, "NodeName="));
        json.text("core", word_value(line, "CoreIDs="));
        json.close();
    }
    json.close();
    json.optional_number("end_time", reservation.number(C::EndTime));
    json.text("features", reservation.text(C::Features));
    json.open_list("flags");
    for (std::string_view word : split(reservation.text(C::Flags), ',')) {
        if (!word.empty()) json.element(word.substr(0, word.find('=')));
    }
    json.close();
    json.text("groups", reservation.text(C::Groups));
    json.text("licenses", reservation.text(C::Licenses));
    const std::int64_t delay = reservation.number(C::MaxStartDelay);
    json.number("max_start_delay", delay == kAbsent ? 0 : delay);
    json.text("name", reservation.text(C::Name));
    json.number("node_count", reservation.number(C::NodeCount));
    json.text("node_list", reservation.text(C::Nodes));
    json.text("partition", reservation.text(C::Partition));
    json.open_object("purge_completed");
    json.optional_number("time", reservation.number(C::PurgeAfter));
    json.close();
    json.text("qos", qos_text(reservation));
    json.optional_number("start_time", reservation.number(C::StartTime));
    json.text("tres", reservation.text(C::Tres));
    json.text("users", users_text(reservation));
    json.close();
}

}  // namespace

void append_reservation_record(const SheetRow& reservation, const RecordStyle& style,
                               std::string& out) {
    Record record(out, style);
    record.add("ReservationName={} StartTime={} EndTime={} Duration={}", reservation.text(C::Name),
               moment_of(reservation, C::StartTime), moment_of(reservation, C::EndTime),
               length_of(reservation));
    record.line("Nodes={} NodeCnt={} CoreCnt={} Features={} PartitionName={} Flags={}",
                or_null(reservation.text(C::Nodes)), reservation.number(C::NodeCount),
                reservation.number(C::CoreCount), or_null(reservation.text(C::Features)),
                or_null(reservation.text(C::Partition)), reservation.text(C::Flags));
    for (std::string_view line : core_lines(reservation)) record.line("  {}", line);
    record.line("TRES={}", or_null(reservation.text(C::Tres)));
    record.line("AllowedPartitions={} QOS={}", or_null(partitions_text(reservation)),
                or_null(qos_text(reservation)));
    record.line("Users={} Groups={} Accounts={} Licenses={} State={} BurstBuffer=(null)",
                or_null(users_text(reservation)), or_null(reservation.text(C::Groups)),
                or_null(accounts_text(reservation)), or_null(reservation.text(C::Licenses)),
                state_text(reservation));
    record.line("MaxStartDelay={}",
                long_duration_text(reservation.number(C::MaxStartDelay), "(null)"));
    if (!reservation.text(C::Comment).empty()) {
        record.line("Comment={}", reservation.text(C::Comment));
    }
}

std::string reservations_json(const Sheet& reservations, const JsonMeta& meta, bool compact) {
    Json json(compact);
    json.open_object();
    json.open_list("reservations");
    for (std::uint32_t i = 0; i < reservations.rows(); ++i) write_json({&reservations, i}, json);
    json.close();
    json.optional_number("last_update", to_unix(reservations.looks().now));
    write_json_meta(json, meta);
    json.close();
    return json.take();
}

std::string reservation_lines(const Sheet& reservations, bool header) {
    // Compat: the names are as wide as the longest, but no narrower than the header.
    std::size_t width = 9;
    for (std::uint32_t i = 0; i < reservations.rows(); ++i) {
        width = std::max(width, reservations.text(i, C::Name).size());
    }
    std::string out;
    const auto line = [&](std::string_view name, std::string_view state, std::string_view start,
                          std::string_view end, std::string_view length, std::string_view nodes) {
        out += fmt::format("{:<{}}  {:>8}  {:>19}  {:>19}  {:>11}  {}\n", name, width, state, start,
                           end, length, nodes);
    };
    if (header) line("RESV_NAME", "STATE", "START_TIME", "END_TIME", "DURATION", "NODELIST");
    for (std::uint32_t i = 0; i < reservations.rows(); ++i) {
        const SheetRow each{&reservations, i};
        line(each.text(C::Name), state_text(each), moment_of(each, C::StartTime),
             moment_of(each, C::EndTime), length_of(each), each.text(C::Nodes));
    }
    return out;
}

}  // namespace sluice
