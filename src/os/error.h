// os/error.h
//
// What the kernel refused, as an Error. The code is left to the caller: this room does not know
// what a failed open() means for a job.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/result.h"

namespace sluice {

inline Error os_error(std::string_view what, int number = errno) {
    return Error{ErrorCode{}, fmt::format("{}: {}", what, std::strerror(number))};
}

// The same failure, with the meaning that it has for the caller.
template <typename T>
Result<T> as(ErrorCode code, Result<T> result) {
    if (result) return result;
    return Error{code, result.error().detail};
}

}  // namespace sluice
