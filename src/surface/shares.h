// surface/shares.h
//
// Associations with their shares and usage, as sshare words them.
#pragma once

#include <string>

#include "surface/json.h"
#include "surface/report.h"

namespace sluice {

// The fields of sshare --format.
std::span<const ReportField> share_fields();
// The account with a blank for each account above it that is listed.
const ReportField& account_in_tree();
// The columns that are printed without --format. Fair Tree has levels, the classic formulas have
// not.
std::string default_share_format(bool is_long, bool partitions, bool is_fair_tree);

std::string shares_json(const Sheet& sheet, const JsonMeta& meta);

}  // namespace sluice
