#include "stage/reader.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>

#include "os/error.h"
#include "stage/channel.h"
#include "stage/reader_process.h"

namespace sluice::stage {

Result<SourceReader> SourceReader::start(const ReaderUser& user, unsigned channels) {
    SourceReader reader;
    auto [ours, theirs] = TRY(socket_pair(SOCK_STREAM));
    std::vector<Fd> their_channels;
    for (unsigned i = 0; i < channels; ++i) {
        auto [mine, yours] = TRY(socket_pair(SOCK_SEQPACKET));
        reader.channels_.push_back(std::move(mine));
        their_channels.push_back(std::move(yours));
    }
    const pid_t parent = getpid();
    reader.pid_ = fork();
    if (reader.pid_ < 0) return os_error("fork");
    if (reader.pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        ours.reset();
        close(kLine);
        reader.channels_.clear();
        _exit(run_reader(user, theirs.get(), their_channels));
    }
    reader.control_ = std::move(ours);
    return reader;
}

SourceReader::~SourceReader() {
    if (!control_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

Result<Listing> SourceReader::list(const std::string& source) {
    wire::ReaderOrder order;
    order.set_list(source);
    if (!send_frame(control_.get(), order)) return os_error(source, EPIPE);
    Listing listing{.source = source};
    for (bool has_more = true; has_more;) {
        wire::ListedSource part = TRY(receive_message<wire::ListedSource>(control_.get()));
        if (!part.error().empty()) return Error{ErrorCode{}, part.error()};
        listing.path = part.path();
        for (Entry& entry : *part.mutable_entries()) listing.entries.push_back(std::move(entry));
        has_more = part.has_more();
    }
    complete(listing);
    return listing;
}

Result<std::vector<Fd>> SourceReader::open(unsigned channel, std::span<const Entry> entries,
                                           std::uint32_t first) {
    const int fd = channels_[channel].get();
    const OpenQuestion question{first, static_cast<std::uint32_t>(entries.size())};
    if (send(fd, &question, sizeof question, MSG_NOSIGNAL) != sizeof question)
        return Error{ErrorCode{}, "the process that reads the source has ended"};
    OpenedFiles opened = TRY(receive_files(fd));
    std::size_t files = 0;
    for (const Entry& entry : entries) {
        if (entry.kind() != kFile) continue;
        if (files++ == opened.files.size())
            return os_error(printable(entry.path()), opened.failure ? opened.failure : EIO);
    }
    return std::move(opened.files);
}

void SourceReader::add_line(const std::string& path, const std::string& text) {
    wire::ReaderOrder order;
    order.mutable_line()->set_path(path);
    order.mutable_line()->set_text(text);
    // It has been written when the next question is answered.
    if (send_frame(control_.get(), order)) (void)list("");
}

}  // namespace sluice::stage
