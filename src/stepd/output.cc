#include "stepd/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model/errors.h"
#include "os/files.h"

namespace sluice {

namespace {

int open_for(const OpenWish& wish) {
    if (wish.for_input) return open(wish.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    // Always O_APPEND: two writers of one file (stdout and stderr, several tasks) do not
    // overwrite each other.
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_APPEND;
    return open(wish.path.c_str(), flags | (wish.append ? 0 : O_TRUNC), 0666);
}

bool may_make_directories(const OpenWish& wish) {
    if (wish.for_input) return false;
    const bool is_below = !wish.work_dir.empty() && wish.path.starts_with(wish.work_dir + "/");
    return !is_below || access(wish.work_dir.c_str(), F_OK) == 0;
}

}  // namespace

Result<Fd> open_as(const User& user, const OpenWish& wish) {
    AsUser rights(user);
    Fd fd(open_for(wish));
    int why = errno;
    if (!fd && why == ENOENT && may_make_directories(wish) &&
        make_directories(directory_of(wish.path), 0777)) {
        fd.reset(open_for(wish));
        why = errno;
    }
    if (!fd) {
        return Error{ErrorCode::LaunchFailed,
                     fmt::format("could not open {} file {}: {}", wish.stream, wish.path,
                                 std::strerror(why))};
    }
    return fd;
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
    context.job_name = job.request().name();
    context.sluid = job.sluid();
    return context;
}

}  // namespace sluice
