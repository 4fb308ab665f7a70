// cli/sbcast/transfer_options.h
//
// What sbcast and sgather are asked for alike: which job, how the file travels, where it goes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/option_table.h"
#include "model/job_id.h"

namespace sluice {

struct TransferOptions {
    std::string source, destination;
    std::optional<JobRef> job;  // with a step: its nodes
    std::string nodes;          // --nodelist; empty: all of the job or step
    std::string compress;       // "lz4", "none"; empty: as slurm.conf says
    bool force = false, preserve = false, verbose = false, keep = false;
    std::optional<std::uint32_t> fanout;  // 0: off
    std::size_t block = 0;                // 0: as the tool does
    std::chrono::seconds timeout{0};
    std::optional<bool> send_libs;
    std::string exclude;  // empty: as slurm.conf says
};

// Ids of options in the tables of both tools.
enum TransferOption : std::size_t {
    kCompress,
    kExclude,
    kFanout,
    kForce,
    kJob,
    kKeep,
    kNoAllocation,
    kNodeList,
    kPreserve,
    kSendLibs,
    kSize,
    kTimeout,
    kTellMore
};

// The detail of an error names the option and the value.
Result<TransferOptions> transfer_options(const Arguments& given, const Invocation& invocation);

// The job, and the names of its nodes (or those of the step that was named).
struct TransferNodes {
    std::uint32_t job = 0;
    std::vector<std::string> names;
};
Result<TransferNodes> nodes_of_transfer(const TransferOptions& options,
                                        const Invocation& invocation, Client& client);

}  // namespace sluice
