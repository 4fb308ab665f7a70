// See known_starts.h.
#include "core/schedule/known_starts.h"

#include <bit>

namespace sluice {

namespace {

constexpr std::size_t kNumbersMost = 4'000'000;  // on all pages together: 16 MB
constexpr int kAmountBits = 3, kLengthBits = 2;  // leading ones that are kept
constexpr int kSourcesMost = 6;                  // that a new page is begun from

std::int32_t rounded_down(std::int32_t number, int bits) {
    if (number <= 0) return number;
    int width = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(number)));
    int dropped = std::max(0, width - bits);
    return number >> dropped << dropped;
}

std::size_t hash_of(const std::vector<Amounts>& amounts, PlanTime length) {
    std::size_t hash = static_cast<std::size_t>(length);
    for (const Amounts& row : amounts) {
        for (std::int32_t number : row.of)
            hash = (hash ^ static_cast<std::uint32_t>(number)) * 0x9e3779b97f4a7c15ull;
    }
    return hash;
}

bool asks_for_less(const KnownStarts::Page& page, const KnownStarts::Page& other) {
    if (page.length > other.length || page.from > other.from) return false;
    for (std::size_t kind = 0; kind < page.amounts.size(); ++kind) {
        if (!other.amounts[kind].holds(page.amounts[kind])) return false;
    }
    return true;
}

void forget_freed(const Plan& plan, KnownStarts::Page& page) {
    if (page.freed_seen < plan.freed_first()) {
        std::fill(page.not_before.begin(), page.not_before.end(), page.from);
    } else {
        for (NodeIndex node : plan.freed_since(page.freed_seen))
            page.not_before[node.value] = page.from;
    }
    page.freed_seen = plan.freed_end();
}

}  // namespace

KnownStarts::Page& KnownStarts::page_for(const Plan& plan, const std::vector<Amounts>& amounts,
                                         PlanTime from, PlanTime length) {
    Page wanted{.amounts = amounts,
                .length = rounded_down(length, kLengthBits),
                .from = from,
                .not_before = {}};
    for (Amounts& row : wanted.amounts) {
        for (std::int32_t& number : row.of) number = rounded_down(number, kAmountBits);
    }
    wanted.hash = hash_of(wanted.amounts, wanted.length);
    for (auto& page : pages_) {
        if (page->hash != wanted.hash || page->length != wanted.length || page->from > from)
            continue;
        if (page->amounts != wanted.amounts) continue;
        forget_freed(plan, *page);
        return *page;
    }
    return add_page(plan, std::move(wanted));
}

// The new page starts with the results of needs that ask for less.
KnownStarts::Page& KnownStarts::add_page(const Plan& plan, Page page) {
    if (pages_.size() * plan.node_count() > kNumbersMost) pages_.clear();
    page.not_before.assign(plan.node_count(), page.from);
    page.freed_seen = plan.freed_end();
    int sources = kSourcesMost;
    for (auto known = pages_.rbegin(); known != pages_.rend() && sources > 0; ++known) {
        if (!asks_for_less(**known, page)) continue;
        --sources;
        forget_freed(plan, **known);
        page.reach = std::max(page.reach, (*known)->reach);
        for (std::size_t i = 0; i < page.not_before.size(); ++i) {
            page.not_before[i] = std::max(page.not_before[i], (*known)->not_before[i]);
        }
    }
    pages_.push_back(std::make_unique<Page>(std::move(page)));
    return *pages_.back();
}

}  // namespace sluice
