#include "model/statistics.h"

namespace sluice {

JobTally& JobTally::operator+=(const JobTally& other) {
    submitted += other.submitted;
    started += other.started;
    completed += other.completed;
    cancelled += other.cancelled;
    failed += other.failed;
    backfilled += other.backfilled;
    return *this;
}

}  // namespace sluice
