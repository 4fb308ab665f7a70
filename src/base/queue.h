// base/queue.h
//
// The only way threads hand values to each other: bounded, blocking, closable. A full queue makes
// the producer wait (push) or be refused (try_push); that is how overload is felt at the edge.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace sluice {

template <typename T>
class Queue {
public:
    explicit Queue(std::size_t capacity) : capacity_(capacity) {}

    // Waits for room; false once the queue is closed.
    bool push(T value) {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
        return put(lock, std::move(value));
    }

    bool try_push(T value) {
        std::unique_lock lock(mutex_);
        if (items_.size() >= capacity_) return false;
        return put(lock, std::move(value));
    }

    // As try_push, but a refused value stays with the caller, to be offered again.
    bool offer(T& value) {
        std::unique_lock lock(mutex_);
        if (items_.size() >= capacity_) return false;
        return put(lock, std::move(value));
    }

    // Waits for something, then takes all there is, up to `most`; empty only once closed and
    // drained.
    std::vector<T> take(std::size_t most) {
        std::unique_lock lock(mutex_);
        filled_.wait(lock, [&] { return closed_ || !items_.empty(); });
        return remove(lock, most);
    }

    // The same, but gives up at `deadline` with nothing.
    std::vector<T> take_until(std::size_t most, std::chrono::steady_clock::time_point deadline) {
        std::unique_lock lock(mutex_);
        filled_.wait_until(lock, deadline, [&] { return closed_ || !items_.empty(); });
        return remove(lock, most);
    }

    void close() {
        std::lock_guard lock(mutex_);
        closed_ = true;
        filled_.notify_all();
        room_.notify_all();
    }

    bool closed() const {
        std::lock_guard lock(mutex_);
        return closed_;
    }

    // Closed, and nothing left to take.
    bool finished() const {
        std::lock_guard lock(mutex_);
        return closed_ && items_.empty();
    }

    std::size_t size() const {
        std::lock_guard lock(mutex_);
        return items_.size();
    }

private:
    std::vector<T> remove(std::unique_lock<std::mutex>&, std::size_t most) {
        std::vector<T> taken;
        while (!items_.empty() && taken.size() < most) {
            taken.push_back(std::move(items_.front()));
            items_.pop_front();
        }
        room_.notify_all();
        return taken;
    }

    bool put(std::unique_lock<std::mutex>&, T value) {
        if (closed_) return false;
        items_.push_back(std::move(value));
        filled_.notify_one();
        return true;
    }

    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable filled_;
    std::condition_variable room_;
    std::deque<T> items_;
    bool closed_ = false;
};

}  // namespace sluice
