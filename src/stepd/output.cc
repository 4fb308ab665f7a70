#include "stepd/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model/errors.h"
#include "os/error.h"
#include "os/files.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

int open_for(const OpenDemand& demand) {
    if (demand.for_input) return open(demand.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    // Always O_APPEND: two writers of one file (stdout and stderr, several tasks) do not
    // overwrite each other.
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_APPEND;
    return open(demand.path.c_str(), flags | (demand.append ? 0 : O_TRUNC), 0666);
}

bool may_make_directories(const OpenDemand& demand) {
    if (demand.for_input) return false;
    const bool is_below =
        !demand.work_dir.empty() && demand.path.starts_with(demand.work_dir + "/");
    return !is_below || access(demand.work_dir.c_str(), F_OK) == 0;
}

}  // namespace

Result<Fd> open_file(const OpenDemand& demand) {
    Fd fd(open_for(demand));
    int why = errno;
    if (!fd && why == ENOENT && may_make_directories(demand) &&
        make_directories(directory_of(demand.path), 0777)) {
        fd.reset(open_for(demand));
        why = errno;
    }
    if (!fd) {
        return Error{ErrorCode::LaunchFailed,
                     fmt::format("could not open {} file {}: {}", demand.stream, demand.path,
                                 std::strerror(why))};
    }
    return fd;
}

namespace {

Result<void> open_all(const FileDemands& demands) {
    const std::optional<OpenDemand>* each[] = {&demands.in, &demands.out, &demands.err};
    for (int target = 0; target < 3; ++target) {
        if (!*each[target]) continue;
        const Fd fd = TRY(open_file(**each[target]));
        dup2(fd.get(), target);
    }
    if (demands.err_is_out) dup2(STDOUT_FILENO, STDERR_FILENO);
    return {};
}

// The code and the text of an error; with an empty text, the descriptor of standard error.
void send_answer(ErrorCode code, const std::string& error) {
    iovec parts[] = {{&code, sizeof code}, {const_cast<char*>(error.data()), error.size()}};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    if (error.empty()) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        const int fd = STDERR_FILENO;
        std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    sendmsg(kKeptFd, &message, MSG_NOSIGNAL);
}

struct Answer {
    bool is_there = false;  // or the process has ended
    std::optional<Error> error = {};
    Fd fd = {};
};

Answer receive_answer(const Fd& socket) {
    char text[8192];
    iovec part{text, sizeof text};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t count = recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) return {.is_there = errno != EAGAIN && errno != EINTR};
    Answer answer{.is_there = true};
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
        answer.fd.reset(fd);
    } else if (const auto size = static_cast<std::size_t>(count); size > sizeof(ErrorCode)) {
        answer.error.emplace();
        std::memcpy(&answer.error->code, text, sizeof(ErrorCode));
        answer.error->detail.assign(text + sizeof(ErrorCode), size - sizeof(ErrorCode));
    }
    return answer;
}

}  // namespace

FileOpening::FileOpening(EventLoop& loop, Fd ours, Fd theirs, Done done)
    : loop_(loop), ours_(std::move(ours)), theirs_(std::move(theirs)), done_(std::move(done)) {
    loop_.watch(ours_.get(), EPOLLIN, [this](std::uint32_t) { take_answer(); });
}

Result<std::unique_ptr<FileOpening>> FileOpening::prepare(EventLoop& loop, ProcessSpec& spec,
                                                          FileDemands demands, Done done) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return Error{ErrorCode::LaunchFailed, os_error("socketpair").detail};
    }
    spec.kept = pair[1];
    spec.on_failure = [](const std::string& what) { send_answer(ErrorCode::NodeUnable, what); };
    spec.open_files = [demands = std::move(demands)] {
        const Result<void> opened = open_all(demands);
        send_answer(ErrorCode::LaunchFailed, opened ? "" : opened.error().detail);
        return static_cast<bool>(opened);
    };
    return std::unique_ptr<FileOpening>(
        new FileOpening(loop, Fd(pair[0]), Fd(pair[1]), std::move(done)));
}

void FileOpening::take_answer() {
    if (!ours_) return;
    Answer answer = receive_answer(ours_);
    if (!answer.is_there) return;
    loop_.forget(ours_.get());
    ours_.reset();
    const Done done = std::move(done_);  // it may destroy us
    if (answer.fd) {
        done(std::move(answer.fd));
    } else if (answer.error) {
        done(*answer.error);
    }
}

bool may_empty(const wire::LaunchTasks& tasks, std::uint32_t task, std::string_view name) {
    if (is_per_task(name)) return true;
    return task == tasks.task_ids(0) && is_per_node(name);
}

FilenameContext filename_context(const wire::StepOrder& order, const User& user) {
    const wire::JobAllocation& job = order.has_batch() ? order.batch().job() : order.tasks().job();
    FilenameContext context;
    context.job = JobId{order.run().job()};
    if (job.has_array_job()) context.array_job = JobId{job.array_job()};
    if (job.has_array_task()) context.array_task = job.array_task();
    if (!order.has_batch()) {
        context.step = StepId{order.run().step()};
        context.node_index = order.tasks().node_rank();
    }
    context.restarts = order.run().restarts();
    context.node_name = order.node();
    context.user = user.name;
    context.job_name = request_of(job).name;
    context.sluid = job.sluid();
    return context;
}

}  // namespace sluice
