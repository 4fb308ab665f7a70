// stepd/enter.h
//
// `slurmstepd enter`: how slurmd starts a program that needs a look-up of its user, or sees the
// directories of a job. slurmd has threads, and what it forks must not do this before its program
// runs; a directory service may also take long to answer.
//
//   slurmstepd enter [name UID] [mounts shared|own] [show SOURCE PATH]...
//                    [become UID GID DIRECTORY PARENT] -- PROGRAM ARGUMENT...
//
// name: its environment gets SLURM_JOB_USER. become: it runs as that user with USER and HOME, ends
// with its parent, and what fails is "problem TEXT" on its standard output.
#pragma once

#include <string_view>
#include <vector>

namespace sluice {

// Returns only if it fails: the exit code.
int enter(const std::vector<std::string_view>& words);

}  // namespace sluice
