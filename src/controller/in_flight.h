// controller/in_flight.h
//
// How many bytes of undecided requests, and of answers that were not read yet, each user has in
// memory. A user with too many is refused more until there are fewer; other users are not affected.
// Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "model/job.h"
#include "net/link.h"

namespace sluice {

class InFlight {
    struct Sums {
        std::mutex mutex;
        std::unordered_map<std::uint32_t, std::size_t> bytes;  // by user
    };

public:
    explicit InFlight(std::size_t most_per_user) : most_(most_per_user) {}

    // Counts as long as it exists.
    class Charge {
    public:
        Charge(std::shared_ptr<Sums> sums, UserId user, std::size_t size)
            : sums_(std::move(sums)), user_(user), size_(size) {}
        ~Charge() {
            if (size_ == 0) return;
            const std::lock_guard guard(sums_->mutex);
            auto found = sums_->bytes.find(user_.value);
            found->second -= size_;
            if (found->second == 0) sums_->bytes.erase(found);
        }
        Charge(const Charge&) = delete;
        Charge& operator=(const Charge&) = delete;

    private:
        std::shared_ptr<Sums> sums_;
        UserId user_;
        std::size_t size_;
    };

    // Null: the user has too much already.
    std::shared_ptr<const Charge> charge(UserId user, std::size_t size) {
        const std::lock_guard guard(sums_->mutex);
        auto found = sums_->bytes.find(user.value);
        const std::size_t sum = found == sums_->bytes.end() ? 0 : found->second;
        if (sum > 0 && sum + size > most_) return nullptr;
        if (size > 0) sums_->bytes[user.value] = sum + size;
        return std::make_shared<const Charge>(sums_, user, size);
    }
    std::size_t most() const { return most_; }

private:
    const std::size_t most_;
    std::shared_ptr<Sums> sums_ = std::make_shared<Sums>();  // charges may be in the inbox
};

class UnreadReplies {
public:
    explicit UnreadReplies(std::size_t most_per_user) : charges_(most_per_user) {}

    // The reply, counted until the last connection has sent it; a reply that goes to several is
    // counted once. Null: the user has too many already.
    Bytes counted(UserId user, Bytes reply) {
        const std::lock_guard guard(mutex_);
        std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
        auto& known = known_[{user.value, reply.get()}];
        auto charge = known.lock();
        if (!charge) charge = charges_.charge(user, reply->size());
        if (!charge) return nullptr;
        known = charge;
        struct Counted {
            Bytes reply;
            std::shared_ptr<const InFlight::Charge> charge;
        };
        const std::string* text = reply.get();
        return {std::make_shared<Counted>(std::move(reply), std::move(charge)), text};
    }
    std::size_t most() const { return charges_.most(); }

private:
    InFlight charges_;
    std::mutex mutex_;
    std::map<std::pair<std::uint32_t, const std::string*>, std::weak_ptr<const InFlight::Charge>>
        known_;
};

}  // namespace sluice
