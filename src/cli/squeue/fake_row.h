// cli/squeue/fake_row.h
//
// For tests: the facts of one record of a listing, by column.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <variant>

#include "model/table.h"

namespace sluice {

class FakeRow {
public:
    template <typename Enum, typename Value>
    FakeRow& set(Enum column, Value value) {
        if constexpr (std::is_convertible_v<Value, std::int64_t>) {
            values[static_cast<ColumnId>(column)] = static_cast<std::int64_t>(value);
        } else {
            values[static_cast<ColumnId>(column)] = std::string(value);
        }
        return *this;
    }

    std::map<ColumnId, std::variant<std::int64_t, std::string>> values;

    std::int64_t number(auto column) const {
        auto found = values.find(static_cast<ColumnId>(column));
        return found == values.end() ? kAbsent : std::get<std::int64_t>(found->second);
    }
    std::string text(auto column) const {
        auto found = values.find(static_cast<ColumnId>(column));
        return found == values.end() ? "" : std::get<std::string>(found->second);
    }
};

}  // namespace sluice
