// cli/sstat/fields.h
//
// The columns of sstat: those of usage, which sacct has too, and a few of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/sstat/ask.h"
#include "surface/report_text.h"
#include "surface/usage_fields.h"

namespace sluice {

struct SstatField {
    std::string_view name;  // also the header
    std::uint32_t width = 0;
    std::optional<UsageField> usage = {};
    std::string (*text)(const StepUsageNow& step) = nullptr;  // of its own fields
    bool left = false;
};

struct SstatColumn {
    SstatField field;
    ReportHead head;
};

// "JobID,MaxRSS%-12": an error's detail says which field does not exist.
Result<std::vector<SstatColumn>> sstat_columns(std::string_view format);
extern const std::string_view kSstatDefault, kSstatPids;  // formats
std::string sstat_field_list();                           // --helpformat
std::vector<std::string_view> sstat_field_names();

std::string sstat_text(const SstatField& field, const StepUsageNow& step, const UnitStyle& style);

}  // namespace sluice
