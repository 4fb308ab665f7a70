// model/explanation.h
//
// Why a job waits: all obstacles, which jobs hold what it needs, when it is expected to start, and
// what it could ask for to start at once. Names instead of indexes: readers have no node table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/quantity.h"
#include "model/states.h"

namespace sluice {

struct Explanation {
    // A job that holds, or has booked, what this one needs.
    struct Holder {
        std::string job;  // as printed; empty: the viewer may not see it (PrivateData)
        UserId user;
        std::string partition;
        std::string nodes;               // compact list
        Tres amounts;                    // of the missing resources
        bool waits = false;              // it is booked for `start`, and may not be delayed
        std::optional<Time> start, end;  // expected
        bool operator==(const Holder&) const = default;
    };
    struct Awaited {              // a condition of --dependency that does not hold yet
        std::string condition;    // "afterok:12"
        std::string job;          // empty for a singleton
        std::string state;        // "RUNNING"; empty: the job is no longer known
        bool failed = false;      // it will never hold
        std::optional<Time> due;  // expected end of the awaited job, or of the delay
        bool operator==(const Awaited&) const = default;
    };
    struct LicenseShortage {
        std::string name;
        std::uint32_t wanted = 0, total = 0, used = 0;
        std::vector<Holder> holders;
        struct Kept {  // kept by a reservation, beside what its jobs use
            std::string reservation;
            std::uint32_t count = 0;
            Time start, end;
            bool operator==(const Kept&) const = default;
        };
        std::vector<Kept> kept;
        bool operator==(const LicenseShortage&) const = default;
    };
    struct PartitionObstacle {
        std::string partition;
        Reason reason = Reason::None;
        std::string text;                  // "the limit is 01:00:00, the job asks for 02:00:00"
        std::vector<Holder> holders = {};  // of the shared limit
        bool operator==(const PartitionObstacle&) const = default;
    };
    struct UnusableNodes {
        std::string nodes;  // compact list
        std::uint32_t count = 0;
        std::string state;  // "DOWN+DRAIN"
        std::string reason;
        bool operator==(const UnusableNodes&) const = default;
    };
    struct Shortage {
        std::string what;  // "cpu", "mem", "gres/gpu:a40" of one node; "node", "task" of all
        std::uint64_t wanted = 0, free = 0;
        std::string node;  // the node that lacks least; empty: counted over all
        bool operator==(const Shortage&) const = default;
    };
    struct ReservedNodes {  // reserved, and the job does not use the reservation
        std::string nodes;  // compact list
        std::uint32_t count = 0;
        std::string reservation;
        bool maintenance = false;
        Time start, end;  // of the reservation, or of its next occurrence
        bool operator==(const ReservedNodes&) const = default;
    };
    // A partition that accepts the job, and what is missing there.
    struct Place {
        std::string partition;
        std::string reservation;              // empty: outside of all reservations
        std::vector<UnusableNodes> unusable;  // that would fit otherwise
        std::vector<ReservedNodes> reserved;
        std::vector<Shortage> short_of;
        std::vector<Holder> holders;  // the first few
        std::uint32_t holders_more = 0;
        bool operator==(const Place&) const = default;
    };
    // A reservation that the job asks for.
    enum class ReservationState : std::uint8_t { Open, NotBegun, Gone, NotAllowed };
    struct ReservationDemand {
        std::string name;
        ReservationState state = ReservationState::Open;
        std::string nodes;  // compact list
        std::optional<Time> start, end;
        bool operator==(const ReservationDemand&) const = default;
    };
    struct Change {
        std::string option;     // "--time=01:30:00", "-p short", "without --exclusive"
        std::string partition;  // where it would start
        std::string nodes;
        bool operator==(const Change&) const = default;
    };

    std::string job;  // as printed: "12", "12_[3-5]"
    std::string name;
    UserId user;
    std::string partition;  // may be a list
    JobState state = JobState::Pending;
    Reason reason = Reason::None;  // the reason that squeue shows
    std::string reason_detail;
    std::string running_on;  // nodes, if it does not wait
    Tres needs;
    TimeLimit time_limit;

    Reason hold = Reason::None;  // JobHeldUser, JobHeldAdmin, ReservationDeleted, ...
    std::optional<Time> begin;   // not before
    std::optional<Time> deadline;
    std::vector<Awaited> awaited;
    bool any_awaited = false;       // one of them is enough
    std::uint32_t array_limit = 0;  // tasks that may run at once, if that limit is reached
    std::uint32_t array_running = 0;
    std::vector<LicenseShortage> licenses;
    std::vector<PartitionObstacle> partitions;
    std::vector<ReservationDemand> reservations;
    std::vector<Place> places;  // one for each partition that accepts it
    static constexpr std::uint32_t kAheadMost = 10'000;
    std::uint32_t ahead =
        0;  // jobs with higher priority that wait for the same nodes, up to kAheadMost
    std::vector<std::string> first_ahead;
    std::optional<Time> start;  // expected
    std::string start_nodes;
    bool room_now = false;       // for the job as it is: something else blocks it
    std::vector<Change> now_if;  // each of them would start it now; the smallest first

    bool operator==(const Explanation&) const = default;
};

}  // namespace sluice
