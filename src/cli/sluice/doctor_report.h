// cli/sluice/doctor_report.h
//
// What `sluice doctor` has found, and how it says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class Severity : unsigned char { Warning, Error };

struct Finding {
    Severity severity = Severity::Warning;
    std::string check;    // "clock", "port"
    std::string subject;  // the host, directory or file; may be empty
    std::string problem;
    std::string remedy;
    bool operator==(const Finding&) const = default;
};

class DoctorReport {
public:
    void checked(std::string check);  // also one that was in order
    void add(Finding finding);

    const std::vector<Finding>& findings() const { return findings_; }
    // 0: all is in order; 2: warnings only; 3: at least one error.
    int exit_code() const;
    std::string text() const;
    std::string json() const;

private:
    std::vector<std::string> checks_;  // each once, in their order
    std::vector<Finding> findings_;
};

}  // namespace sluice
