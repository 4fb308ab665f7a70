// model/quantity.h
//
// Sizes and countable resources in text form.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

using Megabytes = std::uint64_t;

// "4096", "4G", "4GB", "512M", "1T", "1048576K": default unit MB; K rounds up.
Result<Megabytes> parse_memory(std::string_view text);
// As in squeue and scontrol of Slurm: "4G", "62.50G" for a half, "4500M" otherwise, "0".
std::string print_memory(Megabytes megabytes);

// One requested or configured generic resource: "gpu", "gpu:2", "gpu:a40:2", also "gres/gpu:2",
// "gpu:a40=2".
struct GresCount {
    std::string name;  // "gpu"
    std::string type;  // "a40", or empty: any
    std::uint64_t count = 1;

    bool operator==(const GresCount&) const = default;
};

// --gres: a comma list. "none" is the empty list. Counts take the suffixes k, m, g.
Result<std::vector<GresCount>> parse_gres(std::string_view text);
// --gpus and friends: "2", "a40:2", "a40:1,h100:3": the name is always "gpu".
Result<std::vector<GresCount>> parse_gpus(std::string_view text);
std::string print_gres(const std::vector<GresCount>& gres);  // "gpu:a40:2,nic:1"
std::string print_gres_count(std::uint64_t count);           // "2", "4G"
// The GPUs among them, as --gpus is written: "2", "a40:1,h100:3".
std::string print_gpus(const std::vector<GresCount>& gres);
std::string print_tres_per(const std::vector<GresCount>& gres);  // "gres/gpu:a40:2"

// Trackable resources: "cpu=4,mem=4G,node=1,billing=4,gres/gpu=2,gres/gpu:a40=2".
// Kept in the order of Slurm's ids: cpu, mem, energy, node, billing, fs/disk, vmem, pages, then the
// rest in alphabetical order.
struct TresLess {
    bool operator()(const std::string& a, const std::string& b) const;
};
using Tres = std::map<std::string, std::uint64_t, TresLess>;  // mem in megabytes
Result<Tres> parse_tres(std::string_view text);
std::string print_tres(const Tres& tres);

}  // namespace sluice
