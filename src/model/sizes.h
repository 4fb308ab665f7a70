// model/sizes.h
//
// How large the parts of a record or a request may be. This is the only table of such limits:
// parsers of requests, changes of records and the loading of rows all use it, so that no record is
// accepted that a restarted controller would refuse. docs/limits.md lists it for users.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::sizes {

// ---- texts, in bytes

constexpr std::size_t kWord = 1024;  // a name, a comment, an account, a list of licenses
constexpr std::size_t kKey = 64;     // an idempotency key, a hash
constexpr std::size_t kPath = 4096;  // a file or a directory: PATH_MAX of Linux
constexpr std::size_t kContainerSetup = 64u << 10;  // --container-mounts and its relatives
constexpr std::size_t kSync = 128u << 10;           // all --sync of one job
constexpr std::size_t kStageIn = 64u << 10;         // all --stage-in of a job
constexpr std::size_t kFeatures = 4096;             // --constraint, --prefer
constexpr std::size_t kNodeList = 64u << 10;        // --nodelist, --exclude
constexpr std::size_t kDependency = 64u << 10;      // --dependency
constexpr std::size_t kSubmitLine = 64u << 10;      // clients cut a longer one
constexpr std::size_t kArgument = 128u << 10;   // one argument of a script: MAX_ARG_STRLEN of Linux
constexpr std::size_t kArguments = 2u << 20;    // all arguments of a script
constexpr std::size_t kEnvironment = 8u << 20;  // all variables of a job
constexpr std::size_t kScript = 16u << 20;      // the highest max_script_size
constexpr std::size_t kGenerated = 1u << 20;    // a text from a daemon about a node or device

// ---- entries of a list

constexpr std::size_t kArgumentCount = 64u << 10;  // arguments of a script
constexpr std::size_t kGresCount = 256;            // devices of one option
constexpr std::size_t kRlimitCount = 64;
constexpr std::size_t kSyncCount = 16;                // --sync of one job
constexpr std::size_t kDatasetCount = 4096;           // datasets in the cache of a node
constexpr std::size_t kConditionCount = 2048;         // of --dependency
constexpr std::uint32_t kTreeWidth = 65533;           // nodes that one program connects to
constexpr std::size_t kLicenseCount = 256;            // of --licenses
constexpr std::size_t kNameCount = 4096;              // users, accounts, names, ... of one option
constexpr std::size_t kNodeCount = 1u << 20;          // nodes of one option; CPUs of a node
constexpr std::size_t kListedNodeCount = 128u << 10;  // nodes that one listing or scancel names
constexpr std::size_t kListedJobCount = 64u << 10;    // jobs that one listing names
constexpr std::size_t kChangedJobCount = 1024;        // jobs, or array tasks and steps, of a change
constexpr std::size_t kJobNameBytes = 1u << 20;       // the names of all these jobs
constexpr std::size_t kChangeCount = 64;              // fields of one scontrol update
constexpr std::size_t kChangeBytes = 256u << 10;      // all values of one scontrol update
constexpr std::size_t kUpdateWork = 4u << 20;    // the same, times the array tasks that are changed
constexpr std::size_t kAwaitedCount = 1u << 16;  // jobs that a changed --dependency reaches
constexpr std::size_t kGroupCount = 64;          // groups of a reservation
constexpr std::size_t kPolicyCount = 1u << 20;   // users, associations, ... of accounting
constexpr std::size_t kColumnCount = 1024;       // columns of a listing
constexpr std::size_t kRunningStepCount = 4096;  // steps of one job that run at the same time
constexpr std::size_t kStepCpuCount = 16u << 20;  // CPUs in all running steps of one job
// Array tasks of ranges with a step ("0-8:2") that one request may name: each is visited.
constexpr std::uint64_t kSteppedTaskCount = 256u << 10;

// ---- numbers

// Enough for every date, small enough that sums of times and lengths cannot overflow.
constexpr std::int64_t kSeconds = std::int64_t{1} << 40;
// Slurm keeps limits as 32 bit minutes and seconds; larger values are typing errors.
constexpr std::int64_t kTimeLimit = 0xfffffff0;            // seconds: 71582788 minutes
constexpr std::uint64_t kAmount = std::uint64_t{1} << 48;  // megabytes, devices
constexpr std::uint32_t kCount = 1u << 30;                 // nodes, tasks, CPUs
// CPU time of all processes of a step; the sum of two such values does not overflow.
constexpr std::int64_t kCpuMicroseconds = std::int64_t{1} << 60;

// ---- messages

constexpr std::size_t kFrame = 32u << 20;  // requests, reports and orders
constexpr std::size_t kExchange = 16u
                                  << 20;  // what the tasks of a step tell each other at once (PMI)
// A listing above this is refused. It has to fit into a frame that clients accept
// (protocol/frame.h).
constexpr std::size_t kListing = 256u << 20;

}  // namespace sluice::sizes
