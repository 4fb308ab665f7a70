// surface/qos.h
//
// Qualities of service as sacctmgr shows them. Limits that they cannot have here are blank.
#pragma once

#include <span>

#include "surface/report.h"

namespace sluice {

std::span<const ReportField> qos_fields();

}  // namespace sluice
