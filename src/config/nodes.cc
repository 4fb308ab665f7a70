// NodeName, NodeSet and DownNodes lines: ranges expanded to one NodeConfig per node.
#include <algorithm>
#include <numeric>
#include <set>

#include "config/draft.h"
#include "config/key_help.h"
#include "config/values.h"
#include "core/place/layout.h"
#include "core/place/use.h"
#include "model/devices.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

using enum Kind;
using N = NodeSpec;

constexpr std::string_view kNodeStates =
    "UNKNOWN|IDLE|CLOUD|DOWN|DRAIN|EXTERNAL|FAIL|FAILING|FUTURE";
constexpr std::uint64_t kCpusMax = 1 << 20;  // a larger node is a slip of the keyboard

// Compat: IDLE is what a node becomes, not what it is configured to be; old files say it.
void set_state(NodeSpec& spec, const Value& value) {
    spec.state = value.text == "IDLE" ? "UNKNOWN" : value.text;
}

// clang-format off
constexpr Key<NodeSpec> kNodeKeys[] = {
    {"NodeName",              Text,     "",  set<&N::names>},
    {"NodeHostname",          Text,     "",  set<&N::hostnames>},
    {"NodeAddr",              Text,     "",  set<&N::addresses>},
    {"Port",                  Text,     "",  set<&N::ports>},
    {"CPUs",                  Number,   "",  set<&N::cpus>},
    {"Procs",                 Number,   "",  set<&N::cpus>},
    {"Boards",                Number,   "",  set<&N::boards>},
    {"Sockets",               Number,   "",  set<&N::sockets>},
    {"SocketsPerBoard",       Number,   "",  set<&N::sockets_per_board>},
    {"CoresPerSocket",        Number,   "",  set<&N::cores>},
    {"ThreadsPerCore",        Number,   "",  set<&N::threads>},
    {"RealMemory",            Memory,   "",  set<&N::real_memory>},
    {"MemSpecLimit",          Memory,   "",  set<&N::mem_spec_limit>},
    {"TmpDisk",               Memory,   "",  set<&N::tmp_disk>},
    {"CoreSpecCount",         Number,   "",  set<&N::core_spec_count>},
    {"CpuSpecList",           Text,     "",  set<&N::cpu_spec_list>},
    {"Weight",                Number,   "",  set<&N::weight>},
    {"Feature",               Text,     "",  set<&N::features>},
    {"Features",              Text,     "",  set<&N::features>},
    {"Gres",                  Text,     "",  set<&N::gres>},
    {"State",                 Word,     "",  set_state,           kNodeStates},
    {"Reason",                Text,     "",  set<&N::reason>},
    {"Comment",               Text,     "",  set<&N::comment>},
    {"BcastAddr",             Text,     ""},
    {"CpuBind",               Text,     "none"},
    {"Parameters",            Text,     ""},
    {"RestrictedCoresPerGPU", Number,   "0", set<&N::restricted_cores_per_gpu>},
    {"SuspendTime",           SecondsOrNever, "INFINITE", set<&N::suspend_time>},
    {"Topology",              Text,     ""},
};

constexpr Key<NodeSetSpec> kNodeSetKeys[] = {
    {"NodeSet", Text,  "", set<&NodeSetSpec::name>},
    {"Nodes",   Hosts, "", set<&NodeSetSpec::nodes>},
    {"Feature", Text,  "", set<&NodeSetSpec::feature>},
};

constexpr Key<DownSpec> kDownKeys[] = {
    {"DownNodes", Hosts, "", set<&DownSpec::nodes>},
    {"State",     Word,  "", set<&DownSpec::state>, "DOWN|DRAIN|FAIL|FAILING|FUTURE"},
    {"Reason",    Text,  "", set<&DownSpec::reason>},
};
// clang-format on

