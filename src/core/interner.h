// core/interner.h
//
// Stores equal values once: share() returns an existing equal value while it is in use. It finds
// most equal values, not all: of values with the same hash it knows the last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>

#include "model/job_hash.h"

namespace sluice {

template <typename T>
class Interner {
public:
    std::shared_ptr<const T> share(const T& value) { return find_or_keep(value); }
    std::shared_ptr<const T> share(T&& value) { return find_or_keep(std::move(value)); }

private:
    template <typename Value>
    std::shared_ptr<const T> find_or_keep(Value&& value) {
        std::weak_ptr<const T>& known = known_[hash_of(value)];
        if (auto equal = known.lock(); equal && *equal == value) return equal;
        auto kept = std::make_shared<const T>(std::forward<Value>(value));
        known = kept;
        if (known_.size() >= sweep_at_) sweep();
        return kept;
    }

    // Unused entries are removed when the table has doubled, which is cheap per value.
    void sweep() {
        constexpr std::size_t kFewest = 4096;
        std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
        sweep_at_ = std::max(kFewest, 2 * known_.size());
    }

    std::unordered_map<std::size_t, std::weak_ptr<const T>> known_;  // by hash
    std::size_t sweep_at_ = 0;
};

}  // namespace sluice
