// cli/sluice/doctor_report.cc: see doctor_report.h.
#include "cli/sluice/doctor_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "surface/json.h"

namespace sluice {

namespace {

constexpr int kWarnings = 2, kErrors = 3;

std::string_view word_for(Severity severity) {
    return severity == Severity::Error ? "error" : "warning";
}

std::size_t count_of(const std::vector<Finding>& findings, Severity severity) {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(),
                      [&](const Finding& each) { return each.severity == severity; }));
}

}  // namespace

void DoctorReport::checked(std::string check) {
    if (std::find(checks_.begin(), checks_.end(), check) == checks_.end())
        checks_.push_back(std::move(check));
}

void DoctorReport::add(Finding finding) {
    checked(finding.check);
    findings_.push_back(std::move(finding));
}

int DoctorReport::exit_code() const {
    if (count_of(findings_, Severity::Error) > 0) return kErrors;
    return findings_.empty() ? 0 : kWarnings;
}

std::string DoctorReport::text() const {
    std::string out;
    for (const Severity severity : {Severity::Error, Severity::Warning}) {
        for (const Finding& each : findings_) {
            if (each.severity != severity) continue;
            out += fmt::format("{}: {}: {}{}{}\n    {}\n", word_for(severity), each.check,
                               each.subject, each.subject.empty() ? "" : ": ", each.problem,
                               each.remedy);
        }
    }
    return out + fmt::format("{} checks ({}): {} errors, {} warnings\n", checks_.size(),
                             fmt::join(checks_, ", "), count_of(findings_, Severity::Error),
                             count_of(findings_, Severity::Warning));
}

std::string DoctorReport::json() const {
    Json json;
    json.open_object();
    json.open_list("findings");
    for (const Finding& each : findings_) {
        json.open_object();
        json.text("severity", word_for(each.severity));
        json.text("check", each.check);
        json.text("subject", each.subject);
        json.text("problem", each.problem);
        json.text("remedy", each.remedy);
        json.close();
    }
    json.close();
    json.texts("checks", checks_);
    json.number("exit_code", exit_code());
    json.close();
    return json.take();
}

}  // namespace sluice
