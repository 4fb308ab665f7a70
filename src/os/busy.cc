// os/busy.cc
#include "os/busy.h"

#include <sched.h>

#include "base/text.h"
#include "os/files.h"

namespace sluice {

bool is_busy(std::string_view loadavg, int cores) {
    const auto slash = loadavg.find('/');
    if (slash == loadavg.npos) return false;
    const auto begin = loadavg.rfind(' ', slash) + 1;  // from 0 if there is no space
    const auto running = to_number(loadavg.substr(begin, slash - begin));
    return running && static_cast<long long>(*running) > cores;
}

bool host_is_busy() {
    cpu_set_t ours;
    CPU_ZERO(&ours);
    if (sched_getaffinity(0, sizeof ours, &ours) != 0) return false;
    const Result<std::string> loadavg = read_file("/proc/loadavg");
    return loadavg && is_busy(*loadavg, CPU_COUNT(&ours));
}

}  // namespace sluice
