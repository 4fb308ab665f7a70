#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace sluice {

void check_failed(const char* condition, const char* file, int line, std::string_view detail) {
    std::fprintf(stderr, "%s:%d: CHECK failed: %s %.*s\n", file, line, condition,
                 static_cast<int>(detail.size()), detail.data());
    std::abort();
}

}  // namespace sluice
