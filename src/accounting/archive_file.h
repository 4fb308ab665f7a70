// accounting/archive_file.h
//
// The files of archives; archive.h describes their format.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace sluice::accounting {

// Numbers are part of the format: append only.
enum class ArchivedKind : std::uint8_t {
    End,
    Cluster,  // the name, as text: that of the records that follow
    Job,
    Step,
    Suspend,
    Event,
    Reservation,
    Transaction,
    AssociationUsage,
    WckeyUsage,
    ClusterUsage,
    Script,
};

// Makes the file with the first record, and gives it its name once it is complete and on disk.
class ArchiveWriter {
public:
    explicit ArchiveWriter(std::string path) : path_(std::move(path)) {}
    ~ArchiveWriter();
    ArchiveWriter(const ArchiveWriter&) = delete;
    ArchiveWriter& operator=(const ArchiveWriter&) = delete;

    Result<void> put(ArchivedKind kind, std::string_view bytes);
    // Without a record there is no file.
    Result<void> finish();

private:
    Result<void> open();
    Result<void> flush();
    Error failed() const;

    std::string path_;
    std::string buffer_;
    Fd file_;
    std::uint64_t records_ = 0;
};

// Calls each(kind, bytes) for each record but the last one. The file is checked before the first
// call: one that is incomplete or damaged is an error.
Result<void> read_archive(
    const std::string& path,
    const std::function<Result<void>(ArchivedKind kind, std::string_view bytes)>& each);

}  // namespace sluice::accounting
