// surface/qos.h
//
// Qualities of service as sacctmgr shows them. What limits they could have is blank: they have none.
#pragma once

#include <span>

#include "surface/report.h"

namespace sluice {

std::span<const ReportField> qos_fields();

}  // namespace sluice
