// stepd/recent_output.h
//
// The last messages of output of a step's tasks on this node. Compat: sattach shows what was
// written shortly before it came.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

namespace sluice {

class RecentOutput {
public:
    static constexpr std::size_t kMessagesMost = 128, kBytesMost = 256u << 10;

    void add(std::string frame) {
        bytes_ += frame.size();
        frames_.push_back(std::move(frame));
        while (frames_.size() > kMessagesMost || bytes_ > kBytesMost) {
            bytes_ -= frames_.front().size();
            frames_.pop_front();
        }
    }

    std::string all() const {
        std::string joined;
        for (const std::string& each : frames_) joined += each;
        return joined;
    }

private:
    std::deque<std::string> frames_;
    std::size_t bytes_ = 0;
};

}  // namespace sluice
