// base/audit_log.h
//
// Lines about administrative changes ("audit: uid 0: reconfigure"). They are written whatever the
// level of the log is: to the log file; without one to standard error or syslog, whichever is used.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace sluice {

void write_audit(const std::vector<std::string>& lines);

template <typename... Args>
void log_audit(fmt::format_string<Args...> format, Args&&... args) {
    write_audit({"audit: " + fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace sluice
