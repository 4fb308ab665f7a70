// surface/job_options_manual.h
//
// The texts of sbatch(1), srun(1) and salloc(1) about options whose line of --help is not enough.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "surface/job_options.h"

namespace sluice {

struct JobOptionManual {
    std::string_view name;
    std::uint8_t tools;  // whose page says so
    std::string_view text;
};

std::span<const JobOptionManual> job_option_manuals();

// Empty: the help text of the option is all there is to say.
std::string_view job_option_manual(std::string_view name, Tool tool);

}  // namespace sluice