// Sockets, cores and threads as Slurm derives them from what was said.
Result<void> derive_cpus(const NodeSpec& spec, const Line& line, NodeConfig& node,
                         std::vector<std::string>& warnings) {
    const std::pair<std::string_view, std::optional<std::uint32_t>> given[] = {
        {"CPUs", spec.cpus},
        {"Boards", spec.boards},
        {"Sockets", spec.sockets},
        {"SocketsPerBoard", spec.sockets_per_board},
        {"CoresPerSocket", spec.cores},
        {"ThreadsPerCore", spec.threads}};
    for (const auto& [name, number] : given) {
        if (number && (*number == 0 || *number > kCpusMax)) {
            return error_at(line, "{}={}: expected a number from 1 to {}", name, *number, kCpusMax);
        }
    }
    std::uint64_t boards = spec.boards.value_or(1);
    std::uint64_t cores = spec.cores.value_or(1);
    std::uint64_t threads = spec.threads.value_or(1);
    std::uint64_t sockets = 1;
    if (spec.sockets_per_board) {
        sockets = boards * *spec.sockets_per_board;
        if (spec.sockets && *spec.sockets != sockets) {
            return error_at(line, "Sockets={} contradicts Boards={} SocketsPerBoard={}",
                            *spec.sockets, boards, *spec.sockets_per_board);
        }
    } else if (spec.sockets) {
        sockets = *spec.sockets;
    } else if (spec.cpus && *spec.cpus % (cores * threads) == 0) {
        sockets = *spec.cpus / (cores * threads);
    } else {
        sockets = boards;
    }
    std::uint64_t product = sockets <= kCpusMax && cores * threads <= kCpusMax
                                ? sockets * cores * threads
                                : kCpusMax + 1;
    if (product > kCpusMax) return error_at(line, "more than {} CPUs on one node", kCpusMax);
    std::uint64_t cpus = spec.cpus.value_or(static_cast<std::uint32_t>(product));
    if (cpus != sockets && cpus != sockets * cores && cpus != product) {
        warnings.push_back(note_at(line,
                                   "CPUs={} is neither Sockets, Sockets*CoresPerSocket nor "
                                   "Sockets*CoresPerSocket*ThreadsPerCore; using CPUs={}",
                                   cpus, product));
        cpus = product;
    }
    node.cpus = static_cast<std::uint32_t>(cpus);
    node.boards = static_cast<std::uint32_t>(boards);
    node.sockets = static_cast<std::uint32_t>(sockets);
    node.cores_per_socket = static_cast<std::uint32_t>(cores);
    node.threads_per_core = static_cast<std::uint32_t>(threads);
    return {};
}

Result<void> derive_spec_cores(const NodeSpec& spec, const Line& line, NodeConfig& node) {
    if (spec.core_spec_count && !spec.cpu_spec_list.empty()) {
        return error_at(line, "CoreSpecCount and CpuSpecList exclude each other");
    }
    node.core_spec_count = spec.core_spec_count.value_or(0);
    if (!spec.cpu_spec_list.empty()) {
        auto list = parse_numbers(spec.cpu_spec_list, node.cpus);
        if (!list || *std::max_element(list->begin(), list->end()) >= node.cpus) {
            return error_at(line, "CpuSpecList={}: expected CPUs of the node such as 0-1,8",
                            spec.cpu_spec_list);
        }
        // Compat: all CPUs of a core are kept from jobs if one of them is named.
        const std::uint32_t each = cpus_per_core(node);
        std::set<std::uint32_t> cores;
        for (std::uint32_t cpu : *list) cores.insert(cpu / each);
        for (std::uint32_t core : cores) {
            for (std::uint32_t i = 0; i < each; ++i) node.cpu_spec_list.push_back(core * each + i);
        }
        node.core_spec_count = static_cast<std::uint32_t>(cores.size());
    }
    if (node.core_spec_count >= node.sockets * node.cores_per_socket && node.core_spec_count > 0) {
        return error_at(line, "CoreSpecCount={} leaves no core for jobs", node.core_spec_count);
    }
    const std::vector<bool> kept = system_cpus(node, spec.core_spec_count.value_or(0));
    for (std::uint32_t cpu = 0; cpu < kept.size(); ++cpu) {
        if (kept[cpu]) node.cpu_spec_list.push_back(cpu);
    }
    return {};
}

