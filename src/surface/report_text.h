// surface/report_text.h
//
// Reports of sacct and sreport, whose columns are made at run time: a heading and dashes over
// columns, values that are too long cut and marked with '+'; or cells with a delimiter between
// them, for scripts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "surface/report.h"

namespace sluice {

// One word of a format: "name", "name%20" or, aligned to the left, "name%-20".
struct ReportWord {
    std::string_view name;
    std::optional<std::uint32_t> width;
    bool left = false;
};
// An error's detail says which word has a width that is no number from 1 to 10000.
Result<std::vector<ReportWord>> split_report_format(std::string_view text);

struct ReportHead {
    std::string header;
    std::uint32_t width = 0;
    bool left = false;
};

class ReportText {
public:
    explicit ReportText(std::vector<ReportHead> heads, Bars bars = Bars::None,
                        std::string delimiter = "|")
        : heads_(std::move(heads)), bars_(bars), delimiter_(std::move(delimiter)) {}

    void add_header();  // with dashes below it, unless there are bars
    // append(i, out) adds the text of column i to `out`.
    template <typename Append>
    void add_line(Append append) {
        for (std::size_t i = 0; i < heads_.size(); ++i) {
            const std::size_t start = out_.size();
            append(i, out_);
            finish_cell(i, start, true);
        }
        out_ += '\n';
    }
    std::string take() { return std::move(out_); }

private:
    // Brings what was added since `start` to the width of the column.
    void finish_cell(std::size_t column, std::size_t start, bool is_value);

    std::vector<ReportHead> heads_;
    Bars bars_;
    std::string delimiter_;
    std::string out_;
};

}  // namespace sluice
