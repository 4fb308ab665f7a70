// controller/turns.h
//
// Sends long listings to the commands of this host a few at a time: the cost of squeue loops of
// many users is the formatting, on cores that the controller and every sbatch here need too. The
// others wait. A turn ends when the command has gone, or after a while: its output may be piped
// into a program that does not read.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>

namespace sluice {

class Turns {
public:
    explicit Turns(std::size_t at_once) : at_once_(at_once) {}

    class Turn {
    public:
        Turn() = default;
        Turn(Turns& turns, std::uint64_t number) : turns_(&turns), number_(number) {}
        Turn(Turn&& other) noexcept;
        Turn& operator=(Turn&& other) noexcept;
        ~Turn() { end(); }
        void end();

    private:
        Turns* turns_ = nullptr;
        std::uint64_t number_ = 0;
    };
    asio::awaitable<Turn> take(asio::any_io_executor executor);

private:
    using Clock = std::chrono::steady_clock;
    using Timer = std::shared_ptr<asio::steady_timer>;  // cancelled: it may be its turn now

    void end(std::uint64_t number);

    const std::size_t at_once_;
    std::mutex mutex_;
    std::uint64_t last_ = 0;
    std::map<std::uint64_t, Clock::time_point> taken_;  // until when, at most
    std::list<Timer> waiting_;
};

}  // namespace sluice
