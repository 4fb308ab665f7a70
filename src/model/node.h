// model/node.h
//
// Nodes as configured, and what a node reports about itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/power.h"
#include "model/quantity.h"
#include "model/states.h"

namespace sluice {

// One line of gres.conf for one node: devices of one name and type.
struct GresDevices {
    std::string name;                // "gpu"
    std::string type;                // "a40", may be empty
    std::vector<std::string> files;  // "/dev/nvidia0", ...: one per device; empty: count only
    std::uint64_t count = 0;
    std::string cores;               // "0-7": CPUs close to the devices
    std::string links;               // "-1,16,16"
    std::string flags;               // "nvidia_gpu_env,explicit": lower case
    std::vector<std::string> uuids;  // of each device, as far as they were found
    bool operator==(const GresDevices&) const = default;
};

// A NodeName entry of slurm.conf, expanded to one node.
struct NodeConfig {
    std::string name;
    std::string hostname;
    std::string address;
    std::uint16_t port = 6818;
    std::uint32_t cpus = 1;  // logical CPUs that jobs may use
    std::uint32_t boards = 1;
    std::uint32_t sockets = 1;
    std::uint32_t cores_per_socket = 1;
    std::uint32_t threads_per_core = 1;
    Megabytes real_memory = 1;
    Megabytes mem_spec_limit = 0;
    std::uint32_t core_spec_count = 0;
    std::vector<std::uint32_t> cpu_spec_list;  // CpuSpecList: CPUs kept from jobs; empty: by count
    Megabytes tmp_disk = 0;
    std::uint32_t weight = 1;
    std::vector<std::string> features;
    std::vector<GresCount> gres;                 // Gres=
    std::string gres_text;                       // Gres= as written, for display
    std::uint32_t restricted_cores_per_gpu = 0;  // cores that only jobs with GPUs may use
    std::vector<std::string> gres_no_consume;    // names in it that have the word no_consume
    std::string state =
        "UNKNOWN";  // State= as written, upper case: UNKNOWN DOWN DRAIN FUTURE CLOUD ...
    std::string reason;
    std::string comment;
    std::optional<TimeLimit> suspend_time;  // SuspendTime=; absent: as its partitions say
    NodeOrigin origin = NodeOrigin::File;
    bool operator==(const NodeConfig&) const = default;
};

// What slurmd found on its machine.
struct NodeFacts {
    std::uint32_t cpus = 1;
    std::uint32_t boards = 1;
    std::uint32_t sockets = 1;
    std::uint32_t cores_per_socket = 1;
    std::uint32_t threads_per_core = 1;
    Megabytes real_memory = 1;
    Megabytes tmp_disk = 0;
    Megabytes free_memory = 0;
    Megabytes free_scratch = 0;
    double load = 0;   // one minute load average
    std::string arch;  // "x86_64"
    std::string os;    // uname
    std::string version;
    std::string hostname;
    std::string boot_id;
    Time boot_time;
    Time slurmd_start_time;
    std::vector<GresDevices> gres;
    std::vector<std::uint64_t> datasets;  // in its cache: source_hash() of model/stage_in.h
    std::string problem;  // why slurmd says that no jobs must run there; empty: no problem
    bool operator==(const NodeFacts&) const = default;
};

// scontrol reboot: requested until the node is idle, then ordered, then awaited.
enum class AfterReboot : std::uint8_t { AsBefore, Resume, Down };
struct Reboot {
    AfterReboot next = AfterReboot::AsBefore;
    bool drained = false;        // the drain was set by the request
    bool reasoned = false;       // and so was the reason
    std::optional<Time> issued;  // when the node was told
    std::string boot_id;         // at that time: another one means a new boot
    Seconds stepped{0};          // by how much the controller's clock was set since; not stored
    bool operator==(const Reboot&) const = default;
};

// State= of scontrol update NodeName=.
enum class NodeCommand : std::uint8_t {
    CancelReboot,
    Down,
    Drain,
    Fail,
    Idle,
    Resume,
    Undrain,
    PowerDown,
    PowerDownAsap,
    PowerDownForce,
    PowerUp
};
std::string_view print(NodeCommand command);  // "CANCEL_REBOOT"

// scontrol update NodeName=. Absent members stay as they are.
struct NodeChange {
    std::optional<NodeCommand> state;
    std::optional<std::string> reason;
    std::optional<std::string> comment;
    std::optional<std::uint32_t> weight;
    std::optional<std::vector<std::string>> features;
    std::optional<std::string> gres;        // "gpu:a40:2,bandwidth:4G"
    std::optional<TimeLimit> resume_after;  // unlimited: -1, no longer
    std::optional<std::string> address, hostname;
    std::optional<std::string> gres_drain, gres_resume;  // "gpu:0-1,3"
    bool operator==(const NodeChange&) const = default;
};

// The stored part of a node: all that was changed since slurm.conf was read.
struct StoredNode {
    std::string name;
    std::uint32_t admin_flags = 0;
    bool down = false;
    std::string reason;
    std::optional<Time> reason_time;
    UserId reason_user;
    std::string comment;
    std::optional<std::uint32_t> weight;
    std::optional<std::vector<std::string>> features;
    std::optional<std::string> gres;
    std::optional<Reboot> reboot;
    std::optional<Power> power;         // absent: it is as in the beginning
    std::optional<Time> resume_after;   // ResumeAfter=: when it returns to service
    std::string address, hostname;      // as changed by scontrol; empty: as configured
    std::optional<NodeConfig> dynamic;  // of a node that no NodeName line has
    std::vector<GresDevices> devices;   // of that node
    std::vector<DrainedGpu> drained_gpus;
    bool operator==(const StoredNode&) const = default;
};

}  // namespace sluice
