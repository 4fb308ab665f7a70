// controller/services.cc
#include "controller/services.h"

#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>

namespace sluice {

constexpr auto kInboxFullDelay = std::chrono::milliseconds(2);

asio::awaitable<bool> push(Services& services, Incoming incoming) {
    while (!services.inbox.offer(incoming)) {
        if (services.inbox.closed()) co_return false;
        asio::steady_timer timer(co_await asio::this_coro::executor, kInboxFullDelay);
        std::error_code ignored;
        co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    co_return true;
}

}  // namespace sluice
