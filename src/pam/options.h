// pam/options.h
//
// The arguments of pam_slurm_adopt.so in a file of /etc/pam.d.
#pragma once

namespace sluice {

struct AdoptOptions {
    enum class NoJobs { Ignore, Deny } no_jobs = NoJobs::Deny;
    enum class Unknown { Newest, Allow, Deny } unknown = Unknown::Newest;
    const char* node = nullptr;  // nullptr: the name of this host
    int log_level = 3;           // Slurm's number of "info": messages of higher levels are left out
    const char* bad = nullptr;   // an argument that is not understood
};

AdoptOptions parse_adopt_options(int count, const char** arguments);

}  // namespace sluice
