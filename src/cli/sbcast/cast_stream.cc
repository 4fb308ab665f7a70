#include "cli/sbcast/cast_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <lz4.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "data/crc32c.h"
#include "model/errors.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice {

namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::int64_t to_nanoseconds(const timespec& time) {
    return time.tv_sec * kNanoseconds + time.tv_nsec;
}

timespec to_timespec(std::int64_t nanoseconds) {
    return {.tv_sec = nanoseconds / kNanoseconds, .tv_nsec = nanoseconds % kNanoseconds};
}

// All of it, to a descriptor whose reader may be slow.
Result<void> write_in(const std::string& bytes, std::chrono::milliseconds patience, int out) {
    const int most = patience.count() > 0 ? static_cast<int>(patience.count()) : -1;
    std::size_t start = 0;
    while (start < bytes.size()) {
        pollfd ready{out, POLLOUT, 0};
        const int count = poll(&ready, 1, most);
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) {
            return Error{
                ErrorCode::Timeout,
                fmt::format("no node took any data for {} seconds",
                            std::chrono::duration_cast<std::chrono::seconds>(patience).count())};
        }
        const ssize_t written = write(out, bytes.data() + start, bytes.size() - start);
        if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (written < 0) return Error{kReaderIsGone, os_error("the transfer was ended").detail};
        start += static_cast<std::size_t>(written);
    }
    return {};
}

wire::CastPart part_of(const std::string& data, bool compress) {
    wire::CastPart part;
    if (compress) {
        const auto size = static_cast<int>(data.size());
        std::string packed(static_cast<std::size_t>(LZ4_compressBound(size)), '\0');
        const int made =
            LZ4_compress_default(data.data(), packed.data(), size, static_cast<int>(packed.size()));
        // What does not become smaller is sent as it is.
        if (made > 0 && made < size) {
            packed.resize(static_cast<std::size_t>(made));
            part.mutable_packed()->set_data(std::move(packed));
            part.mutable_packed()->set_size(static_cast<std::uint32_t>(size));
            return part;
        }
    }
    part.set_data(data);
    return part;
}

