#include "config/setters.h"

namespace sluice {

void put_job_default(std::string& list, std::string_view name, std::uint64_t number) {
    std::vector<std::string> entries;
    for (std::string_view entry : split(list, ',')) {
        bool other = !entry.starts_with(name) || entry.substr(name.size(), 1) != "=";
        if (!entry.empty() && other) entries.emplace_back(entry);
    }
    entries.push_back(fmt::format("{}={}", name, number));
    list = join(entries, ",");
}

}  // namespace sluice