// "bandwidth:lustre:no_consume:4G" without that word, which is noted.
Result<std::vector<GresCount>> parse_node_gres(const NodeSpec& spec, const Line& line,
                                               std::vector<std::string>& no_consume) {
    constexpr std::string_view kNoConsume = ":no_consume";
    std::vector<GresCount> all;
    for (std::string_view item : split(spec.gres, ',')) {
        std::string text(item);
        const std::size_t at = to_lower(text).find(kNoConsume);
        if (at != std::string::npos) text.erase(at, kNoConsume.size());
        Result<std::vector<GresCount>> gres = parse_gres(text);
        if (!gres || gres->empty()) {
            return error_at(line,
                            "Gres={}: expected name:count or name:type:count, such as gpu:a40:8",
                            spec.gres);
        }
        if (gres->front().name == "gpu" && gres->front().count > kDevicesMost)
            return error_at(line, "Gres={}: more than {} GPUs", spec.gres, kDevicesMost);
        if (at != std::string::npos) no_consume.push_back(gres->front().name);
        all.push_back(gres->front());
    }
    return all;
}

void note_gres_name(Draft& draft, const std::string& name, const Line& line) {
    for (const auto& [known, place] : draft.gres_names) {
        if (known == name) return;
    }
    draft.gres_names.emplace_back(name, place_of(line));
}

// What all nodes of a line have in common.
Result<NodeConfig> common_node(Draft& draft, const NodeSpec& spec, const Line& line) {
    NodeConfig node;
    TRY(derive_cpus(spec, line, node, draft.config.warnings));
    TRY(derive_spec_cores(spec, line, node));
    node.real_memory = spec.real_memory;
    node.mem_spec_limit = spec.mem_spec_limit;
    if (node.mem_spec_limit > 0 && node.mem_spec_limit >= node.real_memory) {
        return error_at(line, "MemSpecLimit={} leaves nothing of RealMemory={}",
                        node.mem_spec_limit, node.real_memory);
    }
    node.tmp_disk = spec.tmp_disk;
    node.weight = spec.weight;
    node.restricted_cores_per_gpu = spec.restricted_cores_per_gpu;
    assign(node.features, Value{.text = spec.features});
    if (!equals_ignoring_case(spec.gres, "none") && !spec.gres.empty()) {
        node.gres = TRY(parse_node_gres(spec, line, node.gres_no_consume));
        node.gres_text = spec.gres;
        for (const GresCount& gres : node.gres) note_gres_name(draft, gres.name, line);
    }
    node.state = spec.state;
    node.reason = spec.reason;
    node.comment = spec.comment;
    node.suspend_time = spec.suspend_time;
    return node;
}

// As many names as there are nodes, or one for all, or none.
Result<std::vector<std::string>> names_beside(const Line& line, std::string_view key,
                                              const std::string& text, std::size_t count) {
    if (text.empty()) return std::vector<std::string>{};
    Result<Hostlist> list = Hostlist::parse(text);
    if (!list || list->empty()) {
        return error_at(line, "{}={}: expected a list of hosts such as n[1-4]", key, text);
    }
    if (list->size() != 1 && list->size() != count) {
        return error_at(line, "{}={}: {} names for {} nodes", key, text, list->size(), count);
    }
    return list->names();
}

Result<std::vector<std::uint32_t>> ports_beside(const Line& line, const std::string& text,
                                                std::size_t count) {
    if (text.empty()) return std::vector<std::uint32_t>{};
    auto ports = parse_numbers(text, kHostlistSizeMax);
    bool valid = ports && std::all_of(ports->begin(), ports->end(),
                                      [](std::uint32_t p) { return p > 0 && p < 65536; });
    if (!valid) {
        return error_at(line,
                        "Port={}: expected a port from 1 to 65535 or a range such as "
                        "[7001-7004]",
                        text);
    }
    if (ports->size() != 1 && ports->size() != count) {
        return error_at(line, "Port={}: {} ports for {} nodes", text, ports->size(), count);
    }
    return *std::move(ports);
}

