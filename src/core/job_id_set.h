// core/job_id_set.h
//
// A set of jobs that is cheap to copy: copies share what has not changed since. One writer; copies
// are immutable and may go to other threads (see cow_table.h).
#pragma once

#include <bitset>

#include "core/cow_table.h"
#include "model/job.h"

namespace sluice {

class JobIdSet {
public:
    bool contains(JobId id) const {
        const Block* block = blocks_.peek(id.value / kBlockSize);
        return block && block->test(id.value % kBlockSize);
    }
    void insert(JobId id) {
        Block* block = blocks_.edit(id.value / kBlockSize);
        if (!block) block = &blocks_.insert(id.value / kBlockSize, {});
        block->set(id.value % kBlockSize);
    }
    void erase(JobId id) {
        if (!contains(id)) return;
        Block* block = blocks_.edit(id.value / kBlockSize);
        block->reset(id.value % kBlockSize);
        if (block->none()) blocks_.erase(id.value / kBlockSize);  // ids only ever grow
    }

private:
    static constexpr std::uint32_t kBlockSize = 1024;
    using Block = std::bitset<kBlockSize>;

    CowTable<Block> blocks_;
};

}  // namespace sluice
