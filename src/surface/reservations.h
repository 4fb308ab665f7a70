// surface/reservations.h
//
// Reservations as users see them: scontrol show reservation, as text and as JSON, and sinfo -T.
#pragma once

#include <string>

#include "surface/job_json.h"
#include "surface/records.h"
#include "surface/sheet.h"

namespace sluice {

void append_reservation_record(const SheetRow& reservation, const RecordStyle& style,
                               std::string& out);
std::string reservations_json(const Sheet& reservations, const JsonMeta& meta, bool compact);
// sinfo -T: the header and a line for each.
std::string reservation_lines(const Sheet& reservations, bool header);

}  // namespace sluice
