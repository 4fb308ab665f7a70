// accounting/rows.h
//
// Values with a list of fields as the bytes of a row, and back. Each row has the version of the
// schema that it was written with.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "accounting/schema.h"
#include "model/errors.h"
#include "protocol/field_codec.h"

namespace sluice::accounting {

constexpr std::uint32_t kSchemaNumber = 1;

template <HasFields Value>
std::string to_bytes(const Value& value) {
    std::string bytes;
    field_codec::put(kSchemaNumber, static_cast<std::uint32_t>(kSchema), bytes);
    field_codec::put_fields(value, bytes);
    return bytes;
}

template <HasFields Value>
Result<Value> from_bytes(std::string_view bytes, std::string_view what) {
    Value value;
    if (const Result<void> read = field_codec::get_fields(bytes, value); !read) {
        return Error{ErrorCode::StoreFailed,
                     fmt::format("a row of the table {} of the accounting database is damaged: {}",
                                 what, to_string(read.error()))};
    }
    return value;
}

template <HasFields Value>
sql::Bytes row_bytes(const Value& value) {
    return {to_bytes(value)};
}

// As databases keep it.
inline std::int64_t number_of(std::uint64_t value) {
    return static_cast<std::int64_t>(value);
}

// The data of all rows of a query, whose first column it is.
template <HasFields Value>
Result<std::vector<Value>> query_values(sql::Database& database, std::string_view statement,
                                        const sql::Row& values, std::string_view what) {
    std::vector<Value> found;
    TRY(database.query(statement, values, [&](const sql::RowView& row) -> Result<void> {
        found.push_back(TRY(from_bytes<Value>(row.text(0), what)));
        return {};
    }));
    return found;
}

}  // namespace sluice::accounting
