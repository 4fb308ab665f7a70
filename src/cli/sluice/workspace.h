// cli/sluice/workspace.h
//
// `sluice notebook` and `sluice code`: a Jupyter server or an editor's remote end as a job. The
// command submits the job, or finds the one that runs, and prints how to reach it.
#pragma once

#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"

namespace sluice {

enum class Workspace { Notebook, Code };

// `words`: options of sbatch, or --stop.
int run_workspace(Workspace kind, const Invocation& invocation,
                  const std::vector<std::string>& words, Client& client, Streams& streams);

// What to type on one's own machine, from the line that the job wrote: "host port secret". Port 0:
// there is no server, the node is reached by ssh.
std::string how_to_reach(Workspace kind, std::string_view address, std::string_view login_host,
                         std::string_view user);

}  // namespace sluice
