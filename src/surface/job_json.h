// surface/job_json.h
//
// Jobs and steps as JSON documents, in the shape of Slurm's data parser v0.0.45.
#pragma once

#include <string>
#include <vector>

#include "surface/json.h"
#include "surface/sheet.h"

namespace sluice {

// All rows of the sheet, which must hold all columns.
std::string jobs_json(const Sheet& jobs, const JsonMeta& meta, bool compact);
std::string steps_json(const Sheet& steps, const JsonMeta& meta, bool compact);

}  // namespace sluice
