// core/schedule/known_starts.h
//
// What one search finds out about a node helps the next: before which moment the node cannot take
// it. Searches share that with all that ask for about as much for about as long: needs are rounded
// down, so a node that is not free for the rounded need is not free for any of them, nor for any
// that ask for more. Bookings only make nodes later; what became freer since (Plan::freed) is
// forgotten.
#pragma once

#include <memory>
#include <vector>

#include "core/schedule/plan.h"

namespace sluice {

class KnownStarts {
public:
    struct Page {
        std::vector<Amounts> amounts;      // by kind of node, rounded down
        PlanTime length = 0;               // rounded down
        PlanTime from = 0;                 // nothing is known of earlier moments
        std::vector<PlanTime> not_before;  // by node index
        PlanTime reach = 0;                // up to where the last search had to look
        std::size_t hash = 0;              // of amounts and length
        std::uint64_t freed_seen = 0;      // up to where Plan::freed has been followed
    };
    // What is known for such a need at `from` and later. Stays where it is until the next call.
    Page& page_for(const Plan& plan, const std::vector<Amounts>& amounts, PlanTime from,
                   PlanTime length);

private:
    Page& add_page(const Plan& plan, Page page);

    std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace sluice
