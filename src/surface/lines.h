// surface/lines.h
//
// The lines of a long listing. Neighbours are mostly alike: a cell that is made of the same values
// as the one above it is copied from there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "surface/format.h"
#include "surface/sheet.h"
#include "surface/sort.h"

namespace sluice {

class Lines {
public:
    Lines(const Format<SheetRow>& format, const Sheet& sheet);

    // Lines of one listing go to the same text, which only they change.
    void append(const SheetRow& row, std::string& out);

private:
    struct Cell {
        std::vector<ColumnId> inputs;  // the columns that it depends on and that vary
        bool depends_on_task = false;
        std::size_t start = 0, size = 0;  // of the one above, in the text, with what follows it
    };

    bool is_as_above(const Cell& cell, const SheetRow& row) const;

    const Format<SheetRow>& format_;
    std::vector<Cell> cells_;
    SheetRow above_;
};

// Keys by which some of the rows may differ.
std::vector<SortKey<SheetRow>> keys_that_matter(const std::vector<SheetRow>& rows,
                                                const Sheet& sheet,
                                                const std::vector<SortKey<SheetRow>>& keys);

}  // namespace sluice
