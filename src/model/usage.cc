// model/usage.cc
#include "model/usage.h"

#include <algorithm>

#include "model/sizes.h"

namespace sluice {

void add_usage(Usage& total, const Usage& part) {
    constexpr Microseconds kMost{sizes::kCpuMicroseconds};
    total.cpu_user = std::min(total.cpu_user + part.cpu_user, kMost);
    total.cpu_system = std::min(total.cpu_system + part.cpu_system, kMost);
    const bool is_first = total.rss_max_node.empty();
    if (!is_first && part.rss_max_kb <= total.rss_max_kb) return;
    total.rss_max_kb = part.rss_max_kb;
    total.rss_max_node = part.rss_max_node;
}

}  // namespace sluice
