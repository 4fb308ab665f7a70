#include "surface/reservations.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/columns.h"
#include "surface/format.h"
#include "surface/properties.h"

namespace sluice {

namespace {

using C = ReservationColumn;

// "root,daemon"; "-daemon" for all users but that one.
void users(const SheetRow& reservation, std::string& out) {
    std::vector<std::string> words;
    const std::string_view mark = reservation.number(C::UsersDenied) == 1 ? "-" : "";
    for (std::string_view id : split(reservation.text(C::Users), ',')) {
        if (id.empty()) continue;
        const auto number = static_cast<std::int64_t>(to_number(id).value_or(0));
        words.push_back(fmt::format("{}{}", mark, reservation.sheet->user_name(number)));
    }
    out += join(words, ",");
}

template <C Names, C Denied>
void names(const SheetRow& reservation, std::string& out) {
    std::vector<std::string> words;
    const std::string_view mark = reservation.number(Denied) == 1 ? "-" : "";
    for (std::string_view name : split(reservation.text(Names), ',')) {
        if (!name.empty()) words.push_back(fmt::format("{}{}", mark, name));
    }
    out += join(words, ",");
}

template <Cell List>
void or_null_word(const SheetRow& reservation, std::string& out) {
    const std::size_t start = out.size();
    List(reservation, out);
    if (out.size() == start) out += "(null)";
}

void duration(const SheetRow& reservation, std::string& out) {
    append_long_duration(reservation.number(C::EndTime) - reservation.number(C::StartTime), out);
}

// Each "NodeName=n1 CoreIDs=0-1" of a reservation of certain cores.
void write_cores(const SheetRow& reservation, Json& json, std::string_view key) {
    json.open_list(key);
    for (std::string_view line : split(reservation.text(C::CoreIds), '\n')) {
        if (line.empty()) continue;
        json.open_object();
        json.text("node", word_value(line, "NodeName="));
        json.text("core", word_value(line, "CoreIDs="));
        json.close();
    }
    json.close();
}

// Compat: FIRST_CORES is no word of the data parsers, and clients refuse unknown words.
void write_flags(const SheetRow& reservation, Json& json, std::string_view key) {
    json.open_list(key);
    for (std::string_view word : split(reservation.text(C::Flags), ',')) {
        if (word.empty() || word == "FIRST_CORES") continue;
        json.element(word.substr(0, word.find('=')));
    }
    json.close();
}

constexpr Cell accounts = names<C::Accounts, C::AccountsDenied>;
constexpr Cell qos = names<C::Qos, C::QosDenied>;
constexpr Cell partitions = names<C::AllowedPartitions, C::PartitionsDenied>;
constexpr std::uint8_t kWhole = kWholeValue;

// clang-format off
constexpr Property<SheetRow> kProperties[] = {
    {made_of(C::Accounts, C::AccountsDenied), record("Accounts", or_null_word<accounts>),
     json("accounts", json_text_of<accounts>)},
    {made_of(C::AllowedPartitions, C::PartitionsDenied), record("AllowedPartitions", or_null_word<partitions>),
     json("allowed_partitions", json_text_of<partitions>)},
    {word<"(null)">,             record("BurstBuffer"), json("burst_buffer")},
    {text<C::Comment>,           record("Comment", kIfSet), json("comment")},
    {number<C::CoreCount>,       record("CoreCnt"), json("core_count")},
    {text<C::CoreIds, "">, record("CoreIDs", text_cell<C::CoreIds, "">, kLines),
     json("core_specializations", write_cores)},
    {moment<C::EndTime>, list("EndTime", "END_TIME", moment_cell<C::EndTime, "Unknown">).with(kWhole),
     record("EndTime"), json("end_time")},
    {text<C::Features>,          record("Features"), json("features")},
    {text<C::Flags>,             record("Flags", text_cell<C::Flags, "">), json("flags", write_flags)},
    {text<C::Groups>,            record("Groups"), json("groups")},
    {text<C::Licenses>,          record("Licenses"), json("licenses")},
    {number<C::MaxStartDelay>, record("MaxStartDelay", long_duration_cell<C::MaxStartDelay, "(null)">),
     json("max_start_delay")},
    {text<C::Name>,              list("Name", "RESV_NAME"), record("ReservationName"), json("name")},
    {number<C::NodeCount>,       record("NodeCnt"), json("node_count")},
    {text<C::Nodes, "">,         list("Nodes", "NODELIST"), record("Nodes"), json("node_list")},
    {text<C::Partition>,         record("PartitionName"), json("partition")},
    {optional_number<C::PurgeAfter>, json("purge_completed/time")},
    {made_of(C::Qos, C::QosDenied), record("QOS", or_null_word<qos>), json("qos", json_text_of<qos>)},
    {moment<C::StartTime>, list("StartTime", "START_TIME", moment_cell<C::StartTime, "Unknown">).with(kWhole),
     record("StartTime"), json("start_time")},
    {word<"">,                   json("watts", json_unset).until(44)},
    {text<C::Tres>,              record("TRES"), json("tres")},
    {made_of(C::Users, C::UsersDenied), record("Users", or_null_word<users>), json("users", json_text_of<users>)},
    {made_of(C::StartTime, C::EndTime), list("Duration", "DURATION", duration).with(kWhole),
     record("Duration", duration)},
    {flag<C::IsActive>, list("State", "STATE", flag_cell<C::IsActive, "ACTIVE", "INACTIVE">),
     record("State", flag_cell<C::IsActive, "ACTIVE", "INACTIVE">)},
};
// clang-format on

constexpr std::string_view kRecord[] = {
    "ReservationName StartTime EndTime Duration",
    "Nodes NodeCnt CoreCnt Features PartitionName Flags",
    "CoreIDs",
    "TRES",
    "AllowedPartitions QOS",
    "Users Groups Accounts Licenses State BurstBuffer",
    "MaxStartDelay",
    "Comment",
};

}  // namespace

std::span<const Property<SheetRow>> reservation_properties() {
    return kProperties;
}

void append_reservation_record(const SheetRow& reservation, const RecordStyle& style,
                               std::string& out) {
    static const RecordLayout layout(record_keys<SheetRow>(kProperties), kRecord);
    layout.append(reservation, style, out);
}

std::string reservations_json(const Sheet& reservations, const JsonMeta& meta) {
    return json_document("reservations", json_keys<SheetRow>(kProperties), reservations, meta);
}

std::string reservation_lines(const Sheet& reservations, bool header) {
    static const std::vector<ShownField<SheetRow>> fields = fields_of<SheetRow>({kProperties});
    Format<SheetRow> format = parse_long_format<SheetRow>(
        "Name:9  ,State:.8  ,StartTime:.19  ,EndTime:.19  ,Duration:.11  ,Nodes:0", fields);
    // Compat: the names are as wide as the longest, but no narrower than the header.
    std::uint32_t& width = format.cells[0].width;
    for (std::uint32_t i = 0; i < reservations.rows(); ++i) {
        width = std::max(width, static_cast<std::uint32_t>(reservations.text(i, C::Name).size()));
    }
    std::string out;
    if (header) append_header(format, out);
    for (std::uint32_t i = 0; i < reservations.rows(); ++i) {
        append_row(format, {&reservations, i}, out);
    }
    return out;
}

}  // namespace sluice
