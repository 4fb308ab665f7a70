// controller/audit.h
//
// One line in the log for every administrative change: who (uid), what, which object, which values.
// Written at level info once the change is on disk; docs/security.md lists the lines.
#pragma once

#include <optional>
#include <string>

#include "core/effect.h"
#include "core/event.h"

namespace sluice {

// Nothing for what is no administrative change, and for what was refused.
std::optional<std::string> audit_line(const Event& event, const Answer& answer);

}  // namespace sluice
