// controller/undecided.h
//
// Accepted changes that are not on disk yet. A command without an answer repeats its request: while
// the first one may still be committed, the second must not be refused, or the user is told no and
// gets the job as soon as there is space on the disk again.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>

namespace sluice {

class Undecided {
    struct Keys {
        std::mutex mutex;
        std::unordered_multiset<std::string> known;
    };

public:
    // A request counts as undecided as long as its mark exists.
    class Mark {
    public:
        Mark(std::shared_ptr<Keys> keys, std::string key)
            : keys_(std::move(keys)), key_(std::move(key)) {
            const std::lock_guard guard(keys_->mutex);
            keys_->known.insert(key_);
        }
        ~Mark() {
            const std::lock_guard guard(keys_->mutex);
            keys_->known.erase(keys_->known.find(key_));
        }
        Mark(const Mark&) = delete;
        Mark& operator=(const Mark&) = delete;

    private:
        std::shared_ptr<Keys> keys_;
        std::string key_;
    };

    std::shared_ptr<const Mark> add(std::string key) {
        return std::make_shared<const Mark>(keys_, std::move(key));
    }
    bool has(const std::string& key) const {
        const std::lock_guard guard(keys_->mutex);
        return keys_->known.contains(key);
    }

private:
    std::shared_ptr<Keys> keys_ =
        std::make_shared<Keys>();  // marks may be in the inbox until the end
};

}  // namespace sluice
