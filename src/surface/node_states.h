// surface/node_states.h
//
// The states of sinfo -t: "idle,mixed", "mixed&drain", "~down".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/states.h"

namespace sluice {

// Alternatives, each a list of states that must all hold. Empty: every node.
class NodeStateFilter {
public:
    // An error's detail is the word that is no state.
    static Result<NodeStateFilter> parse(std::string_view text);
    bool matches(NodeBase base, std::uint32_t flags) const;
    bool empty() const { return alternatives_.empty(); }

private:
    struct Term {
        std::size_t state = 0;  // row of the table
        bool inverted = false;
    };
    std::vector<std::vector<Term>> alternatives_;
};

std::string node_state_list();  // for error messages and --helpstate

}  // namespace sluice
