// model/stored.cc
#include "model/stored.h"

#include <unordered_map>

#include "base/check.h"
#include "model/node_refs.h"
#include "model/record_fields.h"
#include "model/validate.h"

namespace sluice {

namespace {

// Replaces the indexes of the cluster by positions in the list that is returned.
template <typename Record>
NodeNames name_nodes(Record& record, const NodeNames& names) {
    NodeNames used;
    std::unordered_map<NodeIndex, NodeIndex> positions;
    for_each_node(record, [&](NodeIndex& node) {
        CHECK(node.value < names.size());
        const NodeIndex next{static_cast<std::uint32_t>(used.size())};
        const auto [position, is_new] = positions.try_emplace(node, next);
        if (is_new) used.push_back(names[node.value]);
        node = position->second;
    });
    return used;
}

template <typename Record>
Result<void> validate_positions(const Record& record, const NodeNames& nodes) {
    bool are_valid = true;
    for_each_node(record, [&](NodeIndex node) { are_valid &= node.value < nodes.size(); });
    if (are_valid) return {};
    return invalid_value("nodes", "", "a node has no name");
}

}  // namespace

StoredJob stored_form(const Job& job, const NodeNames& names) {
    StoredJob stored{.nodes = {}, .job = job};
    stored.nodes = name_nodes(stored.job, names);
    return stored;
}

Result<void> validate(const StoredJob& stored) {
    TRY(validate_fields(stored));
    TRY(validate_state(stored.job));
    return validate_positions(stored.job, stored.nodes);
}

}  // namespace sluice
