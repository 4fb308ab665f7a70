// cli/sbcast/remote.h
//
// The side of sbcast and sgather that runs as a task on each node, with the user's rights, in the
// job: started as "sbcast --receive-files" and "sbcast --send-file ...".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/common/tool.h"

namespace sluice {

constexpr std::string_view kReceiveFiles = "--receive-files";
constexpr std::string_view kSendFile = "--send-file";
// What a task prints when it has all files, and waits for the word to put them into place.
constexpr std::string_view kFilesAreHere = "files are here";

// Of srun, for the step that these tasks are: it shares the job with other steps and asks for
// nothing.
constexpr const char* kHelperStep[] = {
    "--overlap",          "--mem=0",       "--gres=none",         "--cpu-bind=none",
    "--mpi=none",         "--prolog=none", "--epilog=none",       "--task-prolog=none",
    "--task-epilog=none", "--wait=0",      "--quit-on-interrupt", "--chdir=/"};

// Reads files from standard input.
int receive_files(const Invocation& invocation, Streams& streams);

// Writes a file to standard output: the words after the first are its path, the block size, and
// "lz4" or "none".
int send_file(const Invocation& invocation, Streams& streams);

// "<prefix>/bin/sbcast", beside our own program.
std::string remote_program();

}  // namespace sluice
