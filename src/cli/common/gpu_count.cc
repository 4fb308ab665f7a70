// See gpu_count.h.
#include "cli/common/gpu_count.h"

#include <algorithm>

#include "base/text.h"
#include "cli/common/ask_policy.h"
#include "cli/common/listing.h"
#include "model/columns.h"
#include "model/quantity.h"
#include "model/states.h"

namespace sluice {

namespace {

// "gpu:a40:2(IDX:0-1),nic:1" without what is in parentheses.
std::string without_details(std::string_view text) {
    std::string plain;
    int depth = 0;
    for (char c : text) {
        if (c == '(') ++depth;
        if (depth == 0) plain += c;
        if (c == ')') --depth;
    }
    return plain;
}

GpuCounts gpus_in_gres(std::string_view text) {
    GpuCounts counts;
    const Result<std::vector<GresCount>> gres = parse_gres(without_details(text));
    if (!gres) return counts;
    for (const GresCount& each : *gres) {
        if (each.name == "gpu" && each.count) {
            counts[each.type.empty() ? "gpu" : each.type] += each.count;
        }
    }
    return counts;
}

// "gres/gpu=3,gres/gpu:a40=2": those that have no type are the rest.
GpuCounts gpus_in_tres(std::string_view text, std::uint64_t times) {
    GpuCounts counts;
    const Result<Tres> tres = parse_tres(text);
    if (!tres) return counts;
    std::uint64_t total = 0, typed = 0;
    for (const auto& [name, count] : *tres) {
        if (name == kGpuTres) total = count;
        if (!name.starts_with(kGpuTres) || name.size() <= kGpuTres.size() ||
            name[kGpuTres.size()] != ':') {
            continue;
        }
        counts[name.substr(kGpuTres.size() + 1)] += count * times;
        typed += count;
    }
    if (total > typed) counts["gpu"] += (total - typed) * times;
    return counts;
}

bool is_usable(NodeBase base, std::uint32_t flags) {
    constexpr std::uint32_t kOut = kNodeDrain | kNodeNoRespond | kNodeFail | kNodeMaint |
                                   kNodeReboot | kNodeInvalidReg | kNodePoweredDown |
                                   kNodePoweringDown;
    return base != NodeBase::Down && base != NodeBase::Unknown && base != NodeBase::Error &&
           base != NodeBase::Future && !(flags & kOut);
}

Result<std::vector<GpuNode>> fetch_nodes(Client& client) {
    using N = NodeColumn;
    std::vector<ColumnId> columns;
    for (N column : {N::Gres, N::GresUsed, N::Partitions, N::BaseState, N::Flags}) {
        columns.push_back(static_cast<ColumnId>(column));
    }
    Filter filter;
    filter.include_hidden = true;
    const Table table = TRY(fetch_table(client, TableKind::Nodes, columns, filter));
    const Looks looks;
    const Sheet sheet(table, looks);
    std::vector<GpuNode> nodes;
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
        GpuNode node;
        node.partitions = split_list(sheet.text(i, N::Partitions));
        node.total = gpus_in_gres(sheet.text(i, N::Gres));
        node.in_use = gpus_in_gres(sheet.text(i, N::GresUsed));
        node.is_usable = is_usable(static_cast<NodeBase>(sheet.number(i, N::BaseState)),
                                   static_cast<std::uint32_t>(sheet.number(i, N::Flags)));
        if (!node.total.empty()) nodes.push_back(std::move(node));
    }
    return nodes;
}

bool is_overcap(const Sheet& sheet, std::uint32_t row) {
    using C = JobColumn;
    for (C column : {C::Account, C::Qos, C::Partition}) {
        if (equals_ignoring_case(sheet.text(row, column), kOvercap)) return true;
    }
    return false;
}

Result<std::vector<GpuJob>> fetch_jobs(Client& client) {
    using C = JobColumn;
    std::vector<ColumnId> columns;
    for (C column : {C::UserId, C::Account, C::Qos, C::Partition, C::State, C::BaseState,
                     C::ReqTres, C::AllocTres, C::ArrayTasks}) {
        columns.push_back(static_cast<ColumnId>(column));
    }
    Filter filter;
    filter.include_hidden = true;
    const Table table = TRY(fetch_table(client, TableKind::Jobs, columns, filter));
    const Looks looks;
    const Sheet sheet(table, looks);
    std::vector<GpuJob> jobs;
    for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
        const auto state = static_cast<ShownState>(sheet.number(i, C::State));
        GpuJob job;
        job.is_running = state != ShownState::Pending;
        std::uint64_t times = 1;
        if (Result<TaskSet> tasks = TaskSet::parse(sheet.text(i, C::ArrayTasks));
            !job.is_running && tasks && !tasks->empty()) {
            times = tasks->size();
        }
        job.gpus = gpus_in_tres(sheet.text(i, job.is_running ? C::AllocTres : C::ReqTres), times);
        if (job.gpus.empty()) continue;
        job.user = sheet.user_name(sheet.number(i, C::UserId));
        job.account = job.lab = sheet.text(i, C::Account);
        job.partition = sheet.text(i, C::Partition);
        job.is_overcap = is_overcap(sheet, i);
        jobs.push_back(std::move(job));
    }
    return jobs;
}

