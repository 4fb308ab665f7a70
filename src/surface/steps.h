// surface/steps.h
//
// Steps as squeue --steps and scontrol show step show them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "surface/fields.h"
#include "surface/properties.h"
#include "surface/sheet.h"

namespace sluice {

using StepField = ShownField<SheetRow>;
std::span<const StepField> step_fields();
std::span<const Property<SheetRow>> step_properties();
std::string steps_json(const Sheet& steps, const JsonMeta& meta);

constexpr Needs kStepIdNeeds =
    needs(StepColumn::JobId, StepColumn::ArrayJobId, StepColumn::ArrayTaskId, StepColumn::StepId);

void append_step_id(const SheetRow& step, std::string& out);  // "12.0", "12_3.batch"
std::string_view step_state_name(const SheetRow& step);

}  // namespace sluice
