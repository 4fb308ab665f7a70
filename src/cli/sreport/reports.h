// cli/sreport/reports.h
//
// The reports. Each gives its text, or an error whose detail is complete.
#pragma once

#include <string>

#include "cli/sreport/request.h"

namespace sluice {

Result<std::string> cluster_utilization(const ReportRequest& request);
Result<std::string> user_utilization_by_account(const ReportRequest& request);
Result<std::string> account_utilization_by_user(const ReportRequest& request);
Result<std::string> user_utilization_by_wckey(const ReportRequest& request);
Result<std::string> wckey_utilization_by_user(const ReportRequest& request);
Result<std::string> top_users(const ReportRequest& request);
Result<std::string> sizes_by_account(const ReportRequest& request);
Result<std::string> sizes_by_account_and_wckey(const ReportRequest& request);
Result<std::string> sizes_by_wckey(const ReportRequest& request);
Result<std::string> reservation_utilization(const ReportRequest& request);

}  // namespace sluice
