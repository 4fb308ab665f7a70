// stage/tidy.h
#pragma once

#include "stage/report_line.h"

namespace sluice::stage {

// Removes what no job needs, and reports what is left.
void tidy(const wire::TidyOrder& order, ReportLine& line);

void report_sources(const std::string& cache, ReportLine& line);

}  // namespace sluice::stage
