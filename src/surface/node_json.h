// surface/node_json.h
//
// Nodes, partitions and sinfo's lines as JSON documents, in the shape of Slurm's data parser
// v0.0.45.
#pragma once

#include <string>
#include <vector>

#include "surface/json.h"
#include "surface/nodes.h"

namespace sluice {

// The sheets must hold all columns.
std::string nodes_json(const Sheet& nodes, const JsonMeta& meta, bool compact);
std::string partitions_json(const Sheet& partitions, const JsonMeta& meta, bool compact);
std::string sinfo_json(const NodeListing& listing, const std::vector<bool>& chosen,
                       const JsonMeta& meta, bool compact);

}  // namespace sluice
