// model/hostlist.h
//
// Names of hosts as users write them: "n[01-03,7],gpu[1-2]x[0-1],login". Expansion keeps order and
// duplicates; compact printing is byte for byte Slurm's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/sizes.h"

namespace sluice {

constexpr std::size_t kHostlistSizeMax = sizes::kListedNodeCount;  // more names are an error

class Hostlist {
public:
    Hostlist() = default;
    explicit Hostlist(std::vector<std::string> names) : names_(std::move(names)) {}

    static Result<Hostlist> parse(std::string_view text);

    const std::vector<std::string>& names() const& { return names_; }
    std::vector<std::string> names() && { return std::move(names_); }
    std::size_t size() const { return names_.size(); }
    bool empty() const { return names_.empty(); }
    bool contains(std::string_view name) const;

    // As `scontrol show hostlist`: neighbours folded, in the order given.
    std::string to_string() const;
    // As `scontrol show hostlistsorted`: by prefix, then by number; like there, duplicates stay.
    Hostlist sorted() const;

    Hostlist united(const Hostlist& other) const;   // sorted, unique
    Hostlist without(const Hostlist& other) const;  // keeps the order of this one

    bool operator==(const Hostlist&) const = default;

private:
    std::vector<std::string> names_;
};

// n2 before n10, and all of n1..n9 before n01: the order in which Slurm lists hosts.
bool host_less(std::string_view a, std::string_view b);

}  // namespace sluice
