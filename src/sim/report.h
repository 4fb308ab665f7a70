// sim/report.h
//
// Outcomes as people and programs read them.
#pragma once

#include <string>
#include <vector>

#include "sim/metrics.h"

namespace sluice {

std::string print_summary(const Summary& summary);

struct Named {
    std::string name;
    Summary summary;
};
// Side by side, with the ratio of each to the first.
std::string print_comparison(const std::vector<Named>& summaries);

// How many records of the trace had no part in it; nothing where all had.
std::string print_left_out(const Trace& trace);

// A line per job of the trace.
std::string print_jobs_csv(const Trace& trace, const Outcome& outcome);

// html.cc: a page that needs nothing but a browser.
std::string print_html(const std::string& title, const Trace& trace, const Outcome& outcome,
                       const Summary& summary);

}  // namespace sluice