Result<void> write_file_parts(const CastSource& source, const CastTransport& transport, int out) {
    const Fd file(open(source.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return os_error(source.path);
    wire::CastPart first;
    *first.mutable_file() = source.file;
    TRY(write_part(first, transport, out));
    std::uint32_t checksum = 0;
    std::string block;
    for (;;) {
        block.resize(transport.block);
        const ssize_t count = read(file.get(), block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return os_error(source.path);
        if (count == 0) break;
        block.resize(static_cast<std::size_t>(count));
        checksum = data::crc32c(block, checksum);
        TRY(write_part(part_of(block, transport.compress), transport, out));
    }
    wire::CastPart last;
    last.set_checksum(checksum);
    return write_part(last, transport, out);
}

}  // namespace

Result<void> describe_original(CastSource& source) {
    const Fd file(open(source.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0) return os_error(source.path);
    if (!S_ISREG(status.st_mode))
        return Error{ErrorCode::BadArgument, fmt::format("{}: not a file", source.path)};
    source.file.set_mode(status.st_mode & 0777);
    source.file.set_changed_ns(to_nanoseconds(status.st_mtim));
    source.file.set_read_ns(to_nanoseconds(status.st_atim));
    return {};
}

Result<void> write_part(const wire::CastPart& part, const CastTransport& transport, int out) {
    std::string frame;
    append_frame(frame, part);
    return write_in(frame, transport.patience, out);
}

Result<void> write_files(const std::vector<CastSource>& sources, const CastTransport& transport,
                         int out) {
    fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
    for (const CastSource& source : sources) TRY(write_file_parts(source, transport, out));
    wire::CastPart end;
    end.mutable_end();
    return write_part(end, transport, out);
}

// ---- the receiving side

Result<IncomingFile> IncomingFile::create(const wire::CastFile& file) {
    const std::string& path = file.path();
    const std::string directory = directory_of(path);
    const auto failed = [&](int number) { return os_error(path, number); };
    std::string made;
    if (file.make_directory() && mkdir(directory.c_str(), 0700) == 0) made = directory;
    struct stat status {};
    if (lstat(path.c_str(), &status) == 0) {
        if (S_ISDIR(status.st_mode)) return failed(EISDIR);
        if (!file.force()) return failed(EEXIST);
    }
    Fd fd(open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    std::string temporary;
    if (!fd) {  // not all file systems have files without a name
        temporary = fmt::format("{}/.{}.XXXXXX", directory, base_name(path));
        fd.reset(mkostemp(temporary.data(), O_CLOEXEC));
    }
    if (!fd) {
        const int why = errno;
        if (!made.empty()) rmdir(made.c_str());
        return failed(why);
    }
    return IncomingFile(file, std::move(fd), std::move(temporary), std::move(made));
}

IncomingFile::IncomingFile(wire::CastFile file, Fd fd, std::string temporary,
                           std::string made_directory)
    : file_(std::move(file)),
      fd_(std::move(fd)),
      temporary_(std::move(temporary)),
      made_directory_(std::move(made_directory)) {}

IncomingFile::IncomingFile(IncomingFile&& other) noexcept
    : file_(std::move(other.file_)),
      fd_(std::move(other.fd_)),
      temporary_(std::exchange(other.temporary_, {})),
      made_directory_(std::exchange(other.made_directory_, {})),
      checksum_(other.checksum_),
      complete_(other.complete_) {}

IncomingFile::~IncomingFile() {
    if (!temporary_.empty()) unlink(temporary_.c_str());
    if (!made_directory_.empty()) rmdir(made_directory_.c_str());
}

Error IncomingFile::failed(int number) const {
    return os_error(file_.path(), number);
}

Result<void> IncomingFile::append(std::string_view bytes) {
    checksum_ = data::crc32c(bytes, checksum_);
    if (!write_all(fd_.get(), bytes)) return failed(errno);
    return {};
}

Result<void> IncomingFile::add(const wire::CastPart& part) {
    if (complete_) return malformed_message();
    if (part.body_case() == wire::CastPart::kData) return append(part.data());
    if (part.has_packed()) {
        const wire::PackedData& packed = part.packed();
        if (packed.size() == 0 || packed.size() > kCastBlockMax) return malformed_message();
        std::string bytes(packed.size(), '\0');
        const int size = LZ4_decompress_safe(packed.data().data(), bytes.data(),
                                             static_cast<int>(packed.data().size()),
                                             static_cast<int>(bytes.size()));
        if (size != static_cast<int>(bytes.size())) return malformed_message();
        return append(bytes);
    }
    if (part.checksum() != checksum_) {
        return Error{ErrorCode::LaunchFailed,
                     fmt::format("{}: the copy differs from the original", file_.path())};
    }
    complete_ = true;
    return {};
}

Result<void> IncomingFile::set_attributes() const {
    const mode_t mask = umask(0);
    umask(mask);
    const mode_t mode = file_.preserve() ? file_.mode() & 0777 : file_.mode() & 0777 & ~mask;
    if (fchmod(fd_.get(), mode) != 0) return failed(errno);
    if (!file_.preserve()) return {};
    const timespec times[2] = {to_timespec(file_.read_ns()), to_timespec(file_.changed_ns())};
    if (futimens(fd_.get(), times) != 0) return failed(errno);
    return {};
}

Result<void> IncomingFile::commit() {
    TRY(set_attributes());
    const std::string& path = file_.path();
    const std::string by_number = fmt::format("/proc/self/fd/{}", fd_.get());
    if (!file_.force()) {  // fails if the file was made meanwhile
        const char* from = temporary_.empty() ? by_number.c_str() : temporary_.c_str();
        if (linkat(AT_FDCWD, from, AT_FDCWD, path.c_str(),
                   temporary_.empty() ? AT_SYMLINK_FOLLOW : 0) != 0)
            return failed(errno);
        made_directory_.clear();
        return {};
    }
    if (temporary_.empty()) {
        temporary_ = fmt::format("{}/.{}.{}", directory_of(path), base_name(path), getpid());
        if (linkat(AT_FDCWD, by_number.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) !=
            0) {
            const int why = errno;
            temporary_.clear();
            return failed(why);
        }
    }
    if (rename(temporary_.c_str(), path.c_str()) != 0) return failed(errno);
    temporary_.clear();
    made_directory_.clear();
    return {};
}

Result<void> CastReader::feed(std::string_view bytes, const std::function<void()>& on_end) {
    reader_.feed(bytes);
    for (;;) {
        const auto frame = TRY(reader_.next());
        if (!frame) return {};
        const wire::CastPart part = TRY(decode<wire::CastPart>(*frame));
        TRY(take(part, on_end));
    }
}

Result<void> CastReader::take(const wire::CastPart& part, const std::function<void()>& on_end) {
    switch (part.body_case()) {
        case wire::CastPart::kFile:
            if (!files_.empty() && !files_.back().is_complete()) return malformed_message();
            return begin(part.file());
        case wire::CastPart::kData:
        case wire::CastPart::kPacked:
        case wire::CastPart::kChecksum:
            if (files_.empty()) return malformed_message();
            return files_.back().add(part);
        case wire::CastPart::kEnd:
            if (files_.empty() || !files_.back().is_complete()) return malformed_message();
            complete_ = true;
            on_end();
            return {};
        case wire::CastPart::kCommit:
            return commit();
        case wire::CastPart::BODY_NOT_SET:
            break;
    }
    return malformed_message();
}

Result<void> CastReader::begin(wire::CastFile file) {
    if (place_) {
        if (!files_.empty()) return malformed_message();
        file.set_path(place_->path());
        file.set_force(place_->force());
        file.set_preserve(place_->preserve());
    }
    std::string& path = *file.mutable_path();
    if (const std::size_t at = path.find("%N"); file.per_node() && at != std::string::npos)
        path.replace(at, 2, node_);
    files_.push_back(TRY(IncomingFile::create(file)));
    return {};
}

Result<void> CastReader::commit() {
    if (!complete_ || committed_) return malformed_message();
    for (IncomingFile& file : files_) TRY(file.commit());
    committed_ = true;
    return {};
}

}  // namespace sluice
