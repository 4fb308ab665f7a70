// surface/priorities.h
//
// A job's standing in one partition, or the weights of the factors, as sprio words them.
#pragma once

#include <span>
#include <string>

#include "model/priority.h"
#include "surface/fields.h"
#include "surface/jobs.h"
#include "surface/sheet.h"

namespace sluice {

// What slurm.conf gives each factor.
struct PriorityWeights {
    std::uint32_t age = 0, assoc = 0, fair_share = 0, job_size = 0, partition = 0, qos = 0;
    std::string tres;  // "cpu=2000,mem=3000"
};

struct PriorityRow {
    SheetRow job;
    const PriorityLine* line = nullptr;  // null: the line of the weights
    const PriorityWeights* weights = nullptr;
};

inline std::int64_t configured_order(const PriorityRow& row) {
    return row.job.index;
}

using PriorityField = ShownField<PriorityRow>;
std::span<const PriorityField> priority_fields();

}  // namespace sluice
