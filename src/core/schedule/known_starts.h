// core/schedule/known_starts.h
//
// Caches, per node, the time before which a search found that the node is not free. Searches with
// about the same need and length share a page: needs are rounded down, so a node that is not free
// for the rounded need is not free for any of them, nor for larger ones. Bookings only delay nodes;
// entries of nodes that became freer (Plan::freed) are dropped.
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
        PlanTime from = 0;                 // the page says nothing about earlier times
        std::vector<PlanTime> not_before;  // by node index
        PlanTime reach = 0;                // how far ahead the last search had to look
        std::size_t hash = 0;              // of amounts and length
        std::uint64_t freed_seen = 0;      // changes of Plan::freed before this one are applied
    };
    // What is known for such a need at `from` and later. Stays where it is until the next call.
    Page& page_for(const Plan& plan, const std::vector<Amounts>& amounts, PlanTime from,
                   PlanTime length);

private:
    Page& add_page(const Plan& plan, Page page);

    std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace sluice
