// model/reservation.h
//
// Advanced reservations: nodes that some users or accounts have for themselves for a while. The
// value, its properties, and the words for its flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/job.h"

namespace sluice {

// Stored and sent: append, never renumber.
enum ReservationFlag : std::uint32_t {
    kResvMaint = 1 << 0,       // may overlap others; its nodes show as maint
    kResvFlex = 1 << 1,        // its jobs may start earlier, end later and use other nodes too
    kResvOverlap = 1 << 2,     // may overlap others
    kResvIgnoreJobs = 1 << 3,  // jobs that run there at its start are no obstacle
    kResvHourly = 1 << 4,
    kResvDaily = 1 << 5,
    kResvWeekday = 1 << 6,
    kResvWeekend = 1 << 7,
    kResvWeekly = 1 << 8,
    kResvSpecNodes = 1 << 9,     // the nodes were named; shown only
    kResvAllNodes = 1 << 10,     // Nodes=ALL; shown only
    kResvAnyNodes = 1 << 11,     // its jobs may use other nodes too
    kResvStaticAlloc = 1 << 12,  // nodes that fail are not replaced
    kResvPartNodes = 1 << 13,    // all nodes of the partition, as it changes
    kResvNoHoldJobs = 1 << 14,   // jobs that are left at its end may run elsewhere
    kResvMagnetic = 1 << 15,     // jobs that may use it do, without requesting it
    kResvTimeFloat = 1 << 16,    // its start keeps a fixed distance from now
    kResvReplace = 1 << 17,      // nodes that fail or are in use are replaced by idle ones
    kResvReplaceDown = 1 << 18,  // nodes that fail are replaced
    kResvUserDelete = 1 << 19,   // users who may use it may delete it
    kResvForceStart = 1 << 20,   // may start in the past
    kResvFirstCores = 1 << 21,   // its cores are the lowest numbered ones of each node
};
constexpr std::uint32_t kResvFlagsAll = (1u << 22) - 1;
constexpr std::uint32_t kResvRepeats =
    kResvHourly | kResvDaily | kResvWeekday | kResvWeekend | kResvWeekly;

// A Unix group, with its members at the time of the last look-up.
struct GroupMembers {
    std::string name;
    std::vector<UserId> users;
    bool operator==(const GroupMembers& other) const = default;
};

// A number of cores of a node.
struct NodeCores {
    std::string node;
    std::uint32_t cores = 0;
    bool operator==(const NodeCores&) const = default;
};

struct Reservation {
    std::uint32_t number = 0;  // increases with each creation: the order of listings
    std::string name;
    Time start;
    Time end;
    std::uint32_t flags = 0;
    std::optional<Seconds> purge_after;  // PURGE_COMP: deleted when no job has used it for so long
    std::string node_names;              // compact
    std::vector<NodeIndex> nodes;        // ascending; derived from the names, not stored
    std::string partition;
    std::string features;  // as written
    std::vector<UserId> users;
    bool users_denied = false;  // all users but these
    std::vector<std::string> accounts;
    bool accounts_denied = false;
    Time last_used;
    std::vector<GroupMembers> groups;
    std::string licenses;                    // as written: "matlab:2,ansys"
    std::vector<NodeCores> cores;            // of each of its nodes; empty: the whole nodes
    std::vector<GresCount> gres;             // TRES=gres/gpu=8: what its nodes must have together
    Seconds ahead{0};                        // TIME_FLOAT: from now to its start
    std::optional<Seconds> max_start_delay;  // how far other jobs may run into it
    std::string comment;
    std::vector<std::string> qos;  // of the jobs that may use it
    bool qos_denied = false;
    std::vector<std::string> allowed_partitions;  // of the jobs that may use it
    bool partitions_denied = false;

    // The number of its cores on a node with `all` cores.
    std::uint32_t cores_of(const std::string& node, std::uint32_t all) const;
    bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
    bool has_node(NodeIndex node) const;
    bool is_active(Time now) const { return start <= now && now < end; }
    bool operator==(const Reservation&) const = default;
};

// Users=a,b replaces, Users+=a adds, Users-=a removes; Users=-a,-b means all users but these.
template <typename Item>
struct ListChange {
    enum class Verb : std::uint8_t { Replace, Add, Remove };
    Verb verb = Verb::Replace;
    std::vector<Item> items;
    bool denied = false;
    bool operator==(const ListChange&) const = default;
};

// scontrol create, update and delete reservation. Absent members stay, or have their default.
struct ReservationChange {
    enum class Verb : std::uint8_t { Create, Update, Delete };
    Verb verb = Verb::Create;
    std::string name;       // may be empty for a new one: it is named after `name_base`
    std::string name_base;  // the first user or account
    std::optional<Time> start;
    std::optional<Time> end;
    std::optional<Seconds> duration;
    std::int32_t duration_sign = 0;                // +=: 1, -=: -1
    std::optional<ListChange<std::string>> nodes;  // names, or "ALL"
    std::optional<std::uint32_t> node_count;
    std::optional<std::string> partition;
    std::optional<std::string> features;
    std::optional<ListChange<UserId>> users;
    std::optional<ListChange<std::string>> accounts;
    std::optional<ListChange<GroupMembers>> groups;
    std::optional<std::string> licenses;
    std::vector<std::uint32_t> core_counts;  // CoreCnt=8: together; CoreCnt=2,4: by node
    std::vector<GresCount> gres;
    bool flags_replaced = false;      // Flags=: flags that are not named are cleared
    std::uint32_t flags_set = 0;      // Flags= and Flags+=
    std::uint32_t flags_cleared = 0;  // Flags-=
    std::optional<Seconds> purge_after;
    bool purge_cleared = false;
    bool skip = false;  // to the next occurrence of a repeating one
    std::optional<Seconds> max_start_delay;
    bool start_delay_cleared = false;
    std::optional<std::string> comment;
    std::optional<ListChange<std::string>> qos;
    std::optional<ListChange<std::string>> allowed_partitions;
    bool operator==(const ReservationChange&) const = default;
};

// Compat: the length of UNLIMITED.
constexpr Seconds kReservationLongest{365 * 24 * 3600};

// "MAINT,SPEC_NODES,PURGE_COMP=00:05:00", in Slurm's order.
std::string print_reservation_flags(const Reservation& reservation);
// Parses Flags=, Flags+= or Flags-=. The error names an unknown or unsupported word.
Result<void> parse_reservation_flags(std::string_view text, char sign, ReservationChange& change);

// The start of the next occurrence of a repeating reservation, at the same time of day.
Time next_occurrence(Time start, std::uint32_t flags);

}  // namespace sluice
