// See reserved_groups.h.
#include "controller/reserved_groups.h"

#include <algorithm>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "base/log.h"
#include "controller/barred_users.h"
#include "os/user.h"

namespace sluice {

namespace {

// The current members; a deleted group keeps its last ones.
std::vector<GroupMembers> members_now(const Reservation& reservation) {
    std::vector<GroupMembers> groups = reservation.groups;
    for (GroupMembers& group : groups) {
        std::optional<std::vector<uid_t>> members = group_members(group.name);
        if (!members) {
            log_error("reservation {}: group {} is not known any more", reservation.name,
                      group.name);
            continue;
        }
        group.users.clear();
        for (uid_t user : *members) group.users.push_back(UserId{user});
    }
    return groups;
}

}  // namespace

void refresh_reserved_groups(Services& services) {
    const auto snapshot = services.published.snapshot.get();
    for (const Reservation& reservation : *snapshot->reservations) {
        std::vector<GroupMembers> groups = members_now(reservation);
        if (groups == reservation.groups) continue;
        ReservationChange change{.verb = ReservationChange::Verb::Update, .name = reservation.name};
        change.groups.emplace().items = std::move(groups);
        Incoming incoming;
        incoming.event = ChangeReservation{RequestId{}, kRoot, change};
        services.inbox.push(std::move(incoming));
    }
}

asio::awaitable<void> watch_reserved_groups(Services& services) {
    constexpr Seconds kNever{0};  // GroupUpdateTime=0; the next configuration may say otherwise
    constexpr Seconds kLookAgain{60};
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (true) {
        const Seconds every = services.published.config.get()->config.group_update_time;
        timer.expires_after(every > kNever ? every : kLookAgain);
        std::error_code error;
        co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
        if (error || services.stopping) co_return;
        const auto snapshot = services.published.snapshot.get();
        const bool wanted =
            has_barred_users(*snapshot) ||
            std::any_of(snapshot->reservations->begin(), snapshot->reservations->end(),
                        [](const Reservation& each) { return !each.groups.empty(); });
        if (every == kNever || !wanted) continue;
        asio::post(services.slow_pool, [&services] {
            refresh_reserved_groups(services);
            refresh_barred_users(services);
        });
    }
}

}  // namespace sluice
