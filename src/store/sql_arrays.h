// store/sql_arrays.h
//
// Lists as parameters of a PostgreSQL statement, in the binary form of its arrays: a batch of any
// size is one statement.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/database.h"

namespace sluice {

class SqlArray {
public:
    enum class Of : std::uint32_t { Bytes = 17, Numbers = 20 };  // types by their numbers (OID)
    explicit SqlArray(Of type) : type_(type) {}

    void add(std::string_view bytes);
    void add(std::int64_t number);
    bool empty() const { return count_ == 0; }
    sql::Bytes take() const;

private:
    Of type_;
    std::uint32_t count_ = 0;
    std::string items_;
};

template <typename Items>
sql::Bytes numbers_array(const Items& items) {
    SqlArray array(SqlArray::Of::Numbers);
    for (const auto& item : items) array.add(static_cast<std::int64_t>(item));
    return array.take();
}

template <typename Items>
sql::Bytes bytes_array(const Items& items) {
    SqlArray array(SqlArray::Of::Bytes);
    for (const auto& item : items) array.add(std::string_view(item));
    return array.take();
}

}  // namespace sluice
