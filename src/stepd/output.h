// stepd/output.h
//
// The files of a job: names with patterns, opened with the user's rights.
#pragma once

#include <string>

#include "base/result.h"
#include "model/filename.h"
#include "order.pb.h"
#include "os/fd.h"
#include "os/user.h"

namespace sluice {

struct OpenWish {
    std::string stream;  // "stdout": for the error
    std::string path;    // absolute, without patterns
    std::string work_dir;
    bool append = false;
    bool for_input = false;
};

// Missing directories of an output path are made, a missing working directory is not: a mistake in
// its name must not look like success. The error names stream, path and reason.
Result<Fd> open_as(const User& user, const OpenWish& wish);

// The names' patterns for the batch script, or for one task.
FilenameContext filename_context(const wire::StepOrder& order, const User& user);

}  // namespace sluice