// Jobs of the account "overcap" belong to the lab of their user.
void add_labs(const Policy& policy, const std::string& cluster, GpuFacts& facts) {
    std::map<std::string, std::string> default_accounts;
    std::map<std::string, std::optional<std::uint64_t>> caps;
    for (const Association& each : policy.associations) {
        if (each.deleted || each.cluster != cluster) continue;
        if (!each.user.empty()) {
            if (each.is_default) default_accounts[each.user] = each.account;
            continue;
        }
        if (each.parent == 0 || equals_ignoring_case(each.account, kOvercap)) continue;
        auto cap = each.of_all.tres.find(std::string(kGpuTres));
        caps[each.account];
        if (cap != each.of_all.tres.end()) caps[each.account] = cap->second;
    }
    for (const auto& [lab, cap] : caps) facts.labs.push_back({lab, cap});
    for (GpuJob& job : facts.jobs) {
        auto lab = default_accounts.find(job.user);
        if (equals_ignoring_case(job.account, kOvercap) && lab != default_accounts.end()) {
            job.lab = lab->second;
        }
    }
    facts.knows_labs = true;
}

void add(const GpuCounts& more, GpuCounts& counts) {
    for (const auto& [type, count] : more) counts[type] += count;
}

std::vector<GpuShare> sorted(std::map<std::string, GpuShare>&& shares) {
    std::vector<GpuShare> all;
    for (auto& [name, share] : shares) {
        share.name = name;
        all.push_back(std::move(share));
    }
    std::stable_sort(all.begin(), all.end(), [](const GpuShare& a, const GpuShare& b) {
        const std::uint64_t left = total_of(a.in_use) + total_of(a.overcap);
        const std::uint64_t right = total_of(b.in_use) + total_of(b.overcap);
        return left != right ? left > right : total_of(a.pending) > total_of(b.pending);
    });
    return all;
}

void add(const GpuJob& job, GpuShare& share) {
    add(job.gpus, !job.is_running ? share.pending : job.is_overcap ? share.overcap : share.in_use);
}

}  // namespace

std::uint64_t total_of(const GpuCounts& counts) {
    std::uint64_t total = 0;
    for (const auto& [type, count] : counts) total += count;
    return total;
}

Result<GpuFacts> fetch_gpu_facts(Client& client, bool with_labs) {
    GpuFacts facts;
    facts.nodes = TRY(fetch_nodes(client));
    facts.jobs = TRY(fetch_jobs(client));
    if (with_labs) {
        const Policy policy = TRY(ask_policy(client));
        const Config* config = TRY(client.config());
        add_labs(policy, config->cluster_name, facts);
    }
    return facts;
}

bool select_partition_or_lab(std::string_view name, GpuFacts& facts) {
    auto is_in = [&](const GpuNode& node) {
        return std::find(node.partitions.begin(), node.partitions.end(), name) !=
               node.partitions.end();
    };
    const bool is_partition = std::any_of(facts.nodes.begin(), facts.nodes.end(), is_in);
    const bool is_lab = std::any_of(facts.labs.begin(), facts.labs.end(), [&](const LabCap& each) {
        return equals_ignoring_case(each.lab, name);
    });
    if (!is_partition && !is_lab) return false;
    if (is_partition) std::erase_if(facts.nodes, [&](const GpuNode& node) { return !is_in(node); });
    std::erase_if(facts.jobs, [&](const GpuJob& job) {
        const std::vector<std::string> partitions = split_list(job.partition);
        const bool runs_there = is_partition && std::find(partitions.begin(), partitions.end(),
                                                          name) != partitions.end();
        return !runs_there && !(is_lab && equals_ignoring_case(job.lab, name));
    });
    if (is_lab) {
        std::erase_if(facts.labs,
                      [&](const LabCap& each) { return !equals_ignoring_case(each.lab, name); });
    }
    return true;
}

std::map<std::string, GpusOfType> count_by_type(const GpuFacts& facts) {
    std::map<std::string, GpusOfType> types;
    for (const GpuNode& node : facts.nodes) {
        for (const auto& [type, count] : node.total) {
            auto used = node.in_use.find(type);
            const std::uint64_t in_use = used == node.in_use.end() ? 0 : used->second;
            GpusOfType& sum = types[type];
            sum.total += count;
            sum.in_use += in_use;
            if (!node.is_usable) sum.down += count - std::min(count, in_use);
        }
    }
    for (const GpuJob& job : facts.jobs) {
        if (job.is_running) continue;
        for (const auto& [type, count] : job.gpus) types[type].pending += count;
    }
    return types;
}

std::vector<GpuShare> count_by_user(const GpuFacts& facts) {
    std::map<std::string, GpuShare> users;
    for (const GpuJob& job : facts.jobs) add(job, users[job.user]);
    return sorted(std::move(users));
}

std::vector<GpuShare> count_by_lab(const GpuFacts& facts) {
    std::map<std::string, GpuShare> labs;
    for (const GpuJob& job : facts.jobs) add(job, labs[job.lab]);
    for (const LabCap& each : facts.labs) {
        if (each.cap) labs[each.lab].cap = each.cap;
    }
    return sorted(std::move(labs));
}

}  // namespace sluice
