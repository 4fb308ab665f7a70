// protocol/fact_codec.h
//
// Facts for accounting (model/accounted.h) as bytes, in the outbox and on the way to slurmdbd.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/accounted.h"

namespace sluice {

std::string encode(const Fact& fact);
// `kind`: Fact::index().
Result<Fact> decode_fact(std::size_t kind, std::string_view bytes);

}  // namespace sluice
