// topology.conf: the switches between the nodes, as a forest. Read where TopologyPlugin is
// topology/tree.
#include <algorithm>
#include <map>

#include "config/config.h"
#include "config/key_help.h"
#include "config/lines.h"
#include "config/values.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

using enum Kind;

struct SwitchSpec {
    std::string name, nodes, switches, link_speed;
};
using S = SwitchSpec;

// clang-format off
constexpr Key<SwitchSpec> kSwitchKeys[] = {
    {"SwitchName", Text,  "", set<&S::name>},
    {"Nodes",      Hosts, "", set<&S::nodes>},
    {"Switches",   Hosts, "", set<&S::switches>},
    {"LinkSpeed",  Text,  "", set<&S::link_speed>},  // Compat: Slurm keeps and ignores it too
};
// clang-format on

struct Draft {
    std::vector<SwitchLine> switches;
    std::vector<Line> places;
    std::map<std::string, std::size_t> by_name;
};

Result<void> take_switch_line(Draft& draft, const Line& line, std::vector<std::string>& warnings) {
    if (equals_ignoring_case(line.settings.front().key, "BlockName") ||
        equals_ignoring_case(line.settings.front().key, "BlockSizes") ||
        equals_ignoring_case(line.settings.front().key, "RingName")) {
        return error_at(line, "{}: only SwitchName lines are supported", line.settings.front().key);
    }
    SwitchSpec spec;
    for (const Setting& setting : line.settings) {
        TRY(apply<SwitchSpec>(spec, kSwitchKeys, line, setting, warnings));
    }
    if (spec.name.empty()) return error_at(line, "SwitchName is missing");
    if (spec.nodes.empty() == spec.switches.empty()) {
        return error_at(line, "SwitchName={}: expected either Nodes or Switches", spec.name);
    }
    if (!draft.by_name.emplace(spec.name, draft.switches.size()).second) {
        return error_at(line, "SwitchName={}: defined twice", spec.name);
    }
    SwitchLine added{.name = spec.name, .link_speed = spec.link_speed};
    if (!spec.nodes.empty()) added.nodes = TRY(Hostlist::parse(spec.nodes)).sorted().names();
    if (!spec.switches.empty()) {
        added.switches = TRY(Hostlist::parse(spec.switches)).sorted().names();
    }
    draft.switches.push_back(std::move(added));
    draft.places.push_back(Line{line.file, line.number, {}});
    return {};
}

// Every child exists and has one parent, and no switch is above itself.
Result<void> check_tree(const Draft& draft) {
    std::vector<std::size_t> parent(draft.switches.size(), draft.switches.size());
    for (std::size_t i = 0; i < draft.switches.size(); ++i) {
        for (const std::string& name : draft.switches[i].switches) {
            auto child = draft.by_name.find(name);
            if (child == draft.by_name.end()) {
                return error_at(draft.places[i], "Switches={}: no such switch", name);
            }
            if (parent[child->second] != draft.switches.size()) {
                return error_at(draft.places[i], "Switches={}: is below '{}' already", name,
                                draft.switches[parent[child->second]].name);
            }
            parent[child->second] = i;
        }
    }
    for (std::size_t i = 0; i < draft.switches.size(); ++i) {
        std::size_t above = parent[i], steps = 0;
        while (above != draft.switches.size() && ++steps <= draft.switches.size()) {
            above = parent[above];
        }
        if (steps > draft.switches.size()) {
            return error_at(draft.places[i], "SwitchName={}: is above itself",
                            draft.switches[i].name);
        }
    }
    return {};
}

const SwitchLine* switch_over(const Config& config, const std::string& name,
                              std::vector<std::string> SwitchLine::*below) {
    const auto over =
        std::find_if(config.switches.begin(), config.switches.end(), [&](const SwitchLine& each) {
            return std::find((each.*below).begin(), (each.*below).end(), name) !=
                   (each.*below).end();
        });
    return over == config.switches.end() ? nullptr : &*over;
}

}  // namespace

std::vector<KeyRow> topology_key_rows() {
    return rows_of<SwitchSpec>(kSwitchKeys);
}

Result<std::vector<SwitchLine>> parse_topology_conf(std::string_view text, const std::string& path,
                                                    std::vector<std::string>& warnings) {
    Draft draft;
    TRY(for_each_line(text, path, read_nothing, [&](const Line& line) -> Result<void> {
        return take_switch_line(draft, line, warnings);
    }));
    TRY(check_tree(draft));
    return std::move(draft.switches);
}

Result<void> check_topology(const Config& config, const std::string& path) {
    std::map<std::string_view, std::string_view> switch_of;
    for (const SwitchLine& each : config.switches) {
        for (const std::string& node : each.nodes) {
            if (!config.find_node(node)) {
                return Error{
                    ErrorCode::ConfigInvalid,
                    fmt::format("{}: Nodes={}: no such node in slurm.conf", base_name(path), node)};
            }
            auto [known, first] = switch_of.emplace(node, each.name);
            if (!first) {
                return Error{ErrorCode::ConfigInvalid,
                             fmt::format("{}: Nodes={}: is below both '{}' and '{}'",
                                         base_name(path), node, known->second, each.name)};
            }
        }
    }
    return {};
}

std::vector<std::string> nodes_below(const Config& config, const SwitchLine& top) {
    std::vector<std::string> nodes = top.nodes;
    for (const std::string& name : top.switches) {
        for (const SwitchLine& each : config.switches) {
            if (each.name != name) continue;
            for (std::string& node : nodes_below(config, each)) nodes.push_back(std::move(node));
        }
    }
    return nodes;
}

std::vector<std::string> switches_above(const Config& config, const std::string& node) {
    // A switch may be called as a node is.
    const SwitchLine* lowest = switch_over(config, node, &SwitchLine::nodes);
    std::vector<std::string> above;
    for (const SwitchLine* each = lowest; each;
         each = switch_over(config, each->name, &SwitchLine::switches)) {
        above.insert(above.begin(), each->name);
    }
    return above;
}

std::uint32_t switch_level(const Config& config, const SwitchLine& top) {
    std::uint32_t level = 0;
    for (const SwitchLine& each : config.switches) {
        bool below =
            std::find(top.switches.begin(), top.switches.end(), each.name) != top.switches.end();
        if (below) level = std::max(level, switch_level(config, each) + 1);
    }
    return level;
}

}  // namespace sluice
