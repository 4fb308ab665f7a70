// cli/common/gpu_count.h
//
// GPUs counted from the listings of nodes and jobs, and the caps of labs from the policy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/client/client.h"
#include "model/policy.h"

namespace sluice {

constexpr std::string_view kGpuTres = "gres/gpu";
// Jobs with this account, QOS or partition use what the owners leave.
constexpr std::string_view kOvercap = "overcap";

// By type; GPUs without a type are under "gpu".
using GpuCounts = std::map<std::string, std::uint64_t>;
std::uint64_t total_of(const GpuCounts& counts);

struct GpusOfType {
    std::uint64_t total = 0;
    std::uint64_t in_use = 0;
    std::uint64_t down = 0;     // not in use, on nodes that cannot be used
    std::uint64_t pending = 0;  // that waiting jobs have requested
    std::uint64_t free() const { return total - std::min(total, in_use + down); }
};

struct GpuJob {
    std::string user, account, lab;  // the lab of an overcap job is the user's default account
    std::string partition;
    bool is_running = false;
    bool is_overcap = false;  // preempted by owners, counts against no cap
    GpuCounts gpus;
};

struct GpuNode {
    std::vector<std::string> partitions;
    bool is_usable = true;
    GpuCounts total, in_use;
};

struct LabCap {
    std::string lab;
    std::optional<std::uint64_t> cap;  // GrpTRES=gres/gpu; absent: none
};

struct GpuFacts {
    std::vector<GpuNode> nodes;
    std::vector<GpuJob> jobs;
    std::vector<LabCap> labs;  // the accounts of the cluster, in the order of the alphabet
    bool knows_labs = false;   // the accounting database has answered
};

Result<GpuFacts> fetch_gpu_facts(Client& client, bool with_labs);
// Only the nodes and jobs of a partition, or the jobs of a lab. False: there is neither.
bool select_partition_or_lab(std::string_view name, GpuFacts& facts);

std::map<std::string, GpusOfType> count_by_type(const GpuFacts& facts);

// What a user or a lab has.
struct GpuShare {
    std::string name;
    GpuCounts in_use;  // without overcap
    GpuCounts overcap;
    GpuCounts pending;
    std::optional<std::uint64_t> cap;
};
// Those with the most GPUs first.
std::vector<GpuShare> count_by_user(const GpuFacts& facts);
// Also labs without jobs, if they have a cap.
std::vector<GpuShare> count_by_lab(const GpuFacts& facts);

}  // namespace sluice
