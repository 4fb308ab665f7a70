// Lines are what each row alone would be printed as, however alike neighbours are.
#include "surface/lines.h"

#include <gtest/gtest.h>

#include <random>

#include "surface/jobs.h"

namespace sluice {
namespace {

constexpr std::size_t kRows = 40;

// Every column may be read as a number or as a text; some have one value for all rows.
Table random_table(std::mt19937& random) {
    constexpr std::int64_t kNumbers[] = {kAbsent, 0, 1, 5};
    Table table;
    table.set_rows(kRows);
    for (const char* text : {"", "a", "b", "12-14"}) table.add_string(text);
    std::vector<bool> seen(512);
    for (const JobField& field : job_fields()) {
        for (ColumnId id : field.needs.all()) {
            if (seen[id]) continue;
            seen[id] = true;
            Table::Column& column = table.add_column(id);
            const bool one = random() % 3 == 0;
            for (std::size_t row = 0; row < (one ? 1 : kRows); ++row) {
                const bool again = row > 0 && random() % 4 != 0;
                column.texts.push_back(again ? column.texts.back() : random() % 4);
                column.numbers.push_back(kNumbers[column.texts.back()]);
            }
        }
    }
    return table;
}

Format<SheetRow> all_fields() {
    Format<SheetRow> format{.prefix = "-> "};
    for (const JobField& field : job_fields()) format.cells.push_back({&field, 7, true, "|"});
    return format;
}

TEST(Lines, AreAsTheRowsAlone) {
    const Format<SheetRow> format = all_fields();
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        const Table table = random_table(random);
        Looks looks{.cluster = "c", .expand_patterns = seed % 4 == 0};
        const Sheet sheet(table, looks);
        Lines lines(format, sheet);
        std::string together, alone;
        for (std::uint32_t row = 0; row < kRows; ++row) {
            for (std::int64_t task : {kAbsent, std::int64_t{3}, std::int64_t{4}}) {
                const SheetRow line{&sheet, row, task};
                lines.append(line, together);
                append_row(format, line, alone);
            }
        }
        ASSERT_EQ(together, alone) << "seed " << seed;
    }
}

TEST(Lines, SortKeysThatAreEqualInAllRowsDoNotMatter) {
    Table table;
    table.set_rows(2);
    table.add_string("main");
    table.add_column(static_cast<ColumnId>(JobColumn::Partition)).texts = {0};
    table.add_column(static_cast<ColumnId>(JobColumn::Priority)).numbers = {1, 2};
    const Looks looks;
    const Sheet sheet(table, looks);
    std::string unknown;
    const auto keys = parse_sort("P,p,i", job_fields(), unknown);
    std::vector<SheetRow> rows{{&sheet, 0}, {&sheet, 1}};
    ASSERT_EQ(keys_that_matter(rows, sheet, keys).size(), 1u);
    EXPECT_EQ(keys_that_matter(rows, sheet, keys)[0].field->letter, 'p');
    rows.push_back({&sheet, 1, 7});  // tasks have ids of their own
    EXPECT_EQ(keys_that_matter(rows, sheet, keys).size(), 2u);
}

}  // namespace
}  // namespace sluice
