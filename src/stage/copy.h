// stage/copy.h
//
// The copy of a dataset on this node: a directory that only root can enter, with the files below
// "data". Files are written by several threads, piece by piece; holes stay holes. A file is
// read-only from the beginning, because jobs get links to it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "os/fd.h"
#include "stage/listing.h"
#include "stage/piece_table.h"

namespace sluice::stage {

// A buffer of a thread.
using Buffer = std::vector<char>;

const char* name_in_copy(const Entry& entry);  // below "data"

class Copy {
public:
    // `directory` is new and empty.
    static Result<std::unique_ptr<Copy>> begin(const std::string& directory, Listing listing);
    // One that was begun or finished by any process of this node.
    static Result<std::unique_ptr<Copy>> open(const std::string& directory);

    const Listing& listing() const { return listing_; }
    const std::vector<Piece>& pieces() const { return pieces_; }
    const PieceTable& table() const { return *table_; }
    int data() const { return data_.get(); }
    std::span<const Entry> entries_of(const Piece& piece) const {
        return std::span(listing_.entries).subspan(piece.first, piece.count);
    }
    bool is_complete() const;

    // From opened files of the source. Fails if one is not as it was listed.
    Result<void> write_from(std::size_t piece, std::span<const Fd> files, Buffer& buffer);
    // From a peer, whose checksum they must have.
    Result<void> write(std::size_t piece, std::string_view bytes, std::uint32_t crc);
    // For a peer, or to verify: its bytes, whether or not they are what they should be.
    Result<std::string_view> read(std::size_t piece, Buffer& buffer) const;

    // Writes down when which file was written: is_untouched() needs it.
    Result<void> finish();
    // Size and time of change of all files are as they were when it was finished.
    Result<void> is_untouched() const;
    // All checksums are right. Slow.
    Result<void> verify(unsigned threads) const;
    // Since the start of this machine; what was not on the disk when it went down may be lost.
    bool was_verified_since_boot() const;
    Result<void> note_verified();

private:
    explicit Copy(std::string directory) : directory_(std::move(directory)) {}
    Result<void> make_tree();
    Result<Fd> file_for(std::uint32_t entry);
    Result<void> write_at(std::uint32_t entry, std::uint64_t offset, std::string_view bytes);
    Result<void> write_index() const;

    std::string directory_;
    Listing listing_;
    std::vector<Piece> pieces_;
    std::unique_ptr<PieceTable> table_;
    Fd data_;
    std::vector<std::uint64_t> dates_;
    std::string boot_;
};

}  // namespace sluice::stage
