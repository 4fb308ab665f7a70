// controller/job_variables.h
//
// The data of a job as environment variables, for programs that the controller runs: MailProg,
// PrologSlurmctld, EpilogSlurmctld.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "model/job.h"
#include "os/user.h"

namespace sluice {

using Variables = std::vector<std::string>;

// Nothing where the value is an empty text.
template <typename T>
void add_variable(Variables& variables, std::string_view name, const T& value) {
    std::string text = fmt::format("{}", value);
    if (!text.empty()) variables.push_back(fmt::format("{}={}", name, text));
}

// `owner` may be unknown on this machine.
Variables variables_of(const Job& job, const std::optional<User>& owner, const Config& config);
void add_exit_codes(const Job& job, Variables& variables);
std::string name_or_number(const Job& job, const std::optional<User>& owner);

}  // namespace sluice
