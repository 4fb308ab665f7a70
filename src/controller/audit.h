// controller/audit.h
//
// One line in the log for every administrative change: user (uid), action, object, values. Written
// once the change is on disk, whatever the level of the log is; docs/security.md lists the lines.
#pragma once

#include <optional>
#include <string>

#include "core/effect.h"
#include "core/event.h"

namespace sluice {

// None for events that are not administrative changes, and for refused ones.
std::optional<std::string> audit_line(const Event& event, const Answer& answer);

}  // namespace sluice
