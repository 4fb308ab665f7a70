// model/process_mapping.h
//
// On which node of a step each task runs, as MPI libraries read it from PMI:
// "(vector,(0,2,4),(2,1,3))" are four tasks on each of the nodes 0 and 1, and then three on node 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

std::string print_process_mapping(const std::vector<std::uint32_t>& node_of_task);

// Nothing if it is no such text, or if it is not for `tasks` tasks.
std::optional<std::vector<std::uint32_t>> parse_process_mapping(std::string_view text,
                                                                std::size_t tasks);

}  // namespace sluice
