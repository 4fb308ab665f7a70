// cli/sluice/doctor_host.h
//
// Checks of this host, which need no controller.
#pragma once

#include <optional>
#include <string>

#include "cli/sluice/doctor_report.h"
#include "config/config.h"
#include "os/quota.h"

namespace sluice {

// Of daemons that run here; `use`: "StateSaveLocation".
void check_space(DoctorReport& report, const std::string& use, const std::string& directory);
void check_credentials(DoctorReport& report, const Config& config);
void check_cgroups(DoctorReport& report, const Config& config);
// `gres`: of this node, as configured.
void check_gpus(DoctorReport& report, const std::string& node, std::string_view gres);

// Of a user.
void check_home(DoctorReport& report, const std::string& home, uid_t user);
void check_small_files(DoctorReport& report, const std::string& directory);

// How full is too full? Nothing: there is enough.
struct SpaceProblem {
    Severity severity = Severity::Warning;
    std::string text;
    bool operator==(const SpaceProblem&) const = default;
};
std::optional<SpaceProblem> problem_of(const SpaceFacts& facts);
std::optional<SpaceProblem> problem_of(const QuotaFacts& facts);
// Very many small files are slow to read and to list.
bool are_small_files(std::uint64_t files, std::uint64_t bytes);

}  // namespace sluice
