// surface/reservations.h
//
// Reservations as users see them: scontrol show reservation, as text and as JSON, and sinfo -T.
#pragma once

#include <span>
#include <string>

#include "surface/json.h"
#include "surface/properties.h"
#include "surface/records.h"
#include "surface/sheet.h"

namespace sluice {

std::span<const Property<SheetRow>> reservation_properties();
void append_reservation_record(const SheetRow& reservation, const RecordStyle& style,
                               std::string& out);
std::string reservations_json(const Sheet& reservations, const JsonMeta& meta);
// sinfo -T: the header and a line for each.
std::string reservation_lines(const Sheet& reservations, bool header);

}  // namespace sluice
