// surface/accounted_table.h
//
// The fields of sacct: one row per field, with its name, its width and how its text is made.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "surface/accounted_line.h"
#include "surface/json.h"

namespace sluice {

struct AccountedField {
    std::string_view name;  // also the heading
    std::uint32_t width = 0;
    bool left = false;
    void (*append)(const AccountedLine& line, std::string& out) = nullptr;
    std::optional<UsageField> usage = {};  // instead of a function: what a step has used
};

std::span<const AccountedField> accounted_fields();  // in the order of --helpformat
// Compat: the beginning of a name will do; the first field that has it counts.
const AccountedField* find_accounted_field(std::string_view name);
void append_field(const AccountedField& field, const AccountedLine& line, std::string& out);

// The names of the formats that have a name: default, -b, -l.
inline constexpr std::string_view kAccountedDefaultFormat =
    "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode";
inline constexpr std::string_view kAccountedBriefFormat = "JobID,State,ExitCode";
extern const std::string_view kAccountedLongFormat;

// One element of `jobs` of sacct --json: a run and its steps.
void write_accounted_run(const AccountedRun& run, const AccountedLooks& looks, Json& json);

}  // namespace sluice
