// store/batch_rows.h
//
// The changes of a batch as rows of bytes, each key once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace sluice {

struct BatchRows {
    std::map<std::uint32_t, std::string> jobs;  // without those that the batch also forgets
    std::map<std::uint32_t, std::string> triggers;
    std::map<std::string, std::string> nodes, reservations;
    std::map<std::string, std::string> usage;                // empty: nothing is left of it
    std::vector<std::pair<std::size_t, std::string>> facts;  // kind, bytes
    std::string policy;
};
BatchRows rows_of(const Batch& batch);

}  // namespace sluice
