// core/cow_table.h
//
// The records of one kind, by number, with cheap copies for readers. Records live in chunks of up
// to 256 neighbours; copying the table copies the pointers to the chunks. The writer clones a chunk
// and a record the first time it changes them after a copy was made, so its cost grows with what it
// changes. One writer; copies are immutable and may go to other threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"

namespace sluice {

// What a chunk knows about all its records, so that searches can skip it.
template <typename T>
struct ChunkSummary {
    void add(const T&) {}
};

template <typename T>
class CowTable {
public:
    using Key = std::uint32_t;
    struct Entry {
        Key key;
        std::shared_ptr<T> record;
    };
    struct Chunk {
        Key number = 0;              // key / kChunkSize
        std::vector<Entry> entries;  // sorted by key
        ChunkSummary<T> summary;     // may be too wide after a change, never too narrow
    };

    std::size_t size() const { return size_; }

    std::shared_ptr<const T> find(Key key) const {
        const Chunk* chunk = find_chunk(key / kChunkSize);
        if (!chunk) return nullptr;
        auto entry = entry_at(*chunk, key);
        return entry == chunk->entries.end() || entry->key != key ? nullptr : entry->record;
    }

    // The same, borrowed until the next change: without another reference.
    const T* peek(Key key) const {
        const Chunk* chunk = find_chunk(key / kChunkSize);
        if (!chunk) return nullptr;
        auto entry = entry_at(*chunk, key);
        return entry == chunk->entries.end() || entry->key != key ? nullptr : entry->record.get();
    }

    // The record, to be changed. Pointers returned earlier keep the old value.
    T* edit(Key key) {
        Chunk* chunk = own_chunk(key / kChunkSize);
        if (!chunk) return nullptr;
        auto entry = entry_at(*chunk, key);
        if (entry == chunk->entries.end() || entry->key != key) return nullptr;
        auto& record =
            chunk->entries[static_cast<std::size_t>(entry - chunk->entries.begin())].record;
        if (record.use_count() > 1) record = std::make_shared<T>(*record);
        std::atomic_thread_fence(std::memory_order_acquire);  // a reader may just have released it
        return record.get();
    }

    // The same for all records for which changes(record) is true, in order of their numbers, in
    // chunks that want(summary).
    template <typename Want, typename Changes, typename Edit>
    void edit_where(Want want, Changes changes, Edit edit) {
        for (std::shared_ptr<Chunk>& chunk : chunks_) {
            if (!want(chunk->summary)) continue;
            for (std::size_t i = 0; i < chunk->entries.size(); ++i) {
                if (!changes(static_cast<const T&>(*chunk->entries[i].record))) continue;
                if (chunk.use_count() > 1) chunk = std::make_shared<Chunk>(*chunk);
                std::shared_ptr<T>& record = chunk->entries[i].record;
                if (record.use_count() > 1) record = std::make_shared<T>(*record);
                std::atomic_thread_fence(std::memory_order_acquire);
                edit(*record);
            }
        }
    }

    T& insert(Key key, T value) {
        Chunk& chunk = own_or_add_chunk(key / kChunkSize);
        auto entry = entry_at(chunk, key);
        CHECK(entry == chunk.entries.end() || entry->key != key);
        chunk.summary.add(value);
        auto added = chunk.entries.insert(entry, {key, std::make_shared<T>(std::move(value))});
        ++size_;
        return *added->record;
    }

    void erase(Key key) {
        Chunk* chunk = own_chunk(key / kChunkSize);
        if (!chunk) return;
        auto entry = entry_at(*chunk, key);
        if (entry == chunk->entries.end() || entry->key != key) return;
        chunk->entries.erase(entry);
        --size_;
        if (chunk->entries.empty()) chunks_.erase(chunk_at(key / kChunkSize));
    }

    // Adds a record to the summary after a change (of owner or state).
    void widen(Key key, const T& record) {
        if (Chunk* chunk = own_chunk(key / kChunkSize)) chunk->summary.add(record);
    }

    // Visits all records in order of their numbers, in chunks that want(summary): visit(shared_ptr)
    // or visit(const T&).
    template <typename Want, typename Visit>
    void for_each_record(Want want, Visit visit) const {
        for (const auto& chunk : chunks_) {
            if (!want(chunk->summary)) continue;
            for (const Entry& entry : chunk->entries) visit(entry.record);
        }
    }
    template <typename Want, typename Visit>
    void for_each(Want want, Visit visit) const {
        for_each_record(want, [&](const std::shared_ptr<T>& record) { visit(*record); });
    }
    template <typename Visit>
    void for_each(Visit visit) const {
        for_each([](const ChunkSummary<T>&) { return true; }, visit);
    }

private:
    static constexpr Key kChunkSize = 256;
    using Chunks = std::vector<std::shared_ptr<Chunk>>;  // sorted by number

    typename Chunks::const_iterator chunk_at(Key number) const {
        return std::lower_bound(
            chunks_.begin(), chunks_.end(), number,
            [](const auto& chunk, Key wanted) { return chunk->number < wanted; });
    }
    static auto entry_at(const Chunk& chunk, Key key) {
        return std::lower_bound(chunk.entries.begin(), chunk.entries.end(), key,
                                [](const Entry& entry, Key wanted) { return entry.key < wanted; });
    }
    const Chunk* find_chunk(Key number) const {
        auto chunk = chunk_at(number);
        return chunk == chunks_.end() || (*chunk)->number != number ? nullptr : chunk->get();
    }
    Chunk* own_chunk(Key number) {
        auto chunk = chunk_at(number);
        if (chunk == chunks_.end() || (*chunk)->number != number) return nullptr;
        auto& mine = chunks_[static_cast<std::size_t>(chunk - chunks_.begin())];
        if (mine.use_count() > 1) mine = std::make_shared<Chunk>(*mine);
        std::atomic_thread_fence(std::memory_order_acquire);
        return mine.get();
    }
    Chunk& own_or_add_chunk(Key number) {
        if (Chunk* chunk = own_chunk(number)) return *chunk;
        auto added = std::make_shared<Chunk>();
        added->number = number;
        return **chunks_.insert(chunk_at(number), std::move(added));
    }

    Chunks chunks_;
    std::size_t size_ = 0;
};

}  // namespace sluice
