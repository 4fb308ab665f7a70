// model/reservation.h
//
// Advanced reservations: nodes that some users or accounts have for themselves for a while. The
// value itself, what can be asked of one, and the words for its flags.
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
    kResvFlex = 1 << 1,        // its jobs may begin earlier, end later and use other nodes too
    kResvOverlap = 1 << 2,     // may overlap others
    kResvIgnoreJobs = 1 << 3,  // what runs there when it begins is no obstacle
    kResvHourly = 1 << 4,
    kResvDaily = 1 << 5,
    kResvWeekday = 1 << 6,
    kResvWeekend = 1 << 7,
    kResvWeekly = 1 << 8,
    kResvSpecNodes = 1 << 9,     // the nodes were named; shown only
    kResvAllNodes = 1 << 10,     // Nodes=ALL; shown only
    kResvAnyNodes = 1 << 11,     // its jobs may use other nodes too
    kResvStaticAlloc = 1 << 12,  // nodes that fail are not replaced: they never are here
    kResvPartNodes = 1 << 13,    // all nodes of the partition, whichever those are
    kResvNoHoldJobs = 1 << 14,   // jobs that are left over may run elsewhere
    kResvMagnetic = 1 << 15,     // jobs that may use it do, without asking
};
constexpr std::uint32_t kResvFlagsAll = (1u << 16) - 1;
constexpr std::uint32_t kResvRepeats =
    kResvHourly | kResvDaily | kResvWeekday | kResvWeekend | kResvWeekly;

struct Reservation {
    std::uint32_t number = 0;  // counts creations: the order of listings
    std::string name;
    Time start;
    Time end;
    std::uint32_t flags = 0;
    std::optional<Seconds> purge_after;  // PURGE_COMP: goes when nobody has used it for so long
    std::string node_names;              // compact
    std::vector<NodeIndex> nodes;        // ascending; derived from the names, not stored
    std::string partition;
    std::string features;  // as written
    std::vector<UserId> users;
    bool users_denied = false;  // everybody but them
    std::vector<std::string> accounts;
    bool accounts_denied = false;
    Time last_used;

    bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
    bool has_node(NodeIndex node) const;
    bool is_active(Time now) const { return start <= now && now < end; }
    bool operator==(const Reservation&) const = default;
};

// Users=a,b replaces, Users+=a adds, Users-=a takes away; Users=-a,-b is everybody but them.
template <typename Item>
struct ListChange {
    enum class Verb : std::uint8_t { Replace, Add, Remove };
    Verb verb = Verb::Replace;
    std::vector<Item> items;
    bool denied = false;
    bool operator==(const ListChange&) const = default;
};

// scontrol create, update and delete reservation. What is absent stays, or has its default.
struct ReservationChange {
    enum class Verb : std::uint8_t { Create, Update, Delete };
    Verb verb = Verb::Create;
    std::string name;       // may be empty for a new one: it is named after `name_base`
    std::string name_base;  // the first user or account
    std::optional<Time> start;
    std::optional<Time> end;
    std::optional<Seconds> duration;
    std::optional<ListChange<std::string>> nodes;  // names, or "ALL"
    std::optional<std::uint32_t> node_count;
    std::optional<std::string> partition;
    std::optional<std::string> features;
    std::optional<ListChange<UserId>> users;
    std::optional<ListChange<std::string>> accounts;
    bool flags_replaced = false;      // Flags=: those that are not named go
    std::uint32_t flags_set = 0;      // Flags= and Flags+=
    std::uint32_t flags_cleared = 0;  // Flags-=
    std::optional<Seconds> purge_after;
    bool purge_cleared = false;
    bool skip = false;  // on to the next time of a repeating one
    bool operator==(const ReservationChange&) const = default;
};

// Compat: what UNLIMITED lasts.
constexpr Seconds kReservationLongest{365 * 24 * 3600};

// "MAINT,SPEC_NODES,PURGE_COMP=00:05:00", in Slurm's order.
std::string print_reservation_flags(const Reservation& reservation);
// The words of Flags=, Flags+= or Flags-=. Names the word that is not known or not supported.
Result<void> parse_reservation_flags(std::string_view text, char sign, ReservationChange& change);

// When the next one of a repeating reservation begins, at the same time of day.
Time next_occurrence(Time start, std::uint32_t flags);

}  // namespace sluice
