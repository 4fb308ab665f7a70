// model/validate.h
//
// Which texts, numbers and lists a record may contain. Requests are checked before they become
// records, records before they are changed, and rows when a restarted controller reads them, all by
// these functions, the lists of fields (fields.h) and the table in model/sizes.h. Every error names
// the field and its value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/field_checks.h"
#include "model/gpu_report.h"
#include "model/job.h"
#include "model/job_change.h"
#include "model/node.h"
#include "model/partition.h"
#include "model/policy.h"
#include "model/reservation.h"
#include "model/trigger.h"
#include "model/used.h"

namespace sluice {

Result<void> validate_texts(std::string_view field, const std::vector<std::string>& values,
                            std::size_t each_most, std::size_t count_most);

Result<void> validate(const JobRequest& request);
Result<void> validate(const Shape& shape);
Result<void> validate(const Step& step);
Result<void> validate(const Job& job);
Result<void> validate_state(const Job& job);  // what its list of fields does not say
Result<void> validate(const Reservation& reservation);
Result<void> validate(const ReservationChange& change);
Result<void> validate(const NodeFacts& facts);
Result<void> validate(const StoredNode& node);
Result<void> validate(const NodeUse& use);
Result<void> validate(const GpuReport& report);
Result<void> validate(const Qos& qos);
Result<void> validate(const Policy& policy);
Result<void> validate(const StoredUsage& row);
Result<void> validate(const TriggerRequest& request);
Result<void> validate(const TriggerChoice& choice);
Result<void> validate(const Trigger& trigger);
Result<void> validate(const JobChange& change);
Result<void> validate(const NodeChange& change);
Result<void> validate(const PartitionChange& change);
Result<void> validate(const QosChange& change);

}  // namespace sluice
