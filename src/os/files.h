// os/files.h
//
// Whole files and directories.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace sluice {

// A file without a name, in memory; others may read it as /proc/PID/fd/N.
Result<Fd> memory_file(const char* name, std::string_view content);
Result<std::string> read_file(const std::string& path);
// The old content or the new one, never a part. It survives the writer's death; after a crash of
// the machine itself only with `durable`.
struct WriteOptions {
    mode_t mode = 0644;
    bool durable = false;
};
Result<void> write_file_atomically(const std::string& path, std::string_view content,
                                   WriteOptions options = {});
bool write_all(int fd, std::string_view bytes);  // blocking; false: errno says why
// One write() to an existing file, as /proc and /sys want it.
bool write_to(const std::string& path, std::string_view text);

Result<void> make_directories(const std::string& path, mode_t mode = 0755);
std::vector<std::string> list_directory(const std::string& path);  // without . and ..; unsorted
void remove_tree(const std::string& path);                         // what can be removed
std::string directory_of(std::string_view path);
std::string base_name(std::string_view path);
// `path` itself when absolute, else inside `directory`.
std::string absolute_path(std::string_view path, std::string_view directory);
std::string own_program_path();  // what /proc/self/exe points to

}  // namespace sluice
