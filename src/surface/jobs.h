// surface/jobs.h
//
// Jobs as all tools show them: the table of properties, and the texts that it is made of.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/columns.h"
#include "model/states.h"
#include "surface/fields.h"
#include "surface/properties.h"
#include "surface/sheet.h"

namespace sluice {

using JobField = ShownField<SheetRow>;
std::span<const JobField> job_fields();
std::span<const Property<SheetRow>> job_properties();
// All rows of the sheet, which must hold all columns.
std::string jobs_json(const Sheet& jobs, const JsonMeta& meta);

// The columns that the functions below read, for code that uses them outside of a field.
constexpr Needs kJobIdNeeds = needs(JobColumn::Id, JobColumn::ArrayJobId, JobColumn::ArrayTaskId,
                                    JobColumn::ArrayTasks, JobColumn::ArrayLimit);
constexpr Needs kElapsedNeeds =
    needs(JobColumn::State, JobColumn::BaseState, JobColumn::StartTime, JobColumn::EndTime,
          JobColumn::SuspendedSeconds, JobColumn::SuspendTime);
constexpr Needs kFilenameNeeds =
    needs(JobColumn::Id, JobColumn::ArrayJobId, JobColumn::ArrayTaskId, JobColumn::Restarts,
          JobColumn::BatchHost, JobColumn::UserId, JobColumn::Name, JobColumn::Sluid,
          JobColumn::WorkDir, JobColumn::Batch);

JobState base_state(const SheetRow& job);
ShownState shown_state(const SheetRow& job);
bool is_array_record(const SheetRow& job);  // tasks that have not started

void append_job_id(const SheetRow& job, std::string& out);       // "12", "12_3", "12_[1-5%2]"
void append_array_tasks(const SheetRow& job, std::string& out);  // "3", "1-5%2", or nothing
std::int64_t elapsed_seconds(const SheetRow& job);
void append_reason(const SheetRow& job, std::string& out);   // "ReqNodeNotAvail, Unavailable..."
void append_nodes(const SheetRow& job, std::string& out);    // the remaining nodes while completing
void append_exit_code(std::int64_t code, std::string& out);  // "3:0"
std::string_view exclusive_word(const SheetRow& job);        // "NO", "NODE", "USER"
std::string_view over_subscribe_word(const SheetRow& job);   // "NO", "YES", "OK"
// A file's name with its patterns filled in, absolute; empty for an empty pattern.
std::string expanded_path(const SheetRow& job, std::string_view pattern);

}  // namespace sluice
