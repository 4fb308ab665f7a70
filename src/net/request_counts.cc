#include "net/request_counts.h"

#include <algorithm>

#include "model/sizes.h"

namespace sluice {

namespace {

std::uint64_t microseconds_in(std::chrono::steady_clock::duration time) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace

RequestCounts::Timer& RequestCounts::Timer::operator=(Timer&& other) noexcept {
    stop();
    counts_ = std::move(other.counts_);
    type_ = other.type_;
    user_ = other.user_;
    start_ = other.start_;
    return *this;
}

void RequestCounts::Timer::stop() {
    const std::shared_ptr<Counts> counts = std::exchange(counts_, nullptr);
    if (!counts) return;
    const auto time = std::chrono::steady_clock::now() - start_;
    const auto add = [&](Count& count) {
        ++count.requests;
        count.time += time;
    };
    --counts->active;
    const std::lock_guard guard(counts->mutex);
    auto& [name, count] = counts->by_type[type_->number];
    name = type_->name;
    add(count);
    const auto user = counts->by_user.find(user_.value);
    if (user != counts->by_user.end()) {
        add(user->second);
    } else if (counts->by_user.size() < sizes::kNameCount) {
        add(counts->by_user[user_.value]);
    }
}

RequestCounts::Timer RequestCounts::start(const RequestType& type, UserId user) {
    ++counts_->active;
    Timer timer;
    timer.counts_ = counts_;
    timer.type_ = &type;
    timer.user_ = user;
    timer.start_ = std::chrono::steady_clock::now();
    return timer;
}

void RequestCounts::reset() {
    const std::lock_guard guard(counts_->mutex);
    counts_->by_type.clear();
    counts_->by_user.clear();
}

void RequestCounts::fill(Statistics& statistics) const {
    statistics.active_requests = counts_->active;
    const std::lock_guard guard(counts_->mutex);
    for (const auto& [number, named] : counts_->by_type) {
        const auto& [name, count] = named;
        statistics.by_type.push_back(
            {number, std::string(name), count.requests, microseconds_in(count.time)});
    }
    for (const auto& [uid, count] : counts_->by_user)
        statistics.by_user.push_back({uid, "", count.requests, microseconds_in(count.time)});
    std::sort(statistics.by_user.begin(), statistics.by_user.end(),
              [](const RequestCount& a, const RequestCount& b) { return a.id < b.id; });
}

}  // namespace sluice
