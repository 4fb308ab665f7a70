// core/priority_table.h
//
// Priorities that were calculated after the records of their jobs were last written. All of them
// change every few minutes: kept separately, so that no record that a reader still holds is copied.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/cow_table.h"
#include "model/job.h"

namespace sluice {

class PriorityTable {
public:
    std::uint32_t of(const Job& job) const {
        std::uint32_t newer = find(job.id);
        return newer != kNone ? newer : job.priority;
    }
    void set(JobId id, std::uint32_t priority) {
        Block* block = blocks_.edit(id.value / kBlockSize);
        if (!block) block = &blocks_.insert(id.value / kBlockSize, {});
        (*block)[id.value % kBlockSize] = priority;
    }
    // Its record is to be changed: from now on the record has the priority.
    void move_to(Job& job) {
        job.priority = of(job);
        forget(job.id);
    }
    void forget(JobId id) {
        if (find(id) == kNone) return;
        set(id, kNone);
        const Block& block = *blocks_.peek(id.value / kBlockSize);
        const bool is_empty =
            std::all_of(block.begin(), block.end(), [](auto each) { return each == kNone; });
        if (is_empty) blocks_.erase(id.value / kBlockSize);  // ids only ever grow
    }

private:
    static constexpr std::uint32_t kBlockSize = 1024;
    static constexpr std::uint32_t kNone = 0;  // that of held jobs: never calculated
    using Block = std::array<std::uint32_t, kBlockSize>;

    std::uint32_t find(JobId id) const {
        const Block* block = blocks_.peek(id.value / kBlockSize);
        return block ? (*block)[id.value % kBlockSize] : kNone;
    }

    CowTable<Block> blocks_;
};

}  // namespace sluice
