// model/features.h
//
// The language of --constraint and --prefer: the features that the nodes of a job must have.
//
//   a&b        all of them; a comma is an & too          a|b        any of them
//   (a|b)&c    grouping                                  a*2        at least two nodes with a
//   [a|b]      all nodes have a, or all have b           [a*2&b*1]  two nodes with a and one with b
//
// Brackets come once, and neither they nor counts may stand beside | or in parentheses. Compat:
// several counts need brackets around them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

using FeatureSet = std::vector<std::string>;    // names; a node must have all of them
using FeatureChoice = std::vector<FeatureSet>;  // any of these sets is enough; empty: no request

bool matches(const FeatureChoice& choice, const std::vector<std::string>& features);

struct FeatureExpression {
    struct Counted {
        FeatureChoice choice;
        std::uint32_t count = 1;  // nodes at least
        bool operator==(const Counted&) const = default;
    };

    // What each single node of the job must have: the filter of candidates.
    FeatureChoice every;
    // [a|b]: all nodes of the job must match the same one of these. Empty: no such request.
    std::vector<FeatureChoice> same;
    // a*2, [a*2&b*1]: this many different nodes of the job for each entry.
    std::vector<Counted> counted;

    // InvalidFeature for a text that does not parse. An empty text asks for nothing.
    static Result<FeatureExpression> parse(std::string_view text);

    // Whether a node with these features may be part of the job.
    bool matches(const std::vector<std::string>& features) const;
    // The number of nodes that all counts need together; 0 without counts.
    std::uint32_t nodes_min() const;
    // Every name in the expression, each once, in alphabetical order.
    std::vector<std::string> names() const;

    bool operator==(const FeatureExpression&) const = default;
};

}  // namespace sluice
