// policy/dump_file.h
//
// Files of sacctmgr dump: the tree of accounts and users of a cluster, with limits and shares.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/policy.h"
#include "policy/change.h"

namespace sluice {

// The steps that the file asks for; `policy` is changed by them, as far as a preview can tell. An
// error names the line, and has the complete text of sacctmgr. `cluster`: into which one; if it is
// empty, it becomes that of the file. `clean`: what the cluster has is removed before.
Result<PolicyChange> load_dump(Policy& policy, std::string& cluster, std::string_view text,
                               bool clean);

// The QOS that the file names: they must exist before it is loaded.
std::vector<std::string> qos_in_dump(std::string_view text);

}  // namespace sluice
