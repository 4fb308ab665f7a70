// model/features.h
//
// The language of --constraint and --prefer: which features must the nodes of a job have?
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
using FeatureChoice = std::vector<FeatureSet>;  // any of these sets will do; none at all: no wish

bool matches(const FeatureChoice& choice, const std::vector<std::string>& features);

struct FeatureExpression {
    struct Counted {
        FeatureChoice choice;
        std::uint32_t count = 1;  // nodes at least
        bool operator==(const Counted&) const = default;
    };

    // What each single node of the job must have, whatever else is asked of all together: the
    // filter of candidates.
    FeatureChoice every;
    // [a|b]: the nodes of the job meet one and the same of these, each of them. Empty: no such
    // wish.
    std::vector<FeatureChoice> same;
    // a*2, [a*2&b*1]: so many different nodes of the job for each entry.
    std::vector<Counted> counted;

    // InvalidFeature for what is not of the language. An empty text asks for nothing.
    static Result<FeatureExpression> parse(std::string_view text);

    // May a node with these features be part of the job?
    bool matches(const std::vector<std::string>& features) const;
    // The nodes that the counts need together; 0 without counts.
    std::uint32_t nodes_min() const;
    // Every name that is mentioned, each once, in the order of the alphabet.
    std::vector<std::string> names() const;

    bool operator==(const FeatureExpression&) const = default;
};

}  // namespace sluice
