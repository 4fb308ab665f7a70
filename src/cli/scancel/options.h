// cli/scancel/options.h
//
// What scancel can be asked for.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/common/tool.h"
#include "surface/option_help.h"
#include "wire.pb.h"

namespace sluice {

struct CancelOptions {
    wire::CancelJobs request;       // filter without its jobs
    std::vector<std::string> jobs;  // as typed, lists cut apart
    bool has_filter = false;        // more than ids chooses the jobs
    bool interactive = false, quiet = false, help = false, usage = false, version = false;
    bool ctld = false;  // then an unknown job is a failure
    unsigned verbose = 0;
};

// From the command line and the SCANCEL_ variables. NotFound: a spelling mistake (usage error);
// BadArgument with a detail that is printed without a prefix; other codes: an error line.
Result<CancelOptions> read_cancel_options(const Invocation& invocation);

// The options as --help and the manual page list them.
std::vector<OptionHelp> cancel_option_help();
std::string cancel_help();
std::string cancel_usage();

}  // namespace sluice
