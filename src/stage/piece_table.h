// stage/piece_table.h
//
// Which pieces of a dataset are here, and their checksums: a file beside the copy that all
// processes of this node map which write, serve or verify it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace sluice::stage {

class PieceTable {
public:
    static Result<PieceTable> create(int directory, std::size_t count);
    static Result<PieceTable> open(int directory, bool writable = false);
    PieceTable(PieceTable&& other) noexcept;
    PieceTable& operator=(PieceTable&&) = delete;
    ~PieceTable();

    std::size_t size() const { return size_; }
    bool is_here(std::size_t piece) const;
    std::uint32_t crc(std::size_t piece) const { return rows_[piece].crc; }
    // After its bytes were written.
    void set_here(std::size_t piece, std::uint32_t crc);

private:
    struct Row {
        std::atomic<std::uint32_t> is_here;
        std::uint32_t crc;
    };
    PieceTable(Row* rows, std::size_t size) : rows_(rows), size_(size) {}

    Row* rows_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace sluice::stage
