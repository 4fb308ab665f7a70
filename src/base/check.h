// base/check.h
//
// CHECK says what must hold in a program without bugs. It is on in every build; user input never
// reaches one. It prints what should have held, and aborts.
#pragma once

#include <string_view>

namespace sluice {

[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               std::string_view detail = {});

}  // namespace sluice

#define CHECK(condition, ...)                                                                  \
    do {                                                                                       \
        if (!(condition)) [[unlikely]]                                                         \
            ::sluice::check_failed(#condition, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__); \
    } while (false)
