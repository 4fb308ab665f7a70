// model/job_keys.h
//
// The keys of scontrol update JobId=.
#pragma once

#include "base/result.h"
#include "model/job_change.h"
#include "model/key_values.h"

namespace sluice {

// Times such as now+1hour count from `now`. An unknown key is refused with UnknownField; an error
// of a value (BadArgument) names key and value.
Result<JobChange> parse_job_change(const KeyTexts& given, Time now);

}  // namespace sluice
