// model/mpi_kind.h
//
// The words of srun --mpi and MpiDefault, and how the tasks are served for each.
#pragma once

#include <algorithm>
#include <string_view>

namespace sluice {

struct MpiKind {
    std::string_view word;
    std::string_view server;  // "pmi2", "pmix"; empty: none of ours
};

inline constexpr MpiKind kMpiKinds[] = {
    {"none", ""}, {"openmpi", ""}, {"pmi2", "pmi2"}, {"pmix", "pmix"}, {"pmix_v4", "pmix"}};

inline const MpiKind* find_mpi_kind(std::string_view word) {
    const auto* found = std::find_if(std::begin(kMpiKinds), std::end(kMpiKinds),
                                     [&](const MpiKind& kind) { return kind.word == word; });
    return found == std::end(kMpiKinds) ? nullptr : found;
}

inline bool is_mpi_kind(std::string_view word) {
    return find_mpi_kind(word) != nullptr;
}

inline std::string_view mpi_server(std::string_view word) {
    const MpiKind* kind = find_mpi_kind(word);
    return kind ? kind->server : "";
}

}  // namespace sluice
