// stage/job_tree.h
//
// What a job sees of a dataset: directories of its own with links to the files of the copy. The
// files stay root's and are read-only; where the copy is on another file system, they are copies of
// its own.
#pragma once

#include <string>

#include "base/result.h"
#include "stage/copy.h"

namespace sluice::stage {

struct TreeOwner {
    std::uint32_t user = 0;
    std::uint32_t group = 0;
};

struct FilePlace {
    int directory = -1;  // AT_FDCWD: `path` is absolute
    const char* path = nullptr;
    TreeOwner owner;
};
// Makes a file of the job: a link to that of the copy, or a copy of it.
Result<void> give_file(const Copy& copy, const Entry& entry, const FilePlace& place);

// Makes `path`, whose parent only root can enter.
Result<void> make_job_tree(const Copy& copy, const std::string& path, const TreeOwner& owner);

// Gives a finished tree its name in the directory of the job, which belongs to the user: a name
// that is there already is an error.
Result<void> move_into_job(const std::string& tree, const std::string& scratch,
                           const std::string& name);

}  // namespace sluice::stage
