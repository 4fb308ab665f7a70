// sim/agenda.h
//
// What will happen, by time; at the same second in the order in which it was planned.
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "base/time.h"

namespace sluice {

template <typename T>
class Agenda {
public:
    void add(Time due, T what) { queue_.push({due, next_++, std::move(what)}); }
    bool empty() const { return queue_.empty(); }
    Time next() const { return queue_.top().due; }
    T take() {
        T what = std::move(const_cast<Entry&>(queue_.top()).what);  // it leaves at once
        queue_.pop();
        return what;
    }

private:
    struct Entry {
        Time due;
        std::uint64_t order;
        T what;
        bool operator<(const Entry& other) const {
            return due != other.due ? due > other.due : order > other.order;
        }
    };
    std::priority_queue<Entry> queue_;
    std::uint64_t next_ = 0;
};

}  // namespace sluice
