// sim/ssim.h: the tool. Returns its exit code.
#pragma once

#include <string>
#include <vector>

namespace sluice {

int run_ssim(const std::vector<std::string>& args);

}  // namespace sluice
