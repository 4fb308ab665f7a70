// stepd/output.h
//
// The files of a job: names with patterns, opened with the user's rights. The process that becomes
// the script or the task opens them itself: opening may block for ever (a FIFO without a peer, a
// dead file server), and the supervisor must go on. It sends its standard error, or why it has
// none, over a socket.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/filename.h"
#include "order.pb.h"
#include "os/event_loop.h"
#include "os/fd.h"
#include "os/process.h"
#include "os/user.h"

namespace sluice {

struct OpenDemand {
    std::string stream;  // "stdout": for the error
    std::string path;    // absolute, without patterns
    std::string work_dir;
    bool append = false;
    bool for_input = false;
};

// Missing directories of an output path are made, a missing working directory is not: a mistake in
// its name must not look like success. The error names stream, path and reason. May block.
Result<Fd> open_file(const OpenDemand& demand);

// What a process opens itself; what is absent was given to it (ProcessSpec).
struct FileDemands {
    std::optional<OpenDemand> in = {}, out = {}, err = {};
    bool err_is_out = false;
    bool any() const { return in || out || err; }
};

class FileOpening {
public:
    // `done` is called at most once: with the standard error, or with the reason for which the
    // process has ended. It is not called for a process that was killed before.
    using Done = std::function<void(Result<Fd>)>;

    // Makes the new process of `spec` open them.
    static Result<std::unique_ptr<FileOpening>> prepare(EventLoop& loop, ProcessSpec& spec,
                                                        FileDemands demands, Done done);
    ~FileOpening() { loop_.forget(ours_.get()); }
    FileOpening(const FileOpening&) = delete;
    FileOpening& operator=(const FileOpening&) = delete;

    void started() { theirs_.reset(); }  // the process is there
    // Takes the answer if it is there: to be called when the process has ended.
    void take_answer();

private:
    FileOpening(EventLoop& loop, Fd ours, Fd theirs, Done done);

    EventLoop& loop_;
    Fd ours_, theirs_;
    Done done_;
};

// Whether the task empties the file of that name when it opens it: its own file, or the file of its
// node if it is the first task there. srun opens a file that several nodes share itself, before
// they hear of the step; a node that is given such a name appends, because the others may have
// written.
bool may_empty(const wire::LaunchTasks& tasks, std::uint32_t task, std::string_view name);

// The names' patterns for the batch script, or for one task.
FilenameContext filename_context(const wire::StepOrder& order, const User& user);

}  // namespace sluice
