#include "surface/lines.h"

#include <algorithm>

namespace sluice {

namespace {

// Lines of one record of an array differ in nothing but their task.
bool depends_on_task(const Needs& needs) {
    const auto ids = needs.all();
    return std::find(ids.begin(), ids.end(), static_cast<ColumnId>(JobColumn::ArrayTaskId)) !=
           ids.end();
}

}  // namespace

Lines::Lines(const Format<SheetRow>& format, const Sheet& sheet) : format_(format) {
    for (const auto& cell : format.cells) {
        Cell& added = cells_.emplace_back();
        added.depends_on_task = depends_on_task(cell.field->needs);
        for (ColumnId id : cell.field->needs.all()) {
            if (sheet.varies(id)) added.inputs.push_back(id);
        }
    }
}

bool Lines::is_as_above(const Cell& cell, const SheetRow& row) const {
    if (!above_.sheet || row.looks().expand_patterns) return false;  // those may need any column
    if (cell.depends_on_task && row.task != above_.task) return false;
    return std::all_of(cell.inputs.begin(), cell.inputs.end(),
                       [&](ColumnId id) { return row.raw(id) == above_.raw(id); });
}

void Lines::append(const SheetRow& row, std::string& out) {
    out += format_.prefix;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        Cell& cell = cells_[i];
        const std::size_t start = out.size();
        if (is_as_above(cell, row)) {
            out.append(out, cell.start, cell.size);
        } else {
            append_cell(format_.cells[i], row, out);
        }
        cell.start = start;
        cell.size = out.size() - start;
    }
    out += '\n';
    above_ = row;
}

std::vector<SortKey<SheetRow>> keys_that_matter(const std::vector<SheetRow>& rows,
                                                const Sheet& sheet,
                                                const std::vector<SortKey<SheetRow>>& keys) {
    const bool has_tasks = std::any_of(rows.begin(), rows.end(),
                                       [](const SheetRow& row) { return row.task != kAbsent; });
    std::vector<SortKey<SheetRow>> left;
    for (const SortKey<SheetRow>& key : keys) {
        const auto ids = key.field->needs.all();
        const bool varies =
            std::any_of(ids.begin(), ids.end(), [&](ColumnId id) { return sheet.varies(id); });
        if (varies || (has_tasks && depends_on_task(key.field->needs))) left.push_back(key);
    }
    return left;
}

}  // namespace sluice
