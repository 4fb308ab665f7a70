// core/place/select.h
//
// Selects nodes out of the candidates. Candidates come with what is free on them, in the order of
// preference (weight, then order in slurm.conf); the choice says how many tasks and GPUs each gets.
#pragma once

#include "core/place/need.h"

namespace sluice {

struct Candidate {
    NodeIndex node;
    Amounts free;
    std::uint32_t tasks = 0;  // that fit; at least 1
};

struct Chosen {
    NodeIndex node;
    std::uint32_t tasks = 0;
    std::vector<std::uint32_t> gpus;  // of each entry of Need::gpus
    Amounts take;
};
using Choice = std::vector<Chosen>;  // empty: not possible

struct SelectOptions {
    bool least_loaded = false;  // CR_LLN or the partition's LLN
    bool any_switches = false;  // --switches has waited long enough
};

// Whether more candidates cannot change the choice: the first ones that suffice are taken.
bool takes_first_that_suffice(const Need& need, const Layout& layout, const SelectOptions& options);
Choice select_nodes(const Need& need, const Layout& layout, std::vector<Candidate> candidates,
                    const SelectOptions& options);

}  // namespace sluice
