// model/priority.h
//
// The factors of a job's priority, and their text form in listings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

// One factor: raw, and times its weight.
struct Factor {
    double raw = 0;
    double weighted = 0;
    bool operator==(const Factor&) const = default;
};

struct PriorityFactors {
    Factor job_size, partition, qos;  // these follow from the request
    struct OfTres {
        std::string name;  // "gres/gpu"
        Factor factor;
        bool operator==(const OfTres&) const = default;
    };
    std::vector<OfTres> tres;       // in the order of PriorityWeightTRES
    Factor age, assoc, fair_share;  // these change with time
    double site = 0;
    double nice = 0;

    double fixed() const;
    double moving() const;
    double total() const { return fixed() + moving(); }
    bool operator==(const PriorityFactors&) const = default;
};

// A job's priority in one of its partitions.
struct PriorityLine {
    std::string partition;
    double total = 0;
    bool by_hand = false;  // then the factors are all 0
    PriorityFactors factors;
    bool operator==(const PriorityLine&) const = default;
};

// A line each: "short 611.17 0 raw:weighted ... cpu=raw:weighted,mem=raw:weighted".
void append_priority_line(const PriorityLine& line, std::string& out);
Result<std::vector<PriorityLine>> parse_priority_lines(std::string_view text);

}  // namespace sluice
