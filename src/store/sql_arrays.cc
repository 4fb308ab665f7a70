// store/sql_arrays.cc
#include "store/sql_arrays.h"

namespace sluice {
namespace {

template <typename Number>
void put(std::string& out, Number value) {
    for (int shift = 8 * (static_cast<int>(sizeof value) - 1); shift >= 0; shift -= 8) {
        out += static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xff);
    }
}

}  // namespace

void SqlArray::add(std::string_view bytes) {
    ++count_;
    put(items_, static_cast<std::uint32_t>(bytes.size()));
    items_ += bytes;
}

void SqlArray::add(std::int64_t number) {
    ++count_;
    put(items_, std::uint32_t{sizeof number});
    put(items_, number);
}

// Dimensions, whether there are nulls, type of the items; size and first index of the dimension.
sql::Bytes SqlArray::take() const {
    std::string out;
    put(out, std::uint32_t{empty() ? 0u : 1u});
    put(out, std::uint32_t{0});
    put(out, static_cast<std::uint32_t>(type_));
    if (empty()) return {out};
    put(out, count_);
    put(out, std::uint32_t{1});
    return {out + items_};
}

}  // namespace sluice
