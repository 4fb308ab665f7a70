// stage/reader.h
//
// The only process that opens the sources of a job: it runs as the user of the job, with all groups
// of that user, and hands opened files to its parent. It cannot be traced or debugged by other
// processes of the user, so what it says about a source is true for that user.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "os/fd.h"
#include "stage/listing.h"

namespace sluice::stage {

struct ReaderUser {
    std::uint32_t user = 0;
    std::uint32_t group = 0;
};

class SourceReader {
public:
    // Forks: before there are threads. Each thread that opens files needs a channel of its own.
    static Result<SourceReader> start(const ReaderUser& user, unsigned channels);
    SourceReader(SourceReader&&) = default;
    SourceReader& operator=(SourceReader&&) = default;
    ~SourceReader();

    Result<Listing> list(const std::string& source);
    // The files among the entries [first, first + count) of the last listing, in their order.
    Result<std::vector<Fd>> open(unsigned channel, std::span<const Entry> entries,
                                 std::uint32_t first);
    // Appends a line to a file of the user, if that is possible.
    void add_line(const std::string& path, const std::string& text);

private:
    SourceReader() = default;

    pid_t pid_ = -1;
    Fd control_;
    std::vector<Fd> channels_;
};

}  // namespace sluice::stage
