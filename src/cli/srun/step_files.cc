#include "cli/srun/step_files.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/srun/step_request.h"
#include "model/errors.h"
#include "model/filename.h"
#include "os/files.h"
#include "os/user.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

bool is_per_place(const std::string& pattern) {
    return is_per_task(pattern) || is_per_node(pattern);
}

std::string local_path(const std::string& pattern, const wire::StepCreated& step,
                       const std::string& directory) {
    const wire::JobAllocation& job = step.job();
    FilenameContext context{.job = JobId(job.job()),
                            .step = StepId(step.step()),
                            .restarts = job.restarts(),
                            .job_name = request_of(job).name,
                            .sluid = job.sluid()};
    if (job.has_array_job()) context.array_job = JobId(job.array_job());
    if (job.has_array_task()) context.array_task = job.array_task();
    if (pattern.find('u') != std::string::npos) {
        if (std::optional<User> user = find_user(getuid())) context.user = user->name;
    }
    return absolute_path(expand_filename(pattern, context), directory);
}

// Compat: a number that no task has is the name of a file.
bool is_task(const std::string& text, const wire::StepCreated& step) {
    const std::optional<std::uint64_t> task = to_number(text);
    return task && *task < task_count(step);
}

// Compat: directories that are missing are made, as nodes do it for files of tasks.
Result<Fd> open_local(std::string_view stream, const std::string& path, int flags) {
    if (flags & O_CREAT) static_cast<void>(make_directories(directory_of(path), 0777));
    Fd file(open(path.c_str(), flags | O_CLOEXEC, 0666));
    if (!file) {
        return Error{ErrorCode::SystemError,
                     fmt::format("Could not open {} file: {}", stream, strerror(errno))};
    }
    return file;
}

int write_flags(const JobRequest& request) {
    return O_WRONLY | O_CREAT | O_APPEND | (request.open_mode == OpenMode::Append ? 0 : O_TRUNC);
}

// "all" and nothing mean srun's own stream; "none" is known to the nodes.
std::string normalized(const std::string& text) {
    if (equals_ignoring_case(text, "all")) return "";
    return equals_ignoring_case(text, "none") ? "none" : text;
}

}  // namespace

Result<StepFiles> open_step_files(const JobOptions& options, const wire::StepCreated& step,
                                  wire::TaskSpec& spec) {
    const JobRequest& request = options.request;
    const int how = write_flags(request);
    StepFiles files;
    std::string in = normalized(request.std_in), out = normalized(request.std_out);
    std::string err = normalized(request.std_err);
    if (is_task(in, step)) {
        files.input_task = static_cast<std::uint32_t>(*to_number(in));
        spec.set_std_in(in);
    } else if (in == "none" || is_per_place(in)) {
        files.reads_input = false;
        spec.set_std_in(in);
    } else if (!in.empty()) {
        files.in = TRY(open_local("stdin", local_path(in, step, spec.work_dir()), O_RDONLY));
    }
    if (out == "none" || is_per_place(out) || is_task(out, step)) {
        spec.set_std_out(out);
    } else if (!out.empty()) {
        files.out = TRY(open_local("stdout", local_path(out, step, spec.work_dir()), how));
    }
    if (err == "none" || is_per_place(err) || is_task(err, step)) {
        spec.set_std_err(err);
    } else if (!err.empty() && err != out) {
        files.err = TRY(open_local("stderr", local_path(err, step, spec.work_dir()), how));
    } else if (files.out) {
        files.err_is_out = true;  // Compat: --output alone takes the errors too
    }
    if (options.pty) {
        spec.set_pty(true);
        files.input_task = 0;
    }
    return files;
}

Result<Fd> open_message_file(const JobOptions& options, const wire::StepCreated& step) {
    const JobRequest& request = options.request;
    const std::string file =
        normalized(request.std_err.empty() ? request.std_out : request.std_err);
    const bool has_none = file.empty() || file == "none" || is_per_place(file);
    if (has_none) return open_local("error", "/dev/null", O_WRONLY);
    // The step opens it again, and both write to its end.
    const std::string path = local_path(file, step, request.work_dir);
    TRY(open_local("error", path, write_flags(request)));
    return open_local("error", path, O_WRONLY | O_APPEND);
}

}  // namespace sluice
