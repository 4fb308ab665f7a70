// surface/licenses.h
//
// scontrol show licenses: one row of LicenseColumns as text and as JSON.
#pragma once

#include <string>

#include "surface/json.h"
#include "surface/records.h"
#include "surface/sheet.h"

namespace sluice {

void append_license_record(const SheetRow& license, const RecordStyle& style, std::string& out);
std::string licenses_json(const Sheet& licenses, const JsonMeta& meta);

}  // namespace sluice
