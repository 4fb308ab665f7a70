#include "surface/licenses.h"

#include <fmt/format.h>

#include "model/columns.h"

namespace sluice {

namespace {

using C = LicenseColumn;

// A total that was lowered may leave more in use than there are.
std::int64_t free_of(const SheetRow& license) {
    return std::max<std::int64_t>(license.number(C::Total) - license.number(C::Used), 0);
}

}  // namespace

void append_license_record(const SheetRow& license, const RecordStyle& style, std::string& out) {
    out += fmt::format("LicenseName={}{}Total={} Used={} Free={} Reserved={} Remote=no\n",
                       license.text(C::Name), style.one_line ? " " : "\n    ",
                       license.number(C::Total), license.number(C::Used), free_of(license),
                       license.number(C::Reserved));
}

std::string licenses_json(const Sheet& licenses, const JsonMeta& meta) {
    Json json(meta.style);
    json.open_object();
    json.open_list("licenses");
    for (std::uint32_t i = 0; i < licenses.rows(); ++i) {
        SheetRow license{&licenses, i};
        json.open_object();
        json.text("LicenseName", license.text(C::Name));
        json.number("Total", license.number(C::Total));
        json.number("Used", license.number(C::Used));
        json.number("Free", free_of(license));
        json.boolean("Remote", false);
        json.number("Reserved", license.number(C::Reserved));
        json.number("LastConsumed", 0);
        json.number("LastDeficit", 0);
        json.number("LastUpdate", 0);
        json.text("Nodes", "");
        json.close();
    }
    json.close();
    json.optional_number("last_update", to_unix(licenses.looks().now));
    write_json_meta(json, meta);
    json.close();
    return json.take();
}

}  // namespace sluice
