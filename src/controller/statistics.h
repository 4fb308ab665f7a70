// controller/statistics.h
//
// What sdiag shows of jobs, scheduling passes and requests since the last reset: at midnight UTC,
// or by an administrator. The core's thread adds to it after each batch; any thread may read.
#pragma once

#include <chrono>
#include <mutex>

#include "core/tally.h"
#include "net/request_counts.h"

namespace sluice {

struct Services;

class StatisticsBook {
public:
    explicit StatisticsBook(Time now);

    RequestCounts requests;  // Compat: kept at midnight

    // `time`: how long the pass took.
    void add(Time now, const JobTally& jobs, const PassReport& pass,
             std::chrono::microseconds time);
    void reset(Time now);
    // Without what other parts of the controller know.
    Statistics current() const;

private:
    void start_anew(Time now);

    mutable std::mutex mutex_;
    Statistics figures_;
};

// The answer to sdiag. Looks at all jobs: not for an I/O thread.
Statistics statistics_of(Services& services, Time now);

}  // namespace sluice
