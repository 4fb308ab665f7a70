// cli/sbcast/broadcast.h
//
// Copies files to nodes of a job: a step with one task on each node receives them as the user, in
// the job's cgroups and private directories. When all nodes have all files, they are put into
// place; when one fails, nothing is left on any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "cli/sbcast/cast_stream.h"

namespace sluice {

struct Broadcast {
    std::uint32_t job = 0;
    std::vector<std::string> nodes;
    std::vector<CastSource> files;
    CastTransport transport;
    std::optional<std::uint32_t> tree_width;  // of srun; 0: off; absent: as slurm.conf says
    bool verbose = false;
};

// 0, or an exit code after an error was printed.
int broadcast(const Broadcast& cast, const Invocation& invocation, Client& client,
              Streams& streams);

// The environment of a tool that runs srun for its own purposes: nothing of it asks srun for
// anything.
Environment plain_environment(const Invocation& invocation);

// The shared objects that a program needs, except those below the directories of `exclude`.
Result<std::vector<std::string>> shared_objects_of(const std::string& program,
                                                   std::string_view exclude);

// Adds the shared objects of the first file: they go to a directory beside it.
Result<void> add_shared_objects(std::vector<CastSource>& files, std::string_view exclude);

}  // namespace sluice
