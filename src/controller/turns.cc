// controller/turns.cc
#include "controller/turns.h"

#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

namespace sluice {

constexpr auto kTurnMost = std::chrono::milliseconds(100);

Turns::Turn::Turn(Turn&& other) noexcept
    : turns_(std::exchange(other.turns_, nullptr)), number_(other.number_) {}

Turns::Turn& Turns::Turn::operator=(Turn&& other) noexcept {
    std::swap(turns_, other.turns_);
    std::swap(number_, other.number_);
    return *this;
}

void Turns::Turn::end() {
    if (Turns* turns = std::exchange(turns_, nullptr)) turns->end(number_);
}

asio::awaitable<Turns::Turn> Turns::take(asio::any_io_executor executor) {
    const auto timer = std::make_shared<asio::steady_timer>(executor);
    for (;;) {
        {
            const std::lock_guard guard(mutex_);
            waiting_.remove(timer);
            const auto now = Clock::now();
            while (!taken_.empty() && taken_.begin()->second <= now) taken_.erase(taken_.begin());
            if (taken_.size() < at_once_) {
                taken_.emplace(++last_, now + kTurnMost);
                co_return Turn(*this, last_);
            }
            timer->expires_at(taken_.begin()->second);
            waiting_.push_back(timer);
        }
        std::error_code cancelled;
        co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }
}

void Turns::end(std::uint64_t number) {
    const std::lock_guard guard(mutex_);
    if (taken_.erase(number) == 0 || waiting_.empty()) return;
    const Timer next = std::move(waiting_.front());
    waiting_.pop_front();
    // Posted to its own thread, so it cannot come before the wait.
    asio::post(next->get_executor(), [next] { next->cancel(); });
}

}  // namespace sluice
