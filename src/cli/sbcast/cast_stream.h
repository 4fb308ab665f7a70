// cli/sbcast/cast_stream.h
//
// Files as a stream of CastPart messages (nodes.proto), with a checksum for each: written on one
// host, read by a process of the same user on another.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/errors.h"
#include "nodes.pb.h"
#include "os/fd.h"
#include "protocol/frame.h"

namespace sluice {

constexpr std::size_t kCastBlockMax = 8u << 20;
// What is written to is closed: the other side has failed, and says why.
constexpr ErrorCode kReaderIsGone = ErrorCode::JobFinished;

struct CastSource {
    std::string path;     // of the original
    wire::CastFile file;  // where it goes
};

struct CastTransport {
    std::size_t block = kCastBlockMax;      // bytes of a file in one message
    bool compress = false;                  // with LZ4
    std::chrono::milliseconds patience{0};  // for the other side to read; 0: without a limit
};

// Fills in the mode and the times of the original, which must be a file that can be read.
Result<void> describe_original(CastSource& source);

// Writes the files, and that they are complete.
Result<void> write_files(const std::vector<CastSource>& sources, const CastTransport& transport,
                         int out);
Result<void> write_part(const wire::CastPart& part, const CastTransport& transport, int out);

// A file that is being received. It has no name (or a temporary one) until commit(); nothing is
// left of one that is not committed.
class IncomingFile {
public:
    static Result<IncomingFile> create(const wire::CastFile& file);
    IncomingFile(IncomingFile&& other) noexcept;
    IncomingFile& operator=(IncomingFile&&) = delete;
    ~IncomingFile();

    Result<void> add(const wire::CastPart& part);  // data, packed or checksum
    bool is_complete() const { return complete_; }
    Result<void> commit();  // puts it into place

private:
    IncomingFile(wire::CastFile file, Fd fd, std::string temporary, std::string made_directory);
    Result<void> append(std::string_view bytes);
    Result<void> set_attributes() const;
    Error failed(int number) const;

    wire::CastFile file_;
    Fd fd_;
    std::string temporary_;       // its name until then; empty: it has none
    std::string made_directory_;  // that is removed with it
    std::uint32_t checksum_ = 0;
    bool complete_ = false;
};

// Takes a stream apart. `on_end` is called when all files are complete.
class CastReader {
public:
    // `node` replaces %N in paths, `place` says where the (only) file goes.
    explicit CastReader(std::string node, std::optional<wire::CastFile> place = {})
        : node_(std::move(node)), place_(std::move(place)) {}
    Result<void> feed(std::string_view bytes, const std::function<void()>& on_end);
    Result<void> commit();
    bool is_complete() const { return complete_; }
    bool is_committed() const { return committed_; }

private:
    Result<void> begin(wire::CastFile file);
    Result<void> take(const wire::CastPart& part, const std::function<void()>& on_end);

    std::string node_;
    std::optional<wire::CastFile> place_;
    FrameReader reader_{kCastBlockMax + (1u << 20)};
    std::vector<IncomingFile> files_;
    bool complete_ = false, committed_ = false;
};

}  // namespace sluice
