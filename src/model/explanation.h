// model/explanation.h
//
// Why a job waits: all that keeps it, who has what it wants, when it is expected to start, and what
// it could ask for to start at once. Names instead of indexes: it is read where there is no node
// table.
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
    // A job that has, or is promised, what this one wants.
    struct Holder {
        std::string job;  // as printed; empty: the viewer may not see it (PrivateData)
        UserId user;
        std::string partition;
        std::string nodes;               // compact list
        Tres amounts;                    // of what is short
        bool waits = false;              // it is to start at `start`, and may not be delayed
        std::optional<Time> start, end;  // expected
        bool operator==(const Holder&) const = default;
    };
    struct Awaited {              // a condition of --dependency that does not hold yet
        std::string condition;    // "afterok:12"
        std::string job;          // empty for a singleton
        std::string state;        // "RUNNING"; empty: not known any more
        bool failed = false;      // it will never hold
        std::optional<Time> due;  // when the job awaited is expected to end, or the delay does
        bool operator==(const Awaited&) const = default;
    };
    struct LicenseShortage {
        std::string name;
        std::uint32_t wanted = 0, total = 0, used = 0;
        std::vector<Holder> holders;
        struct Kept {  // by a reservation, beside what its jobs use
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
        std::vector<Holder> holders = {};  // of what all share
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
        std::string node;  // the one that comes nearest; empty: counted over all
        bool operator==(const Shortage&) const = default;
    };
    struct ReservedNodes {  // kept from the job by a reservation that it does not use
        std::string nodes;  // compact list
        std::uint32_t count = 0;
        std::string reservation;
        bool maintenance = false;
        Time start, end;  // of the reservation, or of its next time
        bool operator==(const ReservedNodes&) const = default;
    };
    // A partition that lets the job in, and what is missing there.
    struct Place {
        std::string partition;
        std::string reservation;              // in which; empty: outside of all
        std::vector<UnusableNodes> unusable;  // that would do otherwise
        std::vector<ReservedNodes> reserved;
        std::vector<Shortage> short_of;
        std::vector<Holder> holders;  // the first few
        std::uint32_t holders_more = 0;
        bool operator==(const Place&) const = default;
    };
    // A reservation that the job asks for.
    enum class ReservationState : std::uint8_t { Open, NotBegun, Gone, NotAllowed };
    struct ReservationWish {
        std::string name;
        ReservationState state = ReservationState::Open;
        std::string nodes;  // compact list
        std::optional<Time> start, end;
        bool operator==(const ReservationWish&) const = default;
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
    Reason reason = Reason::None;  // the one word that squeue shows
    std::string reason_detail;
    std::string running_on;  // it does not wait: its nodes
    Tres needs;
    TimeLimit time_limit;

    Reason hold = Reason::None;  // JobHeldUser, JobHeldAdmin, ReservationDeleted, ...
    std::optional<Time> begin;   // not before
    std::optional<Time> deadline;
    std::vector<Awaited> awaited;
    bool any_awaited = false;       // one of them is enough
    std::uint32_t array_limit = 0;  // tasks that may run at once, when that many do
    std::uint32_t array_running = 0;
    std::vector<LicenseShortage> licenses;
    std::vector<PartitionObstacle> partitions;
    std::vector<ReservationWish> reservations;
    std::vector<Place> places;  // one for each of its partitions that is open to it
    static constexpr std::uint32_t kAheadMost = 10'000;
    std::uint32_t ahead =
        0;  // jobs with higher priority that wait for the same nodes, up to that many
    std::vector<std::string> first_ahead;
    std::optional<Time> start;  // expected
    std::string start_nodes;
    bool room_now = false;       // for the job as it is: something else keeps it
    std::vector<Change> now_if;  // each alone would start it now; the smallest first

    bool operator==(const Explanation&) const = default;
};

}  // namespace sluice
