// See shares.h.
#include "surface/shares.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <iterator>

#include "base/text.h"
#include "model/columns.h"
#include "surface/cells.h"

namespace sluice {

namespace {

using C = ShareColumn;

double real_of(std::string_view text) {
    return std::strtod(std::string(text).c_str(), nullptr);  // also "inf"
}

template <C Column>
void fraction_cell(const SheetRow& row, std::string& out) {
    const std::string_view text = row.text(Column);
    if (!text.empty()) fmt::format_to(std::back_inserter(out), "{:.6f}", real_of(text));
}

// Compat: whole units, cut.
void raw_usage(const SheetRow& row, std::string& out) {
    fmt::format_to(std::back_inserter(out), "{:.0f}", std::floor(real_of(row.text(C::RawUsage))));
}

void raw_shares(const SheetRow& row, std::string& out) {
    const std::int64_t shares = row.number(C::RawShares);
    if (shares == kUnlimited)
        out += "parent";
    else if (shares != kAbsent)
        append_number(shares, out);
}

template <typename Visit>
void for_each_amount(std::string_view list, Visit visit) {
    for (std::string_view word : split(list, ',')) {
        const std::size_t equals = word.rfind('=');
        if (equals != std::string_view::npos)
            visit(word.substr(0, equals), real_of(word.substr(equals + 1)));
    }
}

template <C Column>
void minutes_cell(const SheetRow& row, std::string& out) {
    const char* before = "";
    for_each_amount(row.text(Column), [&](std::string_view name, double seconds) {
        fmt::format_to(std::back_inserter(out), "{}{}={:.0f}", before, name,
                       std::floor(seconds / 60));
        before = ",";
    });
}

void tree_cell(const SheetRow& row, std::string& out) {
    out.append(static_cast<std::size_t>(row.number(C::Depth)), ' ');
    out += row.text(C::Account);
}

// clang-format off
constexpr ReportField kFields[] = {
    {"Account",      "Account",      20, true,  text_cell<C::Account, "">},
    {"Cluster",      "Cluster",      10, false, text_cell<C::Cluster, "">},
    {"EffectvUsage", "EffectvUsage", 13, true,  fraction_cell<C::EffectiveUsage>},
    {"FairShare",    "FairShare",    10, true,  fraction_cell<C::FairShare>},
    {"GrpTRESMins",  "GrpTRESMins",  30, true,  text_cell<C::GrpTresMins, "">},
    {"GrpTRESRaw",   "GrpTRESRaw",   30, false, minutes_cell<C::TresSeconds>},
    {"ID",           "ID",            6, false, number_cell<C::Id>},
    {"LevelFS",      "LevelFS",      10, true,  fraction_cell<C::LevelFs>},
    {"NormShares",   "NormShares",   11, true,  fraction_cell<C::NormShares>},
    {"NormUsage",    "NormUsage",    11, true,  fraction_cell<C::NormUsage>},
    {"Partition",    "Partition",    12, true,  text_cell<C::Partition, "">},
    {"RawShares",    "RawShares",    10, true,  raw_shares},
    {"RawUsage",     "RawUsage",     11, true,  raw_usage},
    {"TRESRunMins",  "TRESRunMins",  30, true,  minutes_cell<C::TresRunSeconds>},
    {"User",         "User",         10, true,  text_cell<C::User, "">},
};
// clang-format on
constexpr ReportField kTree{"Account", "Account", 20, true, tree_cell};

// {"set": .., "infinite": .., "number": ..}; an empty text is unset.
void write_fraction(Json& json, std::string_view key, std::string_view text) {
    const double value = text.empty() ? 0 : real_of(text);
    json.open_object(key);
    json.boolean("set", !text.empty() && !std::isinf(value));
    json.boolean("infinite", std::isinf(value));
    json.real("number", std::isinf(value) ? 0 : value);
    json.close();
}

void write_whole_amounts(Json& json, std::string_view key, std::string_view list) {
    json.open_list(key);
    for_each_amount(list, [&](std::string_view name, double amount) {
        json.open_object();
        json.text("name", name);
        json.optional_number("value", static_cast<std::int64_t>(amount));
        json.close();
    });
    json.close();
}

void write_share(Json& json, const SheetRow& row) {
    const bool is_user = !row.text(C::User).empty();
    json.open_object();
    json.number("id", row.number(C::Id));
    json.text("cluster", row.text(C::Cluster));
    json.text("name", is_user ? row.text(C::User) : row.text(C::Account));
    json.text("parent", row.text(C::ParentAccount));
    json.text("partition", row.text(C::Partition));
    write_fraction(json, "shares_normalized", row.text(C::NormShares));
    json.optional_number("shares", row.number(C::RawShares));
    json.open_object("tres");
    write_whole_amounts(json, "run_seconds", row.text(C::TresRunSeconds));
    write_whole_amounts(json, "group_minutes", row.text(C::GrpTresMins));
    json.open_list("usage");
    for_each_amount(row.text(C::TresSeconds), [&](std::string_view name, double amount) {
        json.open_object();
        json.text("name", name);
        json.real("value", amount);
        json.close();
    });
    json.close();
    json.close();
    write_fraction(json, "effective_usage", row.text(C::EffectiveUsage));
    write_fraction(json, "usage_normalized", row.text(C::NormUsage));
    json.number("usage", static_cast<std::int64_t>(real_of(row.text(C::RawUsage))));
    json.open_object("fairshare");
    write_fraction(json, "factor", row.text(C::FairShare));
    write_fraction(json, "level", row.text(C::LevelFs));
    json.close();
    json.texts("type", {is_user ? "USER" : "ASSOCIATION"});
    json.close();
}

}  // namespace

std::span<const ReportField> share_fields() {
    return kFields;
}

const ReportField& account_in_tree() {
    return kTree;
}

std::string default_share_format(bool is_long, bool partitions, bool is_fair_tree) {
    std::string format = "Account,User";
    if (partitions) format += ",Partition";
    format += ",RawShares,NormShares,RawUsage";
    if (is_long) format += ",NormUsage";
    format += ",EffectvUsage,FairShare";
    if (is_long && is_fair_tree) format += ",LevelFS";
    if (is_long) format += ",GrpTRESMins,TRESRunMins";
    return format;
}

std::string shares_json(const Sheet& sheet, const JsonMeta& meta) {
    Json json(meta.style);
    std::int64_t total = 0;
    json.open_object();
    json.open_object("shares");
    json.open_list("shares");
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
        const SheetRow row{&sheet, i};
        write_share(json, row);
        const std::int64_t shares = row.number(C::RawShares);
        if (shares != kAbsent && shares != kUnlimited) total += shares;
    }
    json.close();
    json.number("total_shares", total);
    json.close();
    write_json_meta(json, meta);
    json.close();
    return json.take();
}

}  // namespace sluice
