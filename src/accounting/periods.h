// accounting/periods.h
//
// Hours, days and months in local time (TZ).
#pragma once

#include "base/time.h"
#include "model/accounting_question.h"

namespace sluice::accounting {

Time period_start(RollupPeriod period, Time time);  // of the period that contains the time
Time next_period(RollupPeriod period, Time start);

}  // namespace sluice::accounting