template <typename T>
const T& of_node(const std::vector<T>& list, std::size_t i) {
    return list[list.size() == 1 ? 0 : i];
}

Result<void> add_nodes(Draft& draft, const NodeSpec& spec, const Line& line) {
    Result<Hostlist> list = Hostlist::parse(spec.names);
    if (!list || list->empty()) {
        return error_at(line, "NodeName={}: expected names such as n[1-4]", spec.names);
    }
    std::vector<NodeConfig>& nodes = draft.config.nodes;
    const std::vector<std::string>& names = list->names();
    if (nodes.size() + names.size() > kHostlistSizeMax) {
        return error_at(line, "NodeName={}: more than {} nodes", spec.names, kHostlistSizeMax);
    }
    auto hostnames = TRY(names_beside(line, "NodeHostname", spec.hostnames, names.size()));
    auto addresses = TRY(names_beside(line, "NodeAddr", spec.addresses, names.size()));
    auto ports = TRY(ports_beside(line, spec.ports, names.size()));
    NodeConfig node = TRY(common_node(draft, spec, line));
    draft.node_blocks.push_back({nodes.size(), place_of(line)});
    // Growing by exactly what each of ten thousand lines needs would move all nodes every time.
    if (nodes.size() + names.size() > nodes.capacity()) {
        nodes.reserve(std::max(nodes.size() + names.size(), 2 * nodes.capacity()));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        node.name = names[i];
        node.hostname = hostnames.empty() ? names[i] : of_node(hostnames, i);
        node.address = addresses.empty() ? node.hostname : of_node(addresses, i);
        // Zero until SlurmdPort is known: it may stand below.
        node.port = ports.empty() ? 0 : static_cast<std::uint16_t>(of_node(ports, i));
        nodes.push_back(node);
    }
    return {};
}

const NodeBlock& block_of(const Draft& draft, std::size_t node) {
    auto after = std::upper_bound(draft.node_blocks.begin(), draft.node_blocks.end(), node,
                                  [](std::size_t n, const NodeBlock& b) { return n < b.first; });
    return *(after - 1);
}

Result<void> index_nodes(Draft& draft) {
    Config& config = draft.config;
    std::vector<std::uint32_t>& order = config.nodes_by_name;
    order.resize(config.nodes.size());
    std::iota(order.begin(), order.end(), 0);
    auto by_name = [&](std::uint32_t a, std::uint32_t b) {
        int difference = config.nodes[a].name.compare(config.nodes[b].name);
        return difference != 0 ? difference < 0 : a < b;
    };
    std::sort(order.begin(), order.end(), by_name);
    auto twice = std::adjacent_find(order.begin(), order.end(), [&](auto a, auto b) {
        return config.nodes[a].name == config.nodes[b].name;
    });
    if (twice == order.end()) return {};
    const Line& first = block_of(draft, *twice).place;
    return error_at(block_of(draft, *(twice + 1)).place,
                    "node '{}' is defined twice, first in {} line {}", config.nodes[*twice].name,
                    first.file, first.number);
}

Result<void> mark_down(Draft& draft, const DownSpec& down) {
    const Hostlist hosts = TRY(Hostlist::parse(down.nodes));
    for (const std::string& name : hosts.names()) {
        std::optional<std::uint32_t> index = find_node_index(draft.config, name);
        if (!index) return error_at(down.place, "DownNodes={}: no node '{}'", down.nodes, name);
        NodeConfig& node = draft.config.nodes[*index];
        node.state = down.state;
        node.reason = down.reason;
        draft.config.down_nodes.emplace_back(name, down.reason);
    }
    return {};
}

Result<void> check_gres_types(const Draft& draft) {
    const Config& config = draft.config;
    for (const auto& [name, place] : draft.gres_names) {
        if (!config.has_flag(config.gres_types, name)) {
            return error_at(place, "Gres={}: '{}' is not in GresTypes={}", name, name,
                            config.gres_types);
        }
    }
    return {};
}

}  // namespace

