// PartitionName lines, and which nodes they name.
#include <algorithm>

#include "config/draft.h"
#include "config/key_help.h"
#include "config/values.h"
#include "model/hostlist.h"
#include "model/partition_keys.h"

namespace sluice {

namespace {

// "n[1,3],gpu" -> "n[1,3]", "gpu"
std::vector<std::string_view> split_outside_brackets(std::string_view text) {
    std::vector<std::string_view> pieces;
    std::size_t start = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        char c = i < text.size() ? text[i] : ',';
        if (c == '[') ++depth;
        if (c == ']') --depth;
        if (c != ',' || (depth > 0 && i < text.size())) continue;
        std::string_view piece = trim(text.substr(start, i - start));
        if (!piece.empty()) pieces.push_back(piece);
        start = i + 1;
    }
    return pieces;
}

Result<void> mark_hosts(const Draft& draft, const Line& place, std::string_view key,
                        std::string_view text, std::vector<bool>& marked) {
    Result<Hostlist> hosts = Hostlist::parse(text);
    if (!hosts) return error_at(place, "{}={}: expected hosts such as n[1-4]", key, text);
    for (const std::string& name : hosts->names()) {
        std::optional<std::uint32_t> index = find_node_index(draft.config, name);
        if (!index) return error_at(place, "{}={}: no NodeName line defines '{}'", key, text, name);
        marked[*index] = true;
    }
    return {};
}

Result<void> mark_node_set(const Draft& draft, const NodeSetSpec& set, std::vector<bool>& marked) {
    if (equals_ignoring_case(set.nodes, "ALL")) {
        marked.assign(marked.size(), true);
    } else if (!set.nodes.empty()) {
        TRY(mark_hosts(draft, set.place, "Nodes", set.nodes, marked));
    }
    for (std::size_t i = 0; i < marked.size() && !set.feature.empty(); ++i) {
        const std::vector<std::string>& features = draft.config.nodes[i].features;
        if (std::find(features.begin(), features.end(), set.feature) != features.end()) {
            marked[i] = true;
        }
    }
    return {};
}

Result<void> resolve_nodes(const Draft& draft, const Line& place, PartitionConfig& partition) {
    std::vector<bool> marked(draft.config.nodes.size());
    for (std::string_view piece : split_outside_brackets(partition.nodes_text)) {
        auto set = std::find_if(draft.node_sets.begin(), draft.node_sets.end(),
                                [&](const NodeSetSpec& s) { return s.name == piece; });
        if (equals_ignoring_case(piece, "ALL")) {
            marked.assign(marked.size(), true);
        } else if (set != draft.node_sets.end()) {
            TRY(mark_node_set(draft, *set, marked));
        } else {
            TRY(mark_hosts(draft, place, "Nodes", piece, marked));
            continue;
        }
        partition.node_sets.emplace_back(piece);
    }
    partition.nodes.reserve(
        static_cast<std::size_t>(std::count(marked.begin(), marked.end(), true)));
    for (std::size_t i = 0; i < marked.size(); ++i) {
        if (marked[i]) partition.nodes.push_back(draft.config.nodes[i].name);
    }
    return {};
}

// What nodes that are not in the file need to know of the sets.
Result<void> keep_node_sets(Draft& draft) {
    for (const NodeSetSpec& set : draft.node_sets) {
        NodeSetConfig& kept = draft.config.node_sets.emplace_back();
        kept.name = set.name;
        kept.feature = set.feature;
        kept.has_all = equals_ignoring_case(set.nodes, "ALL");
        if (!kept.has_all && !set.nodes.empty())
            kept.nodes = TRY(Hostlist::parse(set.nodes)).names();
    }
    return {};
}

Result<void> check_node_sets(const Draft& draft) {
    for (std::size_t i = 0; i < draft.node_sets.size(); ++i) {
        const NodeSetSpec& set = draft.node_sets[i];
        if (find_node_index(draft.config, set.name)) {
            return error_at(set.place, "NodeSet={}: a node has this name", set.name);
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (draft.node_sets[j].name == set.name) {
                return error_at(set.place, "NodeSet={}: defined twice, first in {} line {}",
                                set.name, draft.node_sets[j].place.file,
                                draft.node_sets[j].place.number);
            }
        }
    }
    return {};
}

// One default partition; the later one counts, as in Slurm.
void complete_default(Draft& draft) {
    PartitionConfig* chosen = nullptr;
    for (std::size_t i = 0; i < draft.config.partitions.size(); ++i) {
        PartitionConfig& partition = draft.config.partitions[i];
        if (!partition.is_default) continue;
        if (chosen) {
            chosen->is_default = false;
            draft.config.warnings.push_back(
                note_at(draft.partition_places[i],
                        "Default=YES: partition '{}' replaces '{}' as the default", partition.name,
                        chosen->name));
        }
        chosen = &partition;
    }
}

// "CPU=1.0,Mem=0.25G,GRES/gpu=2.0"
bool are_weights(std::string_view text) {
    for (std::string_view entry : split(text, ',')) {
        std::size_t equals = entry.find('=');
        if (equals == 0 || equals == std::string_view::npos) return false;
        std::string_view number = trim(entry.substr(equals + 1));
        if (!number.empty() && std::string_view("KMGTPkmgtp").find(number.back()) != number.npos) {
            number.remove_suffix(1);
        }
        if (!parse_value(Kind::Real, {}, number)) return false;
    }
    return true;
}

Result<void> check_limits(const PartitionConfig& partition, const Line& line) {
    if (!partition.tres_billing_weights.empty() && !are_weights(partition.tres_billing_weights)) {
        return error_at(line, "TRESBillingWeights={}: expected weights such as CPU=1,GRES/gpu=4",
                        partition.tres_billing_weights);
    }
    if (partition.max_nodes && *partition.max_nodes < partition.min_nodes) {
        return error_at(line, "MinNodes={} is more than MaxNodes={}", partition.min_nodes,
                        *partition.max_nodes);
    }
    if (!partition.allow_accounts.empty() && !partition.deny_accounts.empty()) {
        return error_at(line, "AllowAccounts and DenyAccounts exclude each other");
    }
    if (!partition.allow_qos.empty() && !partition.deny_qos.empty()) {
        return error_at(line, "AllowQos and DenyQos exclude each other");
    }
    return {};
}

}  // namespace

