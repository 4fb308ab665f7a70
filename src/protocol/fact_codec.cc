#include "protocol/fact_codec.h"

#include <type_traits>
#include <utility>

#include "model/accounted_fields.h"
#include "model/errors.h"
#include "model/field_checks.h"
#include "protocol/field_codec.h"

namespace sluice {

namespace {

template <typename Kind>
Result<Fact> decode_as(std::string_view bytes) {
    Kind value;
    TRY(field_codec::get_fields(bytes, value));
    TRY(validate_fields(value));
    return Fact(std::move(value));
}

}  // namespace

std::string encode(const Fact& fact) {
    std::string bytes;
    std::visit([&](const auto& each) { field_codec::put_fields(each, bytes); }, fact);
    return bytes;
}

Result<Fact> decode_fact(std::size_t kind, std::string_view bytes) {
    switch (kind) {
        case 0:
            return decode_as<std::variant_alternative_t<0, Fact>>(bytes);
        case 1:
            return decode_as<std::variant_alternative_t<1, Fact>>(bytes);
        case 2:
            return decode_as<std::variant_alternative_t<2, Fact>>(bytes);
        case 3:
            return decode_as<std::variant_alternative_t<3, Fact>>(bytes);
        default:
            return Error{ErrorCode::BadArgument, "a fact of an unknown kind"};
    }
}

static_assert(std::variant_size_v<Fact> == 4);

}  // namespace sluice
