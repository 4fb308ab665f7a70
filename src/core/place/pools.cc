#include "core/place/pools.h"

#include <algorithm>

#include "base/text.h"
#include "core/place/layout.h"
#include "model/devices.h"

namespace sluice {

namespace {

constexpr std::string_view kGpu = "gpu";

std::vector<std::int32_t> parse_links(std::string_view text) {
    std::vector<std::int32_t> links;
    if (text.empty()) return links;
    for (std::string_view word : split(text, ',')) {
        const std::string_view number = trim(word);
        const auto count = to_number(number.starts_with('-') ? number.substr(1) : number);
        links.push_back(number.starts_with('-') ? -1
                                                : static_cast<std::int32_t>(count.value_or(0)));
    }
    return links;
}

// Cores= and Links= of each device. Links are numbered as the node numbers its devices; here they
// are in the controller's order.
void describe(GresPool& pool, const std::vector<Device>& devices,
              const std::vector<std::uint32_t>& numbers) {
    std::vector<std::vector<std::uint32_t>> cores(pool.count);
    std::vector<std::vector<std::int32_t>> links(pool.count);
    bool has_cores = false, has_links = false;
    for (std::uint32_t slot = 0; slot < pool.count; ++slot) {
        const std::uint32_t here = numbers[pool.first_index + slot];
        if (here >= devices.size()) continue;
        const GresDevices& line = *devices[here].line;
        if (auto listed = TaskSet::parse(line.cores); listed && !line.cores.empty()) {
            listed->for_each([&](std::uint32_t core) { cores[slot].push_back(core); });
            has_cores = true;
        }
        const std::vector<std::int32_t> local = parse_links(line.links);
        if (local.empty()) continue;
        has_links = true;
        for (std::uint32_t number : numbers)
            links[slot].push_back(number < local.size() ? local[number] : 0);
    }
    if (has_cores) pool.cores = std::move(cores);
    if (has_links) pool.links = std::move(links);
}

// Pools of shard or mps: one for each pool of GPUs, with the same type and cores.
void add_parts(std::vector<GresPool>& pools, const GresCount& gres, const NodeConfig& config,
               const std::vector<GresDevices>& described) {
    const std::vector<std::uint32_t> numbers = device_numbers(config.gres, described, kGpu);
    const std::vector<std::uint64_t> parts =
        parts_of_gpus(gres.name, gres.count, numbers.size(), described);
    // Compat: MPS serves one GPU of a node, unless gres.conf says otherwise.
    auto has_flag = [&](std::string_view flag) {
        return std::any_of(described.begin(), described.end(), [&](const GresDevices& line) {
            return line.name == gres.name && has_gres_flag(line, flag);
        });
    };
    const bool one_gpu = gres.name == "mps" ? !has_flag("all_sharing") : has_flag("one_sharing");
    std::vector<GresPool> added;
    for (const GresPool& gpus : pools) {
        if (gpus.name != kGpu) continue;
        GresPool pool{.name = gres.name, .type = gpus.type};
        pool.first_index = gpus.first_index;
        pool.one_gpu = one_gpu;
        pool.cores = gpus.cores;
        for (std::uint32_t slot = 0; slot < gpus.count; ++slot) {
            const std::uint32_t here = numbers[gpus.first_index + slot];
            pool.parts.push_back({here < parts.size() ? parts[here] : 0, 0});
            pool.count += pool.parts.back().count;
        }
        if (pool.count > 0) added.push_back(std::move(pool));
    }
    pools.insert(pools.end(), added.begin(), added.end());
}

GresPool pool_of(const GresCount& gres, const NodeConfig& config,
                 const std::vector<GresPool>& earlier, const std::vector<GresDevices>& described) {
    GresPool pool{.name = gres.name, .type = gres.type, .count = gres.count};
    for (const GresPool& other : earlier) {
        if (other.name == pool.name) pool.first_index += static_cast<std::uint32_t>(other.count);
    }
    const std::vector<std::string>& names = config.gres_no_consume;
    pool.no_consume = std::find(names.begin(), names.end(), gres.name) != names.end();
    // Compat: GPUs without device files are counted and numbered as well.
    pool.has_devices = pool.name == kGpu;
    for (const GresDevices& line : described) {
        if (line.name != pool.name || (!pool.type.empty() && line.type != pool.type)) continue;
        pool.has_devices = pool.has_devices || !line.files.empty();
        pool.only_if_asked = pool.only_if_asked || has_gres_flag(line, "explicit");
    }
    pool.has_devices = pool.has_devices && !pool.no_consume && pool.count <= kDevicesMost;
    if (!pool.has_devices) return pool;
    pool.used.assign(pool.count, false);
    describe(pool, devices_of(described, pool.name),
             device_numbers(config.gres, described, pool.name));
    return pool;
}

std::vector<GresPool> pools_of(const NodeConfig& config,
                               const std::vector<GresDevices>& described) {
    std::vector<GresPool> pools;
    for (const GresCount& gres : config.gres) {
        if (!is_part_of_gpu(gres.name)) pools.push_back(pool_of(gres, config, pools, described));
    }
    for (const std::string_view name : {"shard", "mps"}) {
        GresCount total{.name = std::string(name), .type = {}, .count = 0};
        for (const GresCount& gres : config.gres) {
            if (gres.name == name) total.count += gres.count;
        }
        if (total.count > 0) add_parts(pools, total, config, described);
    }
    return pools;
}

void keep_use(std::vector<GresPool>& pools, const std::vector<GresPool>& before) {
    for (GresPool& pool : pools) {
        for (const GresPool& old : before) {
            if (old.name != pool.name || old.type != pool.type) continue;
            pool.used_count = old.used_count;
            std::copy_n(old.used.begin(), std::min(old.used.size(), pool.used.size()),
                        pool.used.begin());
            for (std::size_t i = 0; i < std::min(old.parts.size(), pool.parts.size()); ++i)
                pool.parts[i].used = old.parts[i].used;
        }
    }
}

// RestrictedCoresPerGPU: so many cores for each GPU, of those close to it, else the first ones.
std::vector<bool> cpus_for_gpus(const Node& node, const std::vector<GresPool>& pools) {
    const std::uint32_t each = node.config.restricted_cores_per_gpu;
    if (each == 0) return {};
    const std::uint32_t threads = cpus_per_core(node.config);
    const std::uint32_t all = std::max(1u, node.config.cpus / threads);
    std::vector<bool> cores(all), cpus(node.config.cpus);
    for (const GresPool& pool : pools) {
        for (std::uint32_t slot = 0; pool.name == kGpu && slot < pool.count; ++slot) {
            std::uint32_t left = each;
            const bool has_close = slot < pool.cores.size() && !pool.cores[slot].empty();
            for (std::uint32_t i = 0; left > 0 && i < (has_close ? pool.cores[slot].size() : all);
                 ++i) {
                const std::uint32_t core = has_close ? pool.cores[slot][i] : i;
                if (core >= all || cores[core] || node.cpu_reserved[core * threads]) continue;
                cores[core] = true;
                --left;
            }
        }
    }
    for (std::uint32_t cpu = 0; cpu < node.config.cpus; ++cpu)
        cpus[cpu] = cores[std::min(cpu / threads, all - 1)];
    return cpus;
}

}  // namespace

void mark_drained(std::vector<GresPool>& pools, const std::vector<DrainedGpu>& drained) {
    for (GresPool& pool : pools) {
        pool.drained.clear();
        if (pool.name != kGpu && pool.parts.empty()) continue;
        const std::size_t slots = std::max(pool.used.size(), pool.parts.size());
        for (const DrainedGpu& each : drained) {
            if (each.gpu < pool.first_index || each.gpu - pool.first_index >= slots) continue;
            pool.drained.resize(slots);
            pool.drained[each.gpu - pool.first_index] = true;
        }
    }
}

std::uint64_t count_drained(const GresPool& pool) {
    std::uint64_t gone = 0;
    for (std::size_t slot = 0; slot < pool.drained.size(); ++slot) {
        if (!pool.drained[slot]) continue;
        if (!pool.parts.empty()) {
            gone +=
                pool.parts[slot].count - std::min(pool.parts[slot].count, pool.parts[slot].used);
        } else if (!pool.used[slot]) {
            ++gone;
        }
    }
    return gone;
}

std::uint64_t count_free(const GresPool& pool) {
    return pool.count - std::min(pool.count, pool.used_count + count_drained(pool));
}

bool configure_gres(Node& node, const Settings& settings) {
    const auto written = settings.gres.find(node.config.name);
    const bool is_written = written != settings.gres.end();
    const bool is_reported = node.facts && !node.facts->gres.empty();
    if (is_reported && node.config.origin != NodeOrigin::File) node.devices = node.facts->gres;
    const std::vector<GresDevices>& described = is_reported  ? node.facts->gres
                                                : is_written ? written->second
                                                             : node.devices;
    std::vector<GresPool> pools = pools_of(node.config, described);
    keep_use(pools, node.gres);
    mark_drained(pools, node.drained_gpus);
    std::vector<bool> for_gpus = cpus_for_gpus(node, pools);
    if (pools == node.gres && for_gpus == node.cpu_for_gpus) return false;
    node.gres = std::move(pools);
    node.cpu_for_gpus = std::move(for_gpus);
    return true;
}

void set_gres(Node& node, const NodeShare& share, bool taken) {
    for (const NodeShare::Devices& devices : share.gres) {
        for (GresPool& pool : node.gres) {
            if (pool.name != devices.name || pool.type != devices.type) continue;
            for (std::size_t i = 0; i < devices.indexes.size(); ++i) {
                const std::uint32_t slot = devices.indexes[i] - pool.first_index;
                if (!devices.parts.empty()) {
                    if (slot >= pool.parts.size() || i >= devices.parts.size()) continue;
                    std::uint64_t& used = pool.parts[slot].used;
                    CHECK(taken || used >= devices.parts[i]);
                    used += taken ? devices.parts[i] : -std::uint64_t{devices.parts[i]};
                    continue;
                }
                if (slot >= pool.used.size()) continue;  // it is not described any more
                CHECK(pool.used[slot] != taken);
                pool.used[slot] = taken;
            }
            CHECK(taken || pool.used_count >= devices.count);
            pool.used_count += taken ? devices.count : -devices.count;
        }
    }
}

void add_part(NodeShare::Devices& devices, std::uint32_t index, std::uint32_t count) {
    std::vector<std::uint32_t>& indexes = devices.indexes;
    const auto at = std::lower_bound(indexes.begin(), indexes.end(), index);
    const auto part = devices.parts.begin() + (at - indexes.begin());
    if (at != indexes.end() && *at == index) {
        *part += count;
        return;
    }
    devices.parts.insert(part, count);
    indexes.insert(at, index);
}

bool is_free(const Node& node, const GresPool& pool, std::uint32_t slot) {
    if (slot >= pool.used.size() || pool.used[slot]) return false;
    if (slot < pool.drained.size() && pool.drained[slot]) return false;
    if (pool.name != kGpu) return true;
    return std::none_of(node.gres.begin(), node.gres.end(), [&](const GresPool& other) {
        return other.type == pool.type && slot < other.parts.size() && other.parts[slot].used > 0;
    });
}

std::uint64_t free_parts(const Node& node, const GresPool& pool, std::uint32_t slot) {
    if (slot < pool.drained.size() && pool.drained[slot]) return 0;
    for (const GresPool& other : node.gres) {
        if (&other == &pool || other.type != pool.type) continue;
        if (other.name == kGpu && slot < other.used.size() && other.used[slot]) return 0;
        if (slot < other.parts.size() && other.parts[slot].used > 0) return 0;
    }
    for (const GresPool& same : node.gres) {
        for (std::uint32_t other = 0; pool.one_gpu && other < same.parts.size(); ++other) {
            const bool is_other = &same != &pool || other != slot;
            if (same.name == pool.name && is_other && same.parts[other].used > 0) return 0;
        }
    }
    const GresPool::Part& part = pool.parts[slot];
    return part.count - std::min(part.count, part.used);
}

}  // namespace sluice