std::vector<KeyRow> partition_key_rows() {
    return rows_of(partition_keys());
}

Result<void> take_partition_line(Draft& draft, const Line& line) {
    PartitionChange change;
    for (const Setting& setting : line.settings) {
        TRY(apply(change, partition_keys(), line, setting, draft.config.warnings));
    }
    PartitionConfig partition = draft.partition_default;
    change.members.apply_to(partition);  // Compat: no line ends an exclusivity of DEFAULT
    if (partition.name == "DEFAULT") {
        draft.partition_default = partition;
        draft.partition_default.name.clear();
        return {};
    }
    if (partition.name.empty() || partition.name.find_first_of(", \t") != std::string::npos) {
        return error_at(line, "PartitionName={}: expected one name", partition.name);
    }
    TRY(check_limits(partition, line));
    for (std::size_t i = 0; i < draft.config.partitions.size(); ++i) {
        if (draft.config.partitions[i].name == partition.name) {
            return error_at(line, "partition '{}' is defined twice, first in {} line {}",
                            partition.name, draft.partition_places[i].file,
                            draft.partition_places[i].number);
        }
    }
    draft.config.partitions.push_back(std::move(partition));
    draft.partition_places.push_back(place_of(line));
    return {};
}

Result<void> finish_partitions(Draft& draft) {
    TRY(check_node_sets(draft));
    TRY(keep_node_sets(draft));
    for (std::size_t i = 0; i < draft.config.partitions.size(); ++i) {
        TRY(resolve_nodes(draft, draft.partition_places[i], draft.config.partitions[i]));
    }
    complete_default(draft);
    for (std::size_t i = 0; i < draft.config.partitions.size(); ++i) {
        const PartitionConfig& partition = draft.config.partitions[i];
        if (partition.alternate.empty() || draft.config.find_partition(partition.alternate)) {
            continue;
        }
        return error_at(draft.partition_places[i], "Alternate={}: no such partition",
                        partition.alternate);
    }
    return {};
}

}  // namespace sluice