std::vector<KeyRow> node_key_rows() {
    return rows_of<NodeSpec>(kNodeKeys);
}

std::vector<KeyRow> node_set_key_rows() {
    return rows_of<NodeSetSpec>(kNodeSetKeys);
}

std::vector<KeyRow> down_key_rows() {
    return rows_of<DownSpec>(kDownKeys);
}

Result<void> take_node_line(Draft& draft, const Line& line) {
    NodeSpec spec = draft.node_default;
    for (const Setting& setting : line.settings) {
        TRY(apply<NodeSpec>(spec, kNodeKeys, line, setting, draft.config.warnings));
    }
    if (spec.names == "DEFAULT") {
        draft.node_default = spec;
        draft.node_default.names.clear();
        return {};
    }
    if (equals_ignoring_case(spec.names, "ALL")) {
        return error_at(line, "NodeName={}: this name is reserved", spec.names);
    }
    return add_nodes(draft, spec, line);
}

Result<void> take_node_set_line(Draft& draft, const Line& line) {
    NodeSetSpec spec;
    for (const Setting& setting : line.settings) {
        TRY(apply<NodeSetSpec>(spec, kNodeSetKeys, line, setting, draft.config.warnings));
    }
    if (spec.name.empty() || equals_ignoring_case(spec.name, "ALL")) {
        return error_at(line, "NodeSet={}: expected a name other than ALL", spec.name);
    }
    if (spec.nodes.empty() && spec.feature.empty()) {
        return error_at(line, "NodeSet={}: expected Nodes= or Feature=", spec.name);
    }
    spec.place = place_of(line);
    draft.node_sets.push_back(std::move(spec));
    return {};
}

Result<void> take_down_line(Draft& draft, const Line& line) {
    DownSpec spec;
    for (const Setting& setting : line.settings) {
        TRY(apply<DownSpec>(spec, kDownKeys, line, setting, draft.config.warnings));
    }
    spec.place = place_of(line);
    draft.down.push_back(std::move(spec));
    return {};
}

Result<void> finish_nodes(Draft& draft) {
    for (NodeConfig& node : draft.config.nodes) {
        if (node.port == 0) node.port = draft.config.slurmd_port;
    }
    TRY(index_nodes(draft));
    for (const DownSpec& down : draft.down) TRY(mark_down(draft, down));
    return check_gres_types(draft);
}

Result<std::vector<NodeConfig>> parse_nodes(const Config& config, std::string_view text,
                                            const std::string& what) {
    Draft draft;
    draft.config.gres_types = config.gres_types;
    draft.config.slurmd_port = config.slurmd_port;
    if (text.find_first_of("\n\\") != std::string_view::npos)
        return Error{ErrorCode::ConfigInvalid, fmt::format("{}: expected one line", what)};
    TRY(for_each_line(text, what, read_nothing, [&](const Line& line) -> Result<void> {
        if (line.settings.empty() || !equals_ignoring_case(line.settings.front().key, "NodeName"))
            return error_at(line, "expected NodeName=");
        return take_node_line(draft, line);
    }));
    TRY(finish_nodes(draft));
    if (draft.config.nodes.empty())
        return Error{ErrorCode::ConfigInvalid, fmt::format("{}: expected NodeName=", what)};
    if (!draft.config.warnings.empty())
        return Error{ErrorCode::ConfigInvalid, draft.config.warnings.front()};
    for (NodeConfig& node : draft.config.nodes) node.origin = NodeOrigin::Dynamic;
    return std::move(draft.config.nodes);
}

std::optional<std::uint32_t> find_node_index(const Config& config, std::string_view name) {
    const std::vector<std::uint32_t>& order = config.nodes_by_name;
    auto found = std::lower_bound(
        order.begin(), order.end(), name,
        [&](std::uint32_t i, std::string_view n) { return config.nodes[i].name < n; });
    if (found == order.end() || config.nodes[*found].name != name) return {};
    return *found;
}

}  // namespace sluice
